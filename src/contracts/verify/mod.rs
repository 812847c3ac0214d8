//! The verifying stage: what must be there for each effect class, what fits together, and what may not be left open.
//! Turns a declaration into a [`Contract`]; nothing else makes one.

mod rules;

use super::contract::{Contract, WriteParts, body_of};
use super::finding::{FindingCode, Findings};
use super::model::{EffectClass, Retry, RetryClass};
use super::resolve::Declaration;
use super::yaml::Document;
use crate::domain::{Digest, Millis};

pub(super) use rules::{check_path, each_expr, rules};

/// What a contract needs, whatever it does.
pub(super) fn required(of: &Declaration, present: &serde_json::Value, findings: &mut Findings) {
    let has = |name: &str| present.get(name).is_some();
    let fields = [
        ("tool", "verb_object in snake_case"),
        ("version", "major.minor"),
        ("title", "one line for people"),
        ("description", "when to call, when not to, what ends it"),
        ("owner", "who answers for it"),
        ("service", "which service is called, with which permission"),
        ("data_class", "how sensitive its data is"),
        ("effect", "what it does to the world"),
        ("input", "the schema of its arguments"),
        ("output", "the schema of its answers"),
        ("adapter", "how the service is called"),
    ];
    for (name, why) in fields {
        if !has(name) {
            findings.add(
                FindingCode::MissingField,
                "",
                format!("`{name}` is missing: {why}"),
                format!("add `{name}`"),
            );
        }
    }
    if has("adapter") && present["adapter"].get("http").is_none() && of.http.is_none() {
        findings.add(FindingCode::MissingField, "/adapter", "no adapter is declared", "add `http`");
    }
    let bounds = [
        ("timeout", FindingCode::MissingTimeout, "how long one call may take"),
        ("limits", FindingCode::MissingLimits, "how many, how often, how large"),
    ];
    for (name, code, why) in bounds {
        if !has(name) {
            findings.add(code, "", format!("`{name}` is missing: {why}"), format!("add `{name}`"));
        }
    }
    match of.effect.as_ref().map(|effect| effect.class) {
        Some(EffectClass::Write) => write(of, present, findings),
        Some(EffectClass::Read) => read(present, findings),
        Some(EffectClass::Draft) => draft(of, findings),
        None => {}
    }
}

fn write(of: &Declaration, present: &serde_json::Value, findings: &mut Findings) {
    let parts = [
        ("target", FindingCode::MissingTarget, "which record is written, and at which version"),
        ("preview", FindingCode::MissingPreview, "how the approver sees the exact effect"),
        ("approval", FindingCode::MissingApproval, "how long a decision and an approval are good"),
        ("idempotency", FindingCode::MissingKey, "how the key travels, so that one intent has one effect"),
        (
            "recovery",
            FindingCode::MissingRecovery,
            "how an unknown outcome is settled (`tier: none`: by the operator)",
        ),
        ("receipt", FindingCode::MissingReceipt, "how an answer proves the effect"),
        ("errors", FindingCode::MissingErrors, "which answers mean failure, and with which effect"),
        ("actor", FindingCode::MissingActor, "the service must not see only a service account"),
        ("compensation", FindingCode::MissingCompensation, "how it is undone, or `none` with a reason"),
    ];
    for (name, code, why) in parts {
        if present.get(name).is_none() {
            let remedy = format!("add `{name}`");
            findings.add(code, "", format!("a write without `{name}`: {why}"), remedy);
        }
    }
    if present.get("errors").is_some_and(|errors| errors.as_array().is_some_and(Vec::is_empty)) {
        let message = "the error table is empty, so every error would be ambiguous";
        findings.add(FindingCode::MissingErrors, "/errors", message, "declare the answers of the service");
    }
    if let Some(actor) = &of.actor {
        let headers = [
            ("operation", &actor.operation),
            ("run", &actor.run),
            ("requester", &actor.requester),
            ("on_behalf_of", &actor.on_behalf_of),
        ];
        for (name, header) in headers {
            if header.is_none() && present["actor"].get(name).is_none() {
                let message = format!("no header tells the service the {name}");
                findings.add(FindingCode::MissingActor, "/actor", message, format!("add `{name}`"));
            }
        }
    }
}

fn read(present: &serde_json::Value, findings: &mut Findings) {
    let names = [
        "target",
        "preview",
        "approval",
        "commit",
        "idempotency",
        "recovery",
        "receipt",
        "compensation",
        "readback",
        "draft",
        "cancel",
    ];
    for name in names {
        if present.get(name).is_some() {
            let message = format!("a read has no `{name}`");
            let remedy = "remove it, or set `effect.class: write`";
            findings.add(FindingCode::WrongClass, format!("/{name}"), message, remedy);
        }
    }
}

fn draft(of: &Declaration, findings: &mut Findings) {
    if of.draft_ttl.is_none() {
        let message = "a draft needs a ttl: an abandoned one must end by itself";
        findings.add(FindingCode::DraftWithoutTtl, "", message, "add `draft: { ttl: 24h }`");
    }
    let message = "drafts are not executed yet";
    findings.add(FindingCode::NotExecutable, "/effect/class", message, "use `read` or `write`");
}

/// Without `retry`, nothing is ever sent again.
const NEVER: Retry = Retry {
    class: RetryClass::Never,
    max_attempts: 1,
    budget: Millis(0),
    initial: Millis::secs(1),
    max: Millis::secs(60),
    jitter: true,
};

/// Puts the parts together. Gives nothing if a needed part is not there, which `required` or `resolve` has reported.
pub(super) fn assemble(of: Declaration, document: &Document, findings: &mut Findings) -> Option<Contract> {
    let body = body_of(document, findings)?;
    let effect = of.effect?;
    let write = match effect.class {
        EffectClass::Read => None,
        EffectClass::Draft => return None,
        EffectClass::Write => Some(WriteParts {
            target: of.target?,
            preview: of.preview?,
            approval: of.approval?,
            commit: of.commit,
            idempotency: of.idempotency?,
            recovery: of.recovery?,
            receipt: of.receipt?,
            cancel: of.cancel,
            compensation: of.compensation?,
            readback: of.readback,
        }),
    };
    Some(Contract {
        fingerprint: Digest::of(&body),
        body,
        tool: of.tool?,
        version: of.version?,
        title: of.title?,
        description: of.description?,
        owner: of.owner?,
        service: of.service?,
        data_class: of.data_class?,
        review_by: of.review_by,
        lifecycle: of.lifecycle,
        effect,
        input: of.input?,
        output: of.output?,
        limits: of.limits?,
        timeout: of.timeout?,
        retry: of.retry.unwrap_or(NEVER),
        errors: of.errors,
        redact: of.redact,
        safe_fields: of.safe_fields,
        actor: of.actor.unwrap_or_default(),
        http: of.http?,
        write,
    })
}

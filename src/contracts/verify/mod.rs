//! The verifying stage: what must be there for each effect class, what fits together, and what may not be left open.
//! Turns a declaration into a [`Contract`]; nothing else makes one.

mod rules;
mod shown;

use super::contract::{Contract, WriteParts, body_of};
use super::finding::{FindingCode, Findings};
use super::model::{ApprovalSpec, Compensation, EffectClass, Retry, RetryClass};
use super::resolve::Declaration;
use super::yaml::Document;
use crate::domain::{Digest, Millis};

pub(super) use rules::rules;
pub(super) use shown::{seen, shown};

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
        Some(EffectClass::Write) => {
            let parts = WRITE.iter().chain(WRITE_ONLY);
            operation(of, present, parts, "write", findings);
            absent(present, &["draft"], "write", "set `effect.class: draft`", findings);
        }
        Some(EffectClass::Read) => read(present, findings),
        Some(EffectClass::Draft) => draft(of, present, findings),
        None => {}
    }
}

/// A part that must be there: its name, the finding where it is not, and why.
type Part = (&'static str, FindingCode, &'static str);

/// What everything needs that has an effect.
const WRITE: &[Part] = &[
    ("target", FindingCode::MissingTarget, "which record is written, and at which version"),
    ("preview", FindingCode::MissingPreview, "how the approver sees the exact effect"),
    ("idempotency", FindingCode::MissingKey, "how the key travels, so that one intent has one effect"),
    (
        "recovery",
        FindingCode::MissingRecovery,
        "how an unknown outcome is settled (`tier: none`: by the operator)",
    ),
    ("receipt", FindingCode::MissingReceipt, "how an answer proves the effect"),
    ("errors", FindingCode::MissingErrors, "which answers mean failure, and with which effect"),
    ("actor", FindingCode::MissingActor, "the service must not see only a service account"),
];

/// What a draft does without: nobody decides about it, and it ends by itself.
const WRITE_ONLY: &[Part] = &[
    ("approval", FindingCode::MissingApproval, "how long a decision and an approval are good"),
    ("compensation", FindingCode::MissingCompensation, "how it is undone, or `none` with a reason"),
];

fn operation<'a>(
    of: &Declaration,
    present: &serde_json::Value,
    parts: impl Iterator<Item = &'a Part>,
    class: &str,
    findings: &mut Findings,
) {
    for (name, code, why) in parts {
        if present.get(name).is_none() {
            let remedy = format!("add `{name}`");
            findings.add(*code, "", format!("a {class} without `{name}`: {why}"), remedy);
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
    absent(present, &names, "read", "remove it, or set `effect.class: write`", findings);
}

fn absent(present: &serde_json::Value, names: &[&str], class: &str, remedy: &str, findings: &mut Findings) {
    for name in names.iter().filter(|name| present.get(name).is_some()) {
        let message = format!("a {class} has no `{name}`");
        findings.add(FindingCode::WrongClass, format!("/{name}"), message, remedy);
    }
}

fn draft(of: &Declaration, present: &serde_json::Value, findings: &mut Findings) {
    operation(of, present, WRITE.iter(), "draft", findings);
    if present.get("draft").is_none() {
        let message = "a draft needs a ttl: an abandoned one must end by itself";
        let remedy = "add `draft: { ttl: 24h, expires_at: /expires_at }`";
        findings.add(FindingCode::DraftWithoutTtl, "", message, remedy);
    }
    let names = ["approval", "commit", "compensation"];
    absent(
        present,
        &names,
        "draft",
        "remove it: nobody decides about a draft, and it ends by itself",
        findings,
    );
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
        EffectClass::Draft | EffectClass::Write => Some(WriteParts {
            target: of.target?,
            preview: of.preview?,
            approval: match &of.draft {
                // Nobody decides; what still waits for its target when it would have expired is not wanted any more.
                Some(draft) => ApprovalSpec { decide_within: draft.ttl, execute_within: draft.ttl },
                None => of.approval?,
            },
            commit: of.commit,
            idempotency: of.idempotency?,
            recovery: of.recovery?,
            receipt: of.receipt?,
            cancel: of.cancel,
            compensation: match &of.draft {
                Some(_) => Compensation::None("a draft ends by itself".to_owned()),
                None => of.compensation?,
            },
            draft: of.draft,
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

//! The resolving stage: a raw document becomes typed parts, each on its own. Reports what cannot be read and every
//! unknown key; what must be there, and what fits together, is the next stage's business (`verify`).

mod effect;
mod errors;
mod http;
mod recovery;
mod write;

use serde_json::Value;

use super::finding::{FindingCode, Findings, child};
use super::model::{
    ActorHeaders, ApprovalSpec, Cancel, Commit, Compensation, DraftSpec, EffectClass, EffectSpec, ErrorEntry,
    HttpSpec, Idempotency, Lifecycle, Limits, PreviewSpec, Readback, ReceiptSpec, Recovery, Redact, Retry,
    Service, TargetSpec,
};
use super::read::Fields;
use super::schema::Schema;
use super::units::{self, NotThis, Version};
use crate::domain::Millis;

/// Names that templates see where only the arguments are known.
pub(super) const NAMES_WITH: &[&str] = &["args"];
/// … where the state before is known.
pub(super) const NAMES_PREVIEW: &[&str] = &["args", "preview.before"];
/// … in the sentence that says what happens.
pub(super) const NAMES_EFFECT: &[&str] = &["args", "preview.before", "preview.id"];
/// … in the request of a read.
pub(super) const NAMES_READ: &[&str] = &["args", "run", "requester", "on_behalf_of"];
/// … in the request of a write.
pub(super) const NAMES_WRITE: &[&str] = &[
    "args",
    "preview.before",
    "preview.id",
    "target.type",
    "target.id",
    "target.scope",
    "target.version",
    "operation",
    "run",
    "key",
    "requester",
    "on_behalf_of",
];
/// … in the status request.
pub(super) const NAMES_STATUS: &[&str] = &["key", "operation", "run", "args"];
/// … after a success.
pub(super) const NAMES_AFTER: &[&str] = &["args", "preview.before", "result"];
/// … after a success, of which the state before is not kept.
pub(super) const NAMES_RESULT: &[&str] = &["args", "result"];
/// … in a condition over an answer.
pub(super) const NAMES_ANSWER: &[&str] = &["status", "body"];

/// What a file declares, part by part. `None` means absent, or not readable and already reported.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) tool: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) service: Option<Service>,
    pub(super) data_class: Option<String>,
    pub(super) review_by: Option<String>,
    pub(super) lifecycle: Lifecycle,
    pub(super) effect: Option<EffectSpec>,
    pub(super) draft: Option<DraftSpec>,
    pub(super) input: Option<Schema>,
    pub(super) output: Option<Schema>,
    pub(super) target: Option<TargetSpec>,
    pub(super) preview: Option<PreviewSpec>,
    pub(super) approval: Option<ApprovalSpec>,
    pub(super) commit: Commit,
    pub(super) idempotency: Option<Idempotency>,
    pub(super) recovery: Option<Recovery>,
    pub(super) receipt: Option<ReceiptSpec>,
    pub(super) retry: Option<Retry>,
    pub(super) timeout: Option<Millis>,
    pub(super) cancel: Cancel,
    pub(super) limits: Option<Limits>,
    pub(super) compensation: Option<Compensation>,
    pub(super) errors: Vec<ErrorEntry>,
    pub(super) actor: Option<ActorHeaders>,
    pub(super) redact: Redact,
    pub(super) safe_fields: Vec<String>,
    pub(super) readback: Option<Readback>,
    pub(super) http: Option<HttpSpec>,
}

fn date(text: &str) -> Result<String, NotThis> {
    let wanted = NotThis("a date such as `2027-06-30`");
    text.parse::<jiff::civil::Date>()
        .map(|date| date.to_string())
        .ok()
        .filter(|date| date == text)
        .ok_or(wanted)
}

fn name(text: &str) -> Result<String, NotThis> {
    if units::is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(NotThis("a snake_case name of at most 64 letters"))
    }
}

fn schema(fields: &mut Fields<'_>, name: &'static str, findings: &mut Findings) -> Option<Schema> {
    let source = fields.get(name)?;
    Schema::compile(source, &fields.at(name), findings)
}

fn service(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Service> {
    let mut inner = fields.object("service", findings)?;
    let name = inner.parsed("name", findings, name);
    inner.need("name", FindingCode::MissingField, "which service is called", findings);
    let scope = inner.text("scope", findings);
    let at = inner.at("target");
    let target = inner.get("target").and_then(|value| {
        let percent = value.as_f64().filter(|percent| (0.0..=100.0).contains(percent));
        if percent.is_none() {
            findings.add(
                FindingCode::BadValue,
                at,
                "the target is a percentage",
                "write a number from 0 to 100",
            );
        }
        percent
    });
    inner.done(findings);
    Some(Service { name: name?, scope, target })
}

fn lifecycle(fields: &mut Fields<'_>, findings: &mut Findings) -> Lifecycle {
    let Some(mut inner) = fields.object("lifecycle", findings) else { return Lifecycle::Active };
    let states = [("active", 0), ("deprecated", 1), ("retired", 2)];
    let state = inner.one_of("state", &states, findings);
    inner.need("state", FindingCode::MissingField, "active, deprecated or retired", findings);
    let until = inner.parsed("until", findings, date);
    let successor = inner.parsed("successor", findings, str::parse);
    if state == Some(1) {
        inner.need("until", FindingCode::MissingField, "how long it may still be used", findings);
    }
    inner.done(findings);
    match state {
        Some(1) => Lifecycle::Deprecated { until, successor },
        Some(2) => Lifecycle::Retired { successor },
        _ => Lifecycle::Active,
    }
}

/// The shape of the examples; what they hold is checked against the schemas later.
fn examples(fields: &mut Fields<'_>, findings: &mut Findings) {
    let at = fields.at("examples");
    for (i, item) in fields.items("examples", findings).iter().enumerate() {
        let mut inner = Fields::open(item, &child(&at, &i.to_string()), findings);
        let _ = (inner.get("args"), inner.get("expect"), inner.text("title", findings));
        inner.need("args", FindingCode::MissingField, "an example shows arguments", findings);
        inner.done(findings);
    }
}

/// Reads everything that the format knows.
pub(super) fn resolve(document: &Value, findings: &mut Findings) -> Declaration {
    let mut fields = Fields::open(document, "", findings);
    let f = &mut fields;
    let effect = effect::effect(f, findings);
    let class = effect.as_ref().map(|effect| effect.class);
    let mut declaration = Declaration {
        tool: f.parsed("tool", findings, name),
        version: f.parsed("version", findings, str::parse),
        title: f.text("title", findings),
        description: f.text("description", findings),
        owner: f.text("owner", findings),
        service: service(f, findings),
        data_class: f.parsed("data_class", findings, name),
        review_by: f.parsed("review_by", findings, date),
        lifecycle: lifecycle(f, findings),
        effect,
        draft: effect::draft(f, findings),
        input: schema(f, "input", findings),
        output: schema(f, "output", findings),
        target: write::target(f, findings),
        preview: write::preview(f, findings),
        approval: write::approval(f, findings),
        commit: write::commit(f, findings),
        idempotency: write::idempotency(f, findings),
        recovery: recovery::recovery(f, findings),
        receipt: recovery::receipt(f, findings),
        retry: effect::retry(f, findings),
        timeout: f.parsed("timeout", findings, units::duration),
        cancel: effect::cancel(f, findings),
        limits: effect::limits(f, findings),
        compensation: write::compensation(f, findings),
        errors: errors::errors(f, findings),
        actor: http::actor(f, findings),
        redact: effect::redact(f, findings),
        safe_fields: Vec::new(),
        readback: write::readback(f, findings),
        http: None,
    };
    if let Some(mut log) = f.object("log", findings) {
        declaration.safe_fields = log.texts("safe_fields", findings);
        log.done(findings);
    }
    if let Some(mut adapter) = f.object("adapter", findings) {
        declaration.http = http::adapter(&mut adapter, class, findings);
        adapter.done(findings);
    }
    examples(f, findings);
    fields.done(findings);
    declaration
}

/// The class of the document, for the names that its request may use.
fn names_of(class: Option<EffectClass>) -> &'static [&'static str] {
    match class {
        Some(EffectClass::Read) => NAMES_READ,
        Some(EffectClass::Write | EffectClass::Draft) | None => NAMES_WRITE,
    }
}

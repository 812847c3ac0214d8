//! Effect, draft, retry, cancel, limits, redaction: the parts that describe how a tool behaves.

use super::super::finding::{FindingCode, Findings, suggestion};
use super::super::model::{
    Cancel, DraftSpec, EffectClass, EffectSpec, Limits, Redact, RedactAs, Retry, RetryClass, Reversible,
};
use super::super::read::Fields;
use super::super::units::{self, Pointer, Rate};
use crate::domain::Millis;

/// More attempts than this is a loop, not a retry.
const MAX_ATTEMPTS: u32 = 20;
/// More calls at once than any service of one company takes from one daemon.
const MAX_CONCURRENCY: u32 = 10_000;
/// One call that changes more targets than this is a batch, which is a workflow.
const MAX_TARGETS: u32 = 1_000_000;
/// Who can be shown less than everything.
const AUDIENCES: &[&str] = &["agent", "approver", "operator", "auditor", "log"];

pub(super) fn effect(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<EffectSpec> {
    let mut inner = fields.object("effect", findings)?;
    let classes = [("read", EffectClass::Read), ("draft", EffectClass::Draft), ("write", EffectClass::Write)];
    let class = inner.one_of("class", &classes, findings);
    inner.need("class", FindingCode::MissingField, "read, draft or write", findings);
    let undo = [("no", Reversible::No), ("compensate", Reversible::Compensate), ("yes", Reversible::Yes)];
    // A draft is undone by letting it expire.
    let by_itself = if class == Some(EffectClass::Draft) { Reversible::Yes } else { Reversible::No };
    let effect = EffectSpec {
        class: EffectClass::Read,
        direct: inner.texts("direct", findings),
        indirect: inner.texts("indirect", findings),
        visible_to: inner.texts("visible_to", findings),
        max_targets: inner.count("max_targets", 1..=MAX_TARGETS, findings).unwrap_or(1),
        reversible: inner.one_of("reversible", &undo, findings).unwrap_or(by_itself),
        residual: inner.texts("residual", findings),
    };
    if matches!(class, Some(EffectClass::Write | EffectClass::Draft)) {
        inner.need("direct", FindingCode::MissingField, "who looks at it must see what is changed", findings);
    }
    if class == Some(EffectClass::Write) {
        inner.need("reversible", FindingCode::MissingField, "no, compensate or yes", findings);
    }
    inner.done(findings);
    class.map(|class| EffectSpec { class, ..effect })
}

pub(super) fn draft(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<DraftSpec> {
    let mut inner = fields.object("draft", findings)?;
    let ttl = inner.parsed("ttl", findings, units::duration);
    let expires_at = inner.parsed("expires_at", findings, str::parse::<Pointer>);
    inner.need("ttl", FindingCode::DraftWithoutTtl, "an abandoned draft must end by itself", findings);
    inner.need("expires_at", FindingCode::MissingField, "where the answer says when it ends", findings);
    inner.done(findings);
    Some(DraftSpec { ttl: ttl?, expires_at: expires_at? })
}

pub(super) fn retry(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Retry> {
    let mut inner = fields.object("retry", findings)?;
    let classes = [
        ("never", RetryClass::Never),
        ("safe_read", RetryClass::SafeRead),
        ("idempotent", RetryClass::Idempotent),
    ];
    let class = inner.one_of("class", &classes, findings);
    inner.need("class", FindingCode::MissingField, "never, safe_read or idempotent", findings);
    let max_attempts = inner.count("max_attempts", 1..=MAX_ATTEMPTS, findings);
    let budget = inner.parsed("budget", findings, units::duration);
    let (mut initial, mut max, mut jitter) = (None, None, None);
    if let Some(mut backoff) = inner.object("backoff", findings) {
        initial = backoff.parsed("initial", findings, units::duration);
        max = backoff.parsed("max", findings, units::duration);
        jitter = backoff.one_of("jitter", &[("full", true), ("none", false)], findings);
        backoff.done(findings);
    }
    if class.is_some_and(|class| class != RetryClass::Never) {
        inner.need("max_attempts", FindingCode::MissingField, "a retry needs an end", findings);
        inner.need("budget", FindingCode::MissingField, "a retry needs an end in time", findings);
    }
    inner.done(findings);
    let class = class?;
    Some(Retry {
        class,
        max_attempts: if class == RetryClass::Never { 1 } else { max_attempts.unwrap_or(1) },
        budget: budget.unwrap_or(Millis(0)),
        initial: initial.unwrap_or(Millis::secs(1)),
        max: max.unwrap_or(Millis::secs(60)),
        jitter: jitter.unwrap_or(true),
    })
}

pub(super) fn cancel(fields: &mut Fields<'_>, findings: &mut Findings) -> Cancel {
    let Some(mut inner) = fields.object("cancel", findings) else { return Cancel::BeforeStart };
    let modes = [
        ("before_start", Some(Cancel::BeforeStart)),
        ("cannot_interrupt", Some(Cancel::CannotInterrupt)),
        ("endpoint", None),
    ];
    let mode = inner.one_of("mode", &modes, findings);
    inner.need("mode", FindingCode::MissingField, "before_start, endpoint or cannot_interrupt", findings);
    if mode == Some(None) {
        let message = "a cancel endpoint is not executed yet";
        findings.add(FindingCode::NotExecutable, inner.at("mode"), message, "use `cannot_interrupt`");
    }
    inner.done(findings);
    mode.flatten().unwrap_or(Cancel::CannotInterrupt)
}

pub(super) fn limits(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Limits> {
    let mut inner = fields.object("limits", findings)?;
    let concurrency = inner.count("concurrency", 1..=MAX_CONCURRENCY, findings);
    let rate: Option<Rate> = inner.parsed("rate", findings, units::rate);
    let max_input = inner.parsed("max_input", findings, units::size);
    let max_output = inner.parsed("max_output", findings, units::size);
    for name in ["concurrency", "max_input", "max_output"] {
        inner.need(name, FindingCode::MissingLimits, "every tool has a bound", findings);
    }
    inner.done(findings);
    Some(Limits { concurrency: concurrency?, rate, max_input: max_input?, max_output: max_output? })
}

pub(super) fn redact(fields: &mut Fields<'_>, findings: &mut Findings) -> Redact {
    let mut out = Redact::default();
    let at = fields.at("redact");
    for (audience, members) in fields.entries("redact", findings) {
        let place = super::super::finding::child(&at, audience);
        if audience == "never_store" {
            for (i, item) in members.as_array().into_iter().flatten().enumerate() {
                let place = super::super::finding::child(&place, &i.to_string());
                out.never_store.extend(pointer(item.as_str().unwrap_or("-"), &place, findings));
            }
            continue;
        }
        if !AUDIENCES.contains(&audience) {
            let message = format!("unknown audience `{audience}`");
            findings.add(FindingCode::UnknownKey, place, message, suggestion(audience, AUDIENCES));
            continue;
        }
        let mut rules = Vec::new();
        for (text, how) in members.as_object().into_iter().flatten() {
            let place = super::super::finding::child(&place, text);
            let how = match how.as_str() {
                Some("drop") => Some(RedactAs::Drop),
                Some("mask") => Some(RedactAs::Mask),
                _ => {
                    let message = "a member is redacted as `drop` or `mask`";
                    findings.add(FindingCode::BadValue, &place, message, "write `drop` or `mask`");
                    None
                }
            };
            rules.extend(pointer(text, &place, findings).zip(how));
        }
        out.audiences.insert(audience.to_owned(), rules);
    }
    out
}

fn pointer(text: &str, at: &str, findings: &mut Findings) -> Option<Pointer> {
    match text.parse::<Pointer>() {
        Ok(pointer) => Some(pointer),
        Err(wanted) => {
            findings.add(FindingCode::BadValue, at, format!("this is not {}", wanted.0), "write `/member`");
            None
        }
    }
}

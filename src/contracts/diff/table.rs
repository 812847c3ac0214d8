//! What a change of each key means, outside of the schemas. The longest matching line counts.

use serde_json::Value;

use super::ChangeKind::{self, Major, Minor};
use crate::contracts::units;

/// How a key is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// Any change is this much.
    Always(ChangeKind),
    /// More is minor, less is major.
    NotLess,
    /// Less is minor, more is major.
    NotMore,
}

const RULES: &[(&str, Rule, &str)] = &[
    ("/tool", Rule::Always(Major), "another tool"),
    ("/title", Rule::Always(Minor), "words for people"),
    ("/description", Rule::Always(Minor), "words for people and models"),
    ("/owner", Rule::Always(Minor), "who answers for it"),
    ("/review_by", Rule::Always(Minor), "when it is looked at again"),
    ("/examples", Rule::Always(Minor), "shown, never sent"),
    ("/log", Rule::Always(Minor), "what logs may show"),
    ("/lifecycle", Rule::Always(Minor), "where it is in its life"),
    ("/service", Rule::Always(Major), "the permission: another service or scope"),
    ("/service/target", Rule::Always(Minor), "the availability that is aimed at"),
    ("/data_class", Rule::Always(Major), "the permission: how sensitive its data is"),
    ("/effect", Rule::Always(Major), "the effect on the world"),
    ("/effect/max_targets", Rule::NotMore, "the effect: how many targets one call may change"),
    ("/draft", Rule::Always(Major), "how long a draft lives is a promise"),
    ("/target", Rule::Always(Major), "the effect: which record is written, and how its version is held"),
    ("/preview", Rule::Always(Major), "what the approver is shown"),
    ("/preview/effect_text", Rule::Always(Minor), "words for the approver"),
    ("/approval", Rule::Always(Minor), "how long a decision and an approval are good"),
    ("/commit", Rule::Always(Major), "who starts the effect"),
    ("/idempotency", Rule::Always(Major), "the meaning of the key"),
    ("/idempotency/key_window", Rule::NotLess, "the key: how long the service remembers it"),
    ("/receipt", Rule::Always(Major), "what proves the effect"),
    ("/recovery", Rule::Always(Major), "how an unknown outcome is settled"),
    ("/recovery/settle", Rule::NotLess, "retry: since when \"not found\" is evidence"),
    ("/recovery/confirmations", Rule::NotLess, "retry: how much evidence is enough"),
    ("/recovery/confirm_interval", Rule::NotLess, "retry: how much evidence is enough"),
    ("/retry", Rule::Always(Minor), "how patient a retry is"),
    ("/retry/class", Rule::Always(Major), "the meaning of a retry"),
    ("/timeout", Rule::Always(Minor), "how long one attempt may take"),
    ("/cancel", Rule::Always(Major), "whether it can be stopped"),
    ("/limits", Rule::Always(Minor), "how many, how often, how large"),
    ("/limits/max_input", Rule::NotLess, "arguments that were taken would be refused"),
    ("/compensation", Rule::Always(Major), "the effect: how it is undone"),
    ("/compensation/deadline", Rule::Always(Minor), "how long undoing may take"),
    ("/compensation/owner", Rule::Always(Minor), "who is told when undoing fails"),
    ("/compensation/drill_every", Rule::Always(Minor), "how often undoing is rehearsed"),
    ("/compensation/drilled_on", Rule::Always(Minor), "when undoing was rehearsed"),
    ("/actor", Rule::Always(Major), "whom the service sees"),
    ("/redact", Rule::Always(Minor), "what people are shown"),
    ("/redact/agent", Rule::Always(Major), "what callers are shown"),
    ("/redact/never_store", Rule::Always(Major), "what is kept"),
    ("/readback", Rule::Always(Minor), "a look at the result"),
    ("/adapter", Rule::Always(Major), "the effect: what is sent, and where to"),
];

/// How a key is judged, and what it is about.
pub(super) fn rule_of(pointer: &str) -> (Rule, &'static str) {
    let below = |prefix: &str| {
        pointer.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    RULES
        .iter()
        .filter(|(prefix, ..)| below(prefix))
        .max_by_key(|(prefix, ..)| prefix.len())
        .map_or((Rule::Always(Major), "not known to be compatible"), |(_, rule, why)| (*rule, why))
}

/// A number, a duration or a size, to be compared with another of its kind.
pub(super) fn measure(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => units::duration(text).map(|time| time.0).or_else(|_| units::size(text)).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

//! Journal entries as they are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{is_false, json_of};
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::journal::{Entry, Fact, Subject};
use crate::domain::operation::{Actor, Event, Wait};
use crate::domain::{Digest, Time};

/// What an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectView {
    /// An operation.
    Operation(OperationId),
    /// A run.
    Run(RunId),
    /// The daemon itself.
    System,
    /// A token of a principal.
    Token(TokenId),
}

impl From<Subject> for SubjectView {
    fn from(subject: Subject) -> SubjectView {
        match subject {
            Subject::Operation(id) => SubjectView::Operation(id),
            Subject::Run(id) => SubjectView::Run(id),
            Subject::System => SubjectView::System,
            Subject::Token(id) => SubjectView::Token(id),
        }
    }
}

/// With which eyes an entry is looked at.
#[derive(Clone, Copy)]
pub struct Eyes<'a> {
    /// Whether the reader may see another operation.
    pub sees: &'a dyn Fn(OperationId) -> bool,
    /// What the reader may see of a receipt of an operation.
    pub redact: &'a dyn Fn(OperationId, Value) -> Value,
    /// Whether the receipts of the parts of a partial effect are shown: a redaction names places of the whole answer.
    pub parts: bool,
}

/// One journal entry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EventView {
    /// Its place in the journal: the cursor of event lists and the id of the event stream.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Who.
    pub by: Actor,
    /// About what.
    pub subject: SubjectView,
    /// Its place among the entries of its subject, from 1. Zero for the daemon itself.
    pub number: u32,
    /// What happened, as a name.
    pub name: String,
    /// What happened; left out when it was erased, or when it says nothing more than its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Its content was erased; the chain still holds.
    #[serde(default, skip_serializing_if = "is_false")]
    pub erased: bool,
    /// The digest of the entry, which the next one carries.
    pub digest: Digest,
}

impl EventView {
    /// What a reader is shown of an entry and its decoded fact; none when it was erased.
    #[must_use]
    pub fn of(entry: &Entry, fact: Option<&Fact>, eyes: Eyes<'_>) -> EventView {
        EventView {
            seq: entry.seq,
            at: entry.at,
            by: entry.by.clone(),
            subject: entry.subject.into(),
            number: entry.number,
            name: entry.name.clone(),
            data: fact.and_then(|fact| data(entry, fact, eyes)),
            erased: entry.is_erased(),
            digest: entry.digest(),
        }
    }
}

fn data(entry: &Entry, fact: &Fact, eyes: Eyes<'_>) -> Option<Value> {
    let value = match fact {
        // Another write is named only to who may see it.
        Fact::Operation(Event::Deferred { wait: Wait::TargetBusy(blocker), until })
            if !(eyes.sees)(*blocker) =>
        {
            return Some(serde_json::json!({ "wait": "target_busy", "until": until }));
        }
        Fact::Operation(event) => content(serde_json::to_value(event).ok()?),
        Fact::RunOpened(run) => serde_json::to_value(run).ok()?,
        Fact::RunEnded(end) => serde_json::json!({ "end": end }),
        Fact::CatalogLoaded { .. }
        | Fact::ConfigurationLoaded { .. }
        | Fact::PolicyLoaded { .. }
        | Fact::Paused(_)
        | Fact::Resumed { .. }
        | Fact::Imported { .. }
        | Fact::RestoreAccepted { .. } => content(serde_json::to_value(fact).ok()?),
        // The digest of a secret is nobody's business.
        Fact::TokenCreated { token, .. } => serde_json::to_value(token).ok()?,
        Fact::TokenRevoked { .. } => return None,
        Fact::RunTokenIssued(token) => serde_json::json!({ "count": token.count }),
    };
    let mut value = if value.is_null() { return None } else { value };
    if let Subject::Operation(id) = entry.subject {
        receipts(&mut value, &|receipt| (eyes.redact)(id, receipt));
        if let Some(parts) = value.get_mut("effects").and_then(Value::as_array_mut) {
            for part in parts.iter_mut().filter_map(Value::as_object_mut) {
                show_part(part, eyes.parts);
            }
        }
    }
    Some(value)
}

fn show_part(part: &mut serde_json::Map<String, Value>, shown: bool) {
    match part.get_mut("receipt") {
        Some(receipt) if shown => {
            if let Some(text) = receipt.as_str() {
                *receipt = json_of(text);
            }
        }
        Some(_) => drop(part.remove("receipt")),
        None => {}
    }
}

/// Receipts are stored as text: of an outcome, of a late answer.
fn receipts(value: &mut Value, redact: &dyn Fn(Value) -> Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut().filter(|(name, _)| *name != "effects") {
                match member.as_str() {
                    Some(text) if name == "receipt" || name == "succeeded" => *member = redact(json_of(text)),
                    Some(_) => {}
                    None => receipts(member, redact),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| receipts(element, redact)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What stands behind the name of a variant: the name is the entry's own.
fn content(value: Value) -> Value {
    match value {
        Value::Object(map) if map.len() == 1 => {
            map.into_iter().next().map_or(Value::Null, |(_, inner)| inner)
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::operation::Effect;
    use crate::domain::operation::evidence::{Evidence, NamedEffect};
    use crate::domain::{Code, Millis};

    /// What is shown of a fact to whom a receipt is shown as `redacted`.
    fn shown(event: Event, parts: bool) -> Value {
        let id = OperationId::from_u128(1);
        let entry = Entry {
            seq: 1,
            at: Time::from_millis(0).plus(Millis(1)),
            by: Actor::daemon(),
            subject: Subject::Operation(id),
            number: 1,
            name: "x".to_owned(),
            commitment: Digest::ZERO,
            before: Digest::ZERO,
            salt: [0; 16],
            payload: vec![1],
        };
        let (sees, redact) = (|_| true, |_, _| json!("redacted"));
        let eyes = Eyes { sees: &sees, redact: &redact, parts };
        EventView::of(&entry, Some(&Fact::Operation(event)), eyes).data.unwrap()
    }

    #[test]
    fn receipts_are_redacted_wherever_an_event_carries_them() {
        use crate::domain::operation::StatusSummary;
        let secret = || r#"{"secret":1}"#.to_owned();
        let whole =
            Event::Succeeded { receipt: Some(secret()), new_version: None, evidence: Evidence::Answer };
        assert_eq!(shown(whole, false)["receipt"], "redacted");
        let late = Event::LateAnswer { answer: StatusSummary::Succeeded(secret()), effect: None };
        assert!(!shown(late, false).to_string().contains("secret"));
        let part = NamedEffect { name: "a".to_owned(), state: Effect::Applied, receipt: Some(secret()) };
        let failed = || Event::Failed {
            code: Code::PartialEffect,
            detail: None,
            effect: Effect::Partial,
            effects: vec![part.clone()],
            current_version: None,
            evidence: Evidence::Answer,
        };
        assert!(shown(failed(), false)["effects"][0].get("receipt").is_none());
        assert_eq!(shown(failed(), true)["effects"][0]["receipt"], json!({"secret": 1}));
    }
}

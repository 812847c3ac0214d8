//! Journal entries as they are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{is_false, json_of};
use crate::domain::ids::{OperationId, RunId};
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
}

impl From<Subject> for SubjectView {
    fn from(subject: Subject) -> SubjectView {
        match subject {
            Subject::Operation(id) => SubjectView::Operation(id),
            Subject::Run(id) => SubjectView::Run(id),
            Subject::System => SubjectView::System,
        }
    }
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
    pub fn of(entry: &Entry, fact: Option<&Fact>, sees: &dyn Fn(OperationId) -> bool) -> EventView {
        EventView {
            seq: entry.seq,
            at: entry.at,
            by: entry.by.clone(),
            subject: entry.subject.into(),
            number: entry.number,
            name: entry.name.clone(),
            data: fact.and_then(|fact| data(fact, sees)),
            erased: entry.is_erased(),
            digest: entry.digest(),
        }
    }
}

fn data(fact: &Fact, sees: &dyn Fn(OperationId) -> bool) -> Option<Value> {
    let value = match fact {
        // Another write is named only to who may see it.
        Fact::Operation(Event::Deferred { wait: Wait::TargetBusy(blocker), until }) if !sees(*blocker) => {
            return Some(serde_json::json!({ "wait": "target_busy", "until": until }));
        }
        Fact::Operation(event) => content(serde_json::to_value(event).ok()?),
        Fact::RunOpened(run) => serde_json::to_value(run).ok()?,
        Fact::RunEnded(end) => serde_json::json!({ "end": end }),
        Fact::CatalogLoaded { .. }
        | Fact::ConfigurationLoaded { .. }
        | Fact::Imported { .. }
        | Fact::RestoreAccepted { .. } => content(serde_json::to_value(fact).ok()?),
    };
    let mut value = if value.is_null() { return None } else { value };
    // Receipts are stored as text.
    if let Some(receipt) = value.get_mut("receipt")
        && let Some(text) = receipt.as_str()
    {
        *receipt = json_of(text);
    }
    Some(value)
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

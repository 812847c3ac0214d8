//! What a table judges: the facts of one write, from a stored proposal, from the API, or from a case.

use serde_json::Value;

use crate::domain::Time;
use crate::domain::operation::{Actor, Body, Change, Proposal, Target, WriteClass};

/// The facts of one write.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    /// What it does to the world.
    pub class: WriteClass,
    /// The tool's name.
    pub tool: String,
    /// `major.minor`, or the major alone.
    pub version: String,
    /// The tenant.
    pub tenant: String,
    /// Who asks.
    pub requester: Actor,
    /// The person who owns the requester.
    pub owner: Option<String>,
    /// For whom.
    pub on_behalf_of: Option<String>,
    /// What is written.
    pub target: Target,
    /// The canonical arguments.
    pub args: Value,
    /// Pointers of those that somebody merely says.
    pub claims: Vec<String>,
    /// Before → after, by field.
    pub changes: Vec<Changed>,
    /// Environment, recipients, affected count, …
    pub consequences: Value,
    /// The run.
    pub run: String,
    /// Why, in the requester's words.
    pub purpose: String,
    /// When it is judged.
    pub now: Time,
}

/// One changed field; null where there is nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Changed {
    /// JSON pointer.
    pub field: String,
    /// Before.
    pub before: Value,
    /// After.
    pub after: Value,
}

/// Canonical JSON of the daemon's own making; what is not is nothing that a condition can read.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

impl From<&Change> for Changed {
    fn from(change: &Change) -> Changed {
        let value = |text: &Option<String>| text.as_deref().map_or(Value::Null, parsed);
        Changed { field: change.field.clone(), before: value(&change.before), after: value(&change.after) }
    }
}

impl Given {
    /// The facts that are stored with a proposal.
    #[must_use]
    pub fn of(proposal: &Proposal, body: &Body, now: Time) -> Given {
        Given {
            class: proposal.rules.class,
            tool: proposal.tool.clone(),
            version: proposal.version.clone(),
            tenant: proposal.tenant.clone(),
            requester: proposal.requester.clone(),
            owner: proposal.owner.clone(),
            on_behalf_of: proposal.on_behalf_of.clone(),
            target: proposal.target.clone(),
            args: parsed(&body.arguments),
            claims: body.claims.clone(),
            changes: body.changes.iter().map(Changed::from).collect(),
            consequences: parsed(&body.consequences),
            run: proposal.run.to_string(),
            purpose: body.purpose.clone(),
            now,
        }
    }
}

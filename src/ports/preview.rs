//! What a proposal is made from, and what a contract makes of it.

use serde_json::Value;

use crate::domain::Time;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::{Change, Target};
use crate::domain::request::RenderedRequest;

/// A read that a preview needs.
#[derive(Clone, PartialEq, Debug)]
pub struct PreviewRead {
    /// The read tool.
    pub tool: String,
    /// Its major version.
    pub major: u32,
    /// Its arguments.
    pub arguments: Value,
}

/// What a preview tool answered besides the states before and after.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Quote {
    /// The arguments with what was filled in; none where nothing was. They are admitted again.
    pub arguments: Option<Value>,
    /// Until when the answer holds.
    pub expires: Option<Time>,
    /// Its id at the service.
    pub id: Option<String>,
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// Canonical arguments, defaults filled in.
    pub arguments: &'a Value,
    /// What the preview answered.
    pub before: &'a Value,
    /// The operation.
    pub operation: OperationId,
    /// The run.
    pub run: RunId,
    /// Who asks.
    pub requester: &'a str,
    /// For whom.
    pub on_behalf_of: Option<&'a str>,
    /// The idempotency key.
    pub key: &'a str,
}

/// What a contract makes of a proposal.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// What is written.
    pub target: Target,
    /// The effect in one sentence.
    pub effect_text: String,
    /// Before → after.
    pub changes: Vec<Change>,
    /// Environment, recipients, affected count, …
    pub consequences: Value,
    /// Exactly what will be sent.
    pub request: RenderedRequest,
}

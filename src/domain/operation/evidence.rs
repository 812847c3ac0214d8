//! What is known about the outside and where it came from. Stored: add at the end, never reorder.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use crate::domain::ids::OperationId;

/// Where a proof came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The answer to the attempt.
    Answer,
    /// The status protocol, by key.
    Status,
    /// An answer that came after the deadline.
    LateAnswer,
    /// A named operator, with a note.
    Operator,
    /// The daemon's own proof: not a byte left this machine.
    NothingSent,
}

impl Evidence {
    /// As written in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Evidence::Answer => "answer",
            Evidence::Status => "status",
            Evidence::LateAnswer => "late_answer",
            Evidence::Operator => "operator",
            Evidence::NothingSent => "nothing_sent",
        }
    }
}

/// How an outcome was lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// No answer before the deadline.
    Deadline,
    /// The connection ended before a whole answer.
    ConnectionLost(String),
    /// An answer that the contract does not declare, or that cannot be read.
    Undeclared(String),
    /// A success whose body does not fit the output contract, or names another operation.
    OutputInvalid(String),
    /// A conflict, precondition or not-found answer on a later attempt: an earlier one may have landed.
    EarlierAttempt(String),
    /// The daemon was started again while it was executing.
    Restarted,
}

impl Loss {
    /// How the words of a success that proves nothing begin.
    pub const UNPROVEN: &str = "the answer does not prove it";
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Loss::Deadline => f.write_str("no answer before the deadline"),
            Loss::ConnectionLost(what) => write!(f, "connection lost: {what}"),
            Loss::Undeclared(what) => write!(f, "undeclared answer: {what}"),
            Loss::OutputInvalid(what) => write!(f, "{}: {what}", Loss::UNPROVEN),
            Loss::EarlierAttempt(what) => write!(f, "an earlier attempt may have landed: {what}"),
            Loss::Restarted => f.write_str("the daemon was restarted while it was executing"),
        }
    }
}

/// What an independent read saw after a success.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readback {
    /// What was expected.
    Agrees,
    /// Something else at these places (JSON pointers). Somebody has to look at it.
    Differs(Vec<String>),
    /// It could not be read; that says nothing about the write.
    Unavailable(String),
}

/// What a status answer said, in short.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusSummary {
    /// It happened; the receipt.
    Succeeded(String),
    /// It failed for good, with the code.
    Failed(String),
    /// Still working on it.
    InProgress,
    /// It knows no such key.
    NotFound,
    /// It knows no such key, long enough and often enough that the contract calls it proof.
    NotFoundProven,
    /// It could not be asked, or its answer decides nothing.
    Inconclusive(String),
}

impl std::fmt::Display for StatusSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StatusSummary::Succeeded(_) => f.write_str("it happened"),
            StatusSummary::Failed(code) => write!(f, "it failed: {code}"),
            StatusSummary::InProgress => f.write_str("still in progress"),
            StatusSummary::NotFound => f.write_str("no such key (not yet proof)"),
            StatusSummary::NotFoundProven => f.write_str("no such key, settled and confirmed"),
            StatusSummary::Inconclusive(what) => write!(f, "not decisive: {what}"),
        }
    }
}

/// Why an approved operation waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Another write on the target is open.
    TargetBusy(OperationId),
    /// Between attempts.
    Backoff,
    /// As many attempts run as may.
    Limit,
    /// Its tool, adapter or tenant is paused, or writes are held after an import.
    Paused(String),
    /// The target's version could not be read.
    VersionUnavailable,
    /// This budget has no room for it.
    Budget(String),
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wait::TargetBusy(blocker) => write!(f, "target busy with {blocker}"),
            Wait::Backoff => f.write_str("backing off before the next attempt"),
            Wait::Limit => f.write_str("waiting for a free place"),
            Wait::Paused(what) => write!(f, "paused: {what}"),
            Wait::VersionUnavailable => f.write_str("waiting for the target's version to be read"),
            Wait::Budget(budget) => write!(f, "the budget {budget} has no room for it now"),
        }
    }
}

/// One part of a partial effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedEffect {
    /// Which.
    pub name: String,
    /// What became of it.
    pub state: Effect,
    /// Its receipt (canonical JSON text).
    pub receipt: Option<String>,
}

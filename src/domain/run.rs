//! A run: one activity of one agent. Here: open runs, in which a client makes calls and proposals one by one.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::Time;
use super::ids::RunId;
use super::operation::Actor;
use super::trace::TraceId;

/// One run. Stored: the order of members is part of the record format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The tenant, from the credential.
    pub tenant: String,
    /// Who opened it.
    pub opener: Actor,
    /// For whom.
    pub on_behalf_of: Option<String>,
    /// Why, in the opener's words. A claim.
    pub purpose: String,
    /// The write tools it may propose, as `name.vMAJOR`. Reads need no entry.
    pub tools: Vec<String>,
    /// When it was opened.
    pub opened: Time,
    /// Nothing starts after this.
    pub deadline: Option<Time>,
    /// Its trace.
    pub trace: TraceId,
    /// The contracts that it sees: the digest of the list of their fingerprints.
    pub contracts: Digest,
    /// How it ended.
    pub ended: Option<(Time, RunEnd)>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Its opener or an operator cancelled it.
    Cancelled,
}

impl Run {
    /// Whether calls, proposals and first attempts may start.
    #[must_use]
    pub fn is_open(&self, now: Time) -> bool {
        self.ended.is_none() && self.deadline.is_none_or(|deadline| now < deadline)
    }
}

//! The policy table, as the engine asks it.

use crate::domain::operation::{Body, MatchedRule, Proposal, Requirement};
use crate::domain::{Digest, Millis, Time};

/// Judges proposals. Pure: the same facts and the same time give the same ruling.
pub trait Policy: Send + Sync {
    /// The digest of the table in force.
    fn version(&self) -> Digest;
    /// Its canonical body, for the store.
    fn body(&self) -> &[u8];
    /// What the table says about a proposal, on the facts that are stored with it. Who has to approve, the policy and
    /// the digest of the proposal are not read: they follow from the answer.
    fn judge(&self, proposal: &Proposal, body: &Body, now: Time) -> Ruling;
}

/// What the table says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ruling {
    /// The table.
    pub version: Digest,
    /// Who has to approve.
    pub requirement: Requirement,
    /// A rule forbids it, or none allows it.
    pub refused: Option<Refused>,
    /// Bound of the time to decide.
    pub decide_within: Option<Millis>,
    /// Bound of the time from the approval to the execution.
    pub execute_within: Option<Millis>,
    /// The rules that matched.
    pub matched: Vec<MatchedRule>,
}

/// Why a write may not be proposed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The rule.
    pub rule: String,
    /// In the words of the table; told to the requester.
    pub reason: String,
}

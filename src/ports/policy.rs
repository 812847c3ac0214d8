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
    /// The same ruling, and what each rule had to do with it.
    fn explain(&self, proposal: &Proposal, body: &Body, now: Time) -> Explained;
}

/// A ruling with its reasons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained {
    /// What [`Policy::judge`] says.
    pub ruling: Ruling,
    /// All rules, as they stand in the table.
    pub rules: Vec<RuleSaid>,
}

/// What one rule has to do with a proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleSaid {
    /// Its name.
    pub rule: String,
    /// What it says where it matches.
    pub says: String,
    /// The tenant that it is for; all where none.
    pub tenant: Option<String>,
    /// Its condition.
    pub condition: Option<String>,
    /// Whether it matches.
    pub fit: Fit,
}

/// Whether a rule matches, and why not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It does.
    Matched,
    /// Its condition cannot be evaluated, which counts as the strictest thing that it can say.
    MatchedByError,
    /// A matcher wants something else.
    Missed {
        /// `class`, `tool`, `tenant`, `requester` or `environment`.
        matcher: &'static str,
        /// What it wants.
        wanted: String,
        /// What there is.
        found: Option<String>,
    },
    /// Its condition does not hold.
    ConditionFalse,
    /// Its condition cannot be evaluated, and it would have allowed: it does not match.
    ConditionUndecided,
}

impl Fit {
    /// Whether it counts, and whether by an error only.
    #[must_use]
    pub fn matched(&self) -> Option<bool> {
        match self {
            Fit::Matched => Some(false),
            Fit::MatchedByError => Some(true),
            Fit::Missed { .. } | Fit::ConditionFalse | Fit::ConditionUndecided => None,
        }
    }
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

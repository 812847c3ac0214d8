//! What the policy table said about a write, and who is still waited for.

use serde::{Deserialize, Serialize};

use crate::domain::Digest;
use crate::domain::operation::{Needed, Operation};
use crate::domain::principal::Assurance;

/// The policy of one operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyView {
    /// SHA-256 of the canonical table that judged the proposal.
    pub version: Digest,
    /// Its rules that matched; all of them count.
    pub matched: Vec<MatchedView>,
    /// Whose approval is asked for: all of these.
    pub needed: Vec<NeededView>,
    /// Whose approval is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<NeededView>,
    /// How surely approvers must be known.
    pub assurance: Assurance,
    /// Names and persons who cannot approve it, by a rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// An approval needs a note.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reason_required: bool,
    /// Each attempt needs approvals of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_attempt: bool,
    /// The table in force asks for more than the proposal's own did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tightened: bool,
    /// The rule that forbids it since it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied_by: Option<String>,
}

/// One rule that matched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchedView {
    /// Its name.
    pub rule: String,
    /// `deny`, `allow`, or `approve: …`.
    pub says: String,
    /// Its condition could not be evaluated, which counts as a match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_error: bool,
}

/// So many distinct persons.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NeededView {
    /// Of this group; of all approvers when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How many.
    pub count: u32,
}

impl From<&Needed> for NeededView {
    fn from(needed: &Needed) -> NeededView {
        NeededView { group: needed.group.clone(), count: needed.count }
    }
}

impl PolicyView {
    pub(super) fn of(operation: &Operation) -> PolicyView {
        let (proposal, requirement) = (operation.proposal.as_ref(), operation.requirement());
        let matched = proposal.matched.iter().map(|matched| MatchedView {
            rule: matched.rule.clone(),
            says: matched.says.clone(),
            by_error: matched.by_error,
        });
        PolicyView {
            version: proposal.policy,
            matched: matched.collect(),
            needed: requirement.needed.iter().map(NeededView::from).collect(),
            missing: requirement.missing(operation.decisions.iter()).iter().map(NeededView::from).collect(),
            assurance: requirement.assurance,
            excluded: requirement.exclude.clone(),
            reason_required: requirement.reason_required,
            each_attempt: !requirement.survive_transient,
            tightened: operation.tightened.is_some(),
            denied_by: requirement.denied.clone(),
        }
    }
}

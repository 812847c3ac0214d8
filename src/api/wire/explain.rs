//! What the policy table in force says about a write, rule by rule.

use serde::{Deserialize, Serialize};

use super::{NeededView, PolicyView, TargetView, is_false};
use crate::domain::ids::OperationId;
use crate::domain::operation::{Compared, Operation, Proposal};
use crate::domain::principal::Assurance;
use crate::domain::{Digest, Millis, Time};
use crate::ports::{Explained, Fit, RuleSaid};

/// The answer of `/v1/policy/explain`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExplainView {
    /// The operation; left out for a write that is not proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// Nothing was stored, and nothing but the reads of its preview was sent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
    /// The tool, `name.vMAJOR`.
    pub tool: String,
    /// What is written.
    pub target: TargetView,
    /// The effect in one sentence.
    pub effect_text: String,
    /// When the table was asked.
    pub at: Time,
    /// The table in force.
    pub version: Digest,
    /// Its rules, but for those of other tenants.
    pub rules: Vec<RuleView>,
    /// What they say together: `deny`, `approve` or `allow`.
    pub verdict: String,
    /// The rule that denies, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<DeniedView>,
    /// Whose approval is asked for: all of these.
    pub needed: Vec<NeededView>,
    /// How surely approvers must be known.
    pub assurance: Assurance,
    /// Names and persons who cannot approve it, by a rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// An approval needs a note.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reason_required: bool,
    /// Each attempt needs approvals of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub each_attempt: bool,
    /// Bound of the time to decide, by a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide_within_ms: Option<u64>,
    /// Bound of the time from the approval to the execution, by a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_within_ms: Option<u64>,
    /// What an operation was judged by, beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<BesideView>,
}

/// One rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuleView {
    /// Its name.
    pub rule: String,
    /// What it says where it matches.
    pub says: String,
    /// Whether it matches.
    pub matched: bool,
    /// Its condition cannot be evaluated on these facts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_error: bool,
    /// What does not fit: `class`, `tool`, `tenant`, `requester`, `environment` or `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
    /// What that one wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// What there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Its condition; shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// A denial.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeniedView {
    /// The rule; `(none)` where none matches.
    pub rule: String,
    /// In the words of the table.
    pub reason: String,
}

/// What an operation was judged by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BesideView {
    /// As it was proposed, or as the table asked since.
    pub policy: PolicyView,
    /// Whether the table in force is another one than that of the proposal.
    pub other_table: bool,
    /// What the table in force asks for, beside what is asked: `same`, `weaker`, `stricter` or `denied`.
    pub compared: Compared,
    /// Whether the decisions so far would be enough for the table in force.
    pub satisfied: bool,
    /// Whose approval would be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<NeededView>,
}

impl ExplainView {
    /// About a write as it is proposed, or would be. Conditions are shown to people only: a program that reads them
    /// could shape its write to them.
    pub(in crate::api) fn of(
        proposal: &Proposal,
        at: Time,
        explained: &Explained,
        person: bool,
    ) -> ExplainView {
        let ruling = &explained.ruling;
        let requirement = &ruling.requirement;
        let mine = |rule: &&RuleSaid| rule.tenant.as_ref().is_none_or(|tenant| *tenant == proposal.tenant);
        let verdict = match (&ruling.refused, requirement.asks_somebody()) {
            (Some(_), _) => "deny",
            (None, true) => "approve",
            (None, false) => "allow",
        };
        let refused = ruling.refused.as_ref();
        let major = proposal.version.split('.').next().unwrap_or_default();
        ExplainView {
            operation: None,
            dry_run: false,
            tool: format!("{}.v{major}", proposal.tool),
            target: TargetView::from(&proposal.target),
            effect_text: proposal.effect_text.clone(),
            at,
            version: ruling.version,
            rules: explained.rules.iter().filter(mine).map(|rule| RuleView::of(rule, person)).collect(),
            verdict: verdict.to_owned(),
            denied: refused
                .map(|refused| DeniedView { rule: refused.rule.clone(), reason: refused.reason.clone() }),
            needed: requirement.needed.iter().map(NeededView::from).collect(),
            assurance: requirement.assurance,
            excluded: requirement.exclude.clone(),
            reason_required: requirement.reason_required,
            each_attempt: !requirement.survive_transient,
            decide_within_ms: ruling.decide_within.map(|Millis(within)| within),
            execute_within_ms: ruling.execute_within.map(|Millis(within)| within),
            stored: None,
        }
    }

    /// Beside what an operation was judged by.
    pub(in crate::api) fn beside(mut self, operation: &Operation, explained: &Explained) -> ExplainView {
        let requirement = &explained.ruling.requirement;
        let decisions = || operation.decisions.iter();
        self.operation = Some(operation.id());
        self.stored = Some(BesideView {
            policy: PolicyView::of(operation),
            other_table: explained.ruling.version != operation.proposal.policy,
            compared: requirement.compared_with(operation.requirement()),
            satisfied: requirement.is_satisfied(decisions()),
            missing: requirement.missing(decisions()).iter().map(NeededView::from).collect(),
        });
        self
    }
}

impl RuleView {
    fn of(rule: &RuleSaid, person: bool) -> RuleView {
        let (missed, wanted, found) = match &rule.fit {
            Fit::Matched | Fit::MatchedByError => (None, None, None),
            Fit::Missed { matcher, wanted, found } => {
                (Some((*matcher).to_owned()), Some(wanted.clone()), found.clone())
            }
            Fit::ConditionFalse | Fit::ConditionUndecided => (Some("when".to_owned()), None, None),
        };
        RuleView {
            rule: rule.rule.clone(),
            says: rule.says.clone(),
            matched: rule.fit.matched().is_some(),
            by_error: matches!(rule.fit, Fit::MatchedByError | Fit::ConditionUndecided),
            missed,
            wanted,
            found,
            condition: rule.condition.clone().filter(|_| person),
        }
    }
}

//! The operation as it is stored: the fixed proposal and everything that events made of it.
//! Stored: the order of members is part of the record format.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::effect::Effect;
use super::event::Verdict;
use super::evidence::{Evidence, Loss, NamedEffect, Readback, StatusSummary, Wait};
use super::proposal::Proposal;
use super::requirement::Requirement;
use super::state::State;
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::principal::Assurance;
use crate::domain::{Code, Digest, Time};

/// How many late answers an operation keeps; the journal has them all.
pub const LATE_ANSWERS_KEPT: usize = 8;

/// One write: the persisted state machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Operation {
    /// What never changes.
    pub proposal: Arc<Proposal>,
    /// Where it stands.
    pub state: State,
    /// What the world looks like.
    pub effect: Effect,
    /// How many events made it: the version of append-if-version.
    pub events: u32,
    /// When the last event happened.
    pub changed: Time,
    /// Who has to approve now, since the policy became stricter than the proposal's own requirement.
    pub tightened: Option<Box<Requirement>>,
    /// Decisions, in order; revoked ones stay, marked.
    pub decisions: Vec<Decision>,
    /// Set by the approval that satisfied the policy.
    pub execute_by: Option<Time>,
    /// Attempts, in order.
    pub attempts: Vec<Attempt>,
    /// What an approved operation waits for.
    pub wait: Option<Waiting>,
    /// While unknown.
    pub doubt: Option<Doubt>,
    /// Somebody asked to stop: no further attempt starts.
    pub no_more_attempts: bool,
    /// The downstream's own id of a long operation.
    pub remote: Option<String>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Answers that came after the end.
    pub late: Vec<Late>,
    /// The compensation that is open, or was the last one.
    pub compensation: Option<OperationId>,
    /// The state to which a withdrawn compensation goes back.
    pub before_compensation: Option<State>,
    /// The import that voided its approvals; zero for none.
    pub epoch: u64,
}

/// What an approver said, with the digest that was shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Time,
    /// The groups of its author at that time.
    pub groups: Vec<String>,
    /// What.
    pub verdict: Verdict,
    /// The digest that was shown; none on a denial.
    pub digest: Option<Digest>,
    /// In their words.
    pub note: Option<String>,
    /// Taken back, void after an import, or too late: it does not count.
    pub void: bool,
}

/// One execution try.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// When the intent was stored.
    pub started: Time,
    /// When its outcome counts as lost.
    pub deadline: Time,
    /// When its outcome was known, or known to be lost.
    pub ended: Option<Time>,
    /// What became of it.
    pub result: AttemptResult,
}

/// What became of an attempt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptResult {
    /// No outcome yet.
    Running,
    /// Proven: nothing happened.
    NoEffect(Code),
    /// The outcome was lost.
    Lost(Loss),
    /// It ended the operation.
    Final,
}

/// Why an approved operation waits, and until when at the latest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// For what.
    pub wait: Wait,
    /// When it is looked at again.
    pub until: Option<Time>,
}

/// What is known about an unknown outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Doubt {
    /// Since when.
    pub since: Time,
    /// How it was lost.
    pub cause: Loss,
    /// Set at escalation: an operator is needed, nothing is retried by itself.
    pub paused: Option<Time>,
    /// The last status answer that said something new, and when.
    pub status: Option<(Time, StatusSummary)>,
    /// Status answers that said something new.
    pub answers: u32,
}

/// How it ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The error's code; none on success.
    pub code: Option<Code>,
    /// In the downstream's or an operator's words; untrusted.
    pub detail: Option<String>,
    /// The receipt (canonical JSON text).
    pub receipt: Option<String>,
    /// The target's new version, where the receipt names it.
    pub new_version: Option<String>,
    /// The target's version on a conflict.
    pub current_version: Option<String>,
    /// The parts of a partial effect.
    pub effects: Vec<NamedEffect>,
    /// Where the proof came from; none where no attempt was needed to end it.
    pub evidence: Option<Evidence>,
    /// What an independent read saw afterwards, where the contract wants one.
    pub readback: Option<Readback>,
}

/// An answer after the end: kept as evidence, it flips no state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Late {
    /// When.
    pub at: Time,
    /// What it said.
    pub answer: StatusSummary,
}

impl Decision {
    /// It stands for a rule that allows the write without anybody's approval.
    #[must_use]
    pub fn is_by_policy(&self) -> bool {
        self.by.assurance == Assurance::Daemon
    }
}

impl Operation {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> OperationId {
        self.proposal.id
    }

    /// The approvals of persons that stand.
    pub fn approvals(&self) -> impl Iterator<Item = &Decision> + Clone {
        self.decisions.iter().filter(|decision| {
            decision.verdict == Verdict::Approve && !decision.void && !decision.is_by_policy()
        })
    }

    /// Who has to approve: as it was proposed, or as the policy asks since.
    #[must_use]
    pub fn requirement(&self) -> &Requirement {
        self.tightened.as_deref().unwrap_or(&self.proposal.rules.approval)
    }

    /// Whether its approvals are enough.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.requirement().is_satisfied(self.decisions.iter())
    }

    /// When the first approval that counts was given.
    #[must_use]
    pub fn first_approval(&self) -> Option<Time> {
        let requirement = self.requirement();
        let counted = self.decisions.iter().filter(|decision| requirement.counts_decision(decision));
        counted.map(|decision| decision.at).min()
    }

    /// The attempt whose outcome is open.
    #[must_use]
    pub fn running_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.result == AttemptResult::Running)
    }

    /// A receipt that came too late to be the answer of a running attempt. It proves that the effect is there.
    #[must_use]
    pub fn late_receipt(&self) -> Option<&str> {
        self.late.iter().find_map(|late| match &late.answer {
            StatusSummary::Succeeded(receipt) => Some(receipt.as_str()),
            StatusSummary::Failed(_)
            | StatusSummary::InProgress
            | StatusSummary::NotFound
            | StatusSummary::NotFoundProven
            | StatusSummary::Inconclusive(_) => None,
        })
    }

    /// Its earliest clock: exactly one for every operation that has not ended, none for the others. A compensating one
    /// is driven by its linked operation.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        match self.state {
            State::Proposed => Some(self.proposal.decide_by),
            State::Approved => {
                let execute_by = self.execute_by.unwrap_or(self.proposal.decide_by);
                let until = self.wait.as_ref().and_then(|waiting| waiting.until);
                Some(until.map_or(execute_by, |until| until.min(execute_by)))
            }
            // Its age counts from the last sign of life.
            State::Executing if self.remote.is_some() => {
                Some(self.changed.plus(self.proposal.rules.escalate_after))
            }
            State::Executing => Some(self.running_attempt().map_or(self.changed, |attempt| attempt.deadline)),
            State::Unknown => {
                let escalate = self.proposal.rules.escalate_after;
                self.doubt.as_ref().map(|doubt| match doubt.paused {
                    None => doubt.since.plus(escalate),
                    Some(paused) => paused.plus(escalate),
                })
            }
            State::Compensating
            | State::Succeeded
            | State::Failed
            | State::Abandoned
            | State::Denied
            | State::Expired
            | State::Cancelled
            | State::Compensated
            | State::CompensationFailed => None,
        }
    }

    /// Whether its target is kept from other writes: from the first intent until the outcome is proven or an operator
    /// gave up, through back-offs after an attempt without effect.
    #[must_use]
    pub fn holds_target(&self) -> bool {
        match self.state {
            State::Executing | State::Unknown => true,
            State::Approved => !self.attempts.is_empty(),
            State::Proposed
            | State::Succeeded
            | State::Failed
            | State::Abandoned
            | State::Denied
            | State::Expired
            | State::Cancelled
            | State::Compensating
            | State::Compensated
            | State::CompensationFailed => false,
        }
    }

    /// Whether a ticket is open: somebody has to look at it.
    #[must_use]
    pub fn needs_operator(&self) -> bool {
        match self.state {
            State::Unknown => self.doubt.as_ref().is_some_and(|doubt| doubt.paused.is_some()),
            // It was not to happen, or not yet, and an answer says that it has.
            State::Failed
            | State::Proposed
            | State::Approved
            | State::Denied
            | State::Expired
            | State::Cancelled => self.effect == Effect::Applied,
            State::CompensationFailed => true,
            State::Succeeded => {
                let readback = self.outcome.as_ref().and_then(|outcome| outcome.readback.as_ref());
                matches!(readback, Some(Readback::Differs(_)))
            }
            State::Executing | State::Abandoned | State::Compensating | State::Compensated => false,
        }
    }
}

//! Events: what happened to an operation. Each says which states accept it; [`super::evolve`] holds to that.
//! Stored: the order of variants and members is part of the record format. Add at the end, never reorder.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::evidence::{Evidence, Loss, NamedEffect, Readback, StatusSummary, Wait};
use super::proposal::Proposal;
use super::requirement::Requirement;
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::{Code, Digest, Time};
use std::sync::Arc;

/// What an approver said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Approve,
    /// No.
    Deny,
}

/// Which clock ran out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Nobody decided in time.
    DecideBy,
    /// Approved, but not executed in time.
    ExecuteBy,
}

/// One thing that happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// Accepted by: no state (creates the operation).
    Proposed(Arc<Proposal>),
    /// A counted approval that does not yet satisfy the policy. Accepted by: proposed.
    ApprovalRecorded {
        /// The digest that was shown.
        digest: Digest,
        /// The approver's words.
        note: Option<String>,
        /// The approver's groups.
        groups: Vec<String>,
    },
    /// The approval that satisfies the policy. Accepted by: proposed.
    Approved {
        /// The digest that was shown.
        digest: Digest,
        /// The approver's words.
        note: Option<String>,
        /// First counted approval + execute-within.
        execute_by: Time,
        /// The approver's groups.
        groups: Vec<String>,
    },
    /// Accepted by: proposed.
    Denied {
        /// Kept for replanning.
        reason: String,
        /// The same write is refused from now on, too.
        last: bool,
    },
    /// A decision that came too late to change anything. Accepted by: every state but proposed.
    LateDecision {
        /// What was said.
        verdict: Verdict,
        /// The words.
        note: Option<String>,
    },
    /// One approval was taken back. Accepted by: proposed, approved.
    ApprovalRevoked {
        /// Whose.
        approver: String,
    },
    /// The current policy asks for more than was asked for so far. Accepted by: proposed, approved.
    PolicyTightened {
        /// Who has to approve now.
        requirement: Box<Requirement>,
        /// The table that says so.
        policy: Digest,
    },
    /// Accepted by: proposed, approved.
    Expired {
        /// Which clock.
        clock: Clock,
    },
    /// Accepted by: proposed, approved; executing with evidence that it was stopped.
    Cancelled {
        /// Why.
        reason: Option<String>,
        /// What the world looks like: none before an attempt.
        effect: Effect,
    },
    /// It waits; nothing failed. Accepted by: approved.
    Deferred {
        /// For what.
        wait: Wait,
        /// When it is looked at again at the latest.
        until: Option<Time>,
    },
    /// Accepted by: approved.
    PreconditionFailed {
        /// VERSION_CONFLICT or PRECONDITION_FAILED.
        code: Code,
        /// What the target's version is now.
        current_version: Option<String>,
    },
    /// The durable intent. Accepted by: approved.
    ExecutionStarted {
        /// The attempt.
        attempt: AttemptId,
        /// When the outcome counts as lost.
        deadline: Time,
    },
    /// The downstream works on it under an id of its own. Accepted by: executing, unknown.
    RemoteAccepted {
        /// The downstream's operation id.
        remote: String,
    },
    /// Accepted by: executing, unknown.
    Succeeded {
        /// The receipt (canonical JSON text); absent only on an operator's word.
        receipt: Option<String>,
        /// The target's new version where the receipt names it.
        new_version: Option<String>,
        /// Where the proof came from.
        evidence: Evidence,
    },
    /// Accepted by: executing, unknown.
    Failed {
        /// Why.
        code: Code,
        /// In the downstream's or the operator's words; untrusted.
        detail: Option<String>,
        /// What the world looks like.
        effect: Effect,
        /// The parts of a partial effect.
        effects: Vec<NamedEffect>,
        /// What the target's version is, where the answer said so.
        current_version: Option<String>,
        /// Where the proof came from.
        evidence: Evidence,
    },
    /// Proven no effect, and another attempt may run. Accepted by: executing.
    AttemptHadNoEffect {
        /// Why it had none.
        code: Code,
        /// Not before this.
        retry_at: Time,
    },
    /// Accepted by: executing.
    OutcomeLost {
        /// How.
        cause: Loss,
    },
    /// Somebody asked to stop; the outcome is still learned. Accepted by: executing, unknown.
    NoMoreAttempts {
        /// In their words.
        reason: Option<String>,
    },
    /// The status protocol did not decide. Accepted by: executing, unknown.
    StatusChecked {
        /// What it said.
        answer: StatusSummary,
    },
    /// Somebody is told; from now on nothing is retried without an operator. Accepted by: unknown.
    Escalated,
    /// Proven no effect, and another attempt may run. Accepted by: unknown.
    NoEffectProven {
        /// Where the proof came from.
        evidence: Evidence,
        /// Not before this.
        retry_at: Time,
    },
    /// Accepted by: unknown.
    Abandoned {
        /// Why, and which risk is taken.
        reason: String,
    },
    /// An answer of an old attempt, or of the status protocol, after the end. Accepted by: every state that has an attempt behind it.
    LateAnswer {
        /// What it said.
        answer: StatusSummary,
        /// What it proves about the world, if anything.
        effect: Option<Effect>,
    },
    /// Accepted by every ended state but compensated, if there is an effect.
    CompensationStarted {
        /// The operation that is to undo this one.
        operation: OperationId,
    },
    /// The compensation ended before it executed. Accepted by: compensating.
    CompensationWithdrawn,
    /// Accepted by: compensating.
    CompensationSucceeded,
    /// Accepted by: compensating.
    CompensationFailed {
        /// What remains in the world.
        residual: Vec<String>,
    },
    /// Brought back by an import: approvals are void, the world may have moved on. Accepted by: every state that has
    /// not ended; a compensating one is settled by its linked operation.
    Restored {
        /// The epoch that began with the import.
        epoch: u64,
    },
    /// A rule allows it without an approval: nobody decides, and the clock of its execution runs from here. Accepted by: proposed.
    Admitted {
        /// Proposal + execute-within.
        execute_by: Time,
    },
    /// An independent read looked at the result. It flips no state. Accepted by: succeeded.
    ReadBack {
        /// What it saw.
        found: Readback,
    },
}

/// An event with who and when.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// When.
    pub at: Time,
    /// Who.
    pub by: super::Actor,
    /// What.
    pub event: Event,
}

/// The name of an event, without its data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EventKind {
    Proposed,
    ApprovalRecorded,
    Approved,
    Denied,
    LateDecision,
    ApprovalRevoked,
    PolicyTightened,
    Expired,
    Cancelled,
    Deferred,
    PreconditionFailed,
    ExecutionStarted,
    RemoteAccepted,
    Succeeded,
    Failed,
    AttemptHadNoEffect,
    OutcomeLost,
    NoMoreAttempts,
    StatusChecked,
    Escalated,
    NoEffectProven,
    Abandoned,
    LateAnswer,
    CompensationStarted,
    CompensationWithdrawn,
    CompensationSucceeded,
    CompensationFailed,
    Restored,
    Admitted,
    ReadBack,
}

impl Event {
    /// Its name.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Event::Proposed(_) => EventKind::Proposed,
            Event::ApprovalRecorded { .. } => EventKind::ApprovalRecorded,
            Event::Approved { .. } => EventKind::Approved,
            Event::Denied { .. } => EventKind::Denied,
            Event::LateDecision { .. } => EventKind::LateDecision,
            Event::ApprovalRevoked { .. } => EventKind::ApprovalRevoked,
            Event::PolicyTightened { .. } => EventKind::PolicyTightened,
            Event::Expired { .. } => EventKind::Expired,
            Event::Cancelled { .. } => EventKind::Cancelled,
            Event::Deferred { .. } => EventKind::Deferred,
            Event::PreconditionFailed { .. } => EventKind::PreconditionFailed,
            Event::ExecutionStarted { .. } => EventKind::ExecutionStarted,
            Event::RemoteAccepted { .. } => EventKind::RemoteAccepted,
            Event::Succeeded { .. } => EventKind::Succeeded,
            Event::Failed { .. } => EventKind::Failed,
            Event::AttemptHadNoEffect { .. } => EventKind::AttemptHadNoEffect,
            Event::OutcomeLost { .. } => EventKind::OutcomeLost,
            Event::NoMoreAttempts { .. } => EventKind::NoMoreAttempts,
            Event::StatusChecked { .. } => EventKind::StatusChecked,
            Event::Escalated => EventKind::Escalated,
            Event::NoEffectProven { .. } => EventKind::NoEffectProven,
            Event::Abandoned { .. } => EventKind::Abandoned,
            Event::LateAnswer { .. } => EventKind::LateAnswer,
            Event::CompensationStarted { .. } => EventKind::CompensationStarted,
            Event::CompensationWithdrawn => EventKind::CompensationWithdrawn,
            Event::CompensationSucceeded => EventKind::CompensationSucceeded,
            Event::CompensationFailed { .. } => EventKind::CompensationFailed,
            Event::Restored { .. } => EventKind::Restored,
            Event::Admitted { .. } => EventKind::Admitted,
            Event::ReadBack { .. } => EventKind::ReadBack,
        }
    }
}

impl EventKind {
    /// All events, in the order of the table.
    pub const ALL: [EventKind; 30] = [
        EventKind::Proposed,
        EventKind::ApprovalRecorded,
        EventKind::Approved,
        EventKind::Denied,
        EventKind::LateDecision,
        EventKind::ApprovalRevoked,
        EventKind::PolicyTightened,
        EventKind::Expired,
        EventKind::Cancelled,
        EventKind::Deferred,
        EventKind::PreconditionFailed,
        EventKind::ExecutionStarted,
        EventKind::RemoteAccepted,
        EventKind::Succeeded,
        EventKind::Failed,
        EventKind::AttemptHadNoEffect,
        EventKind::OutcomeLost,
        EventKind::NoMoreAttempts,
        EventKind::StatusChecked,
        EventKind::Escalated,
        EventKind::NoEffectProven,
        EventKind::Abandoned,
        EventKind::LateAnswer,
        EventKind::CompensationStarted,
        EventKind::CompensationWithdrawn,
        EventKind::CompensationSucceeded,
        EventKind::CompensationFailed,
        EventKind::Restored,
        EventKind::Admitted,
        EventKind::ReadBack,
    ];

    /// As written in the API and in exports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EventKind::Proposed => "proposed",
            EventKind::ApprovalRecorded => "approval_recorded",
            EventKind::Approved => "approved",
            EventKind::Denied => "denied",
            EventKind::LateDecision => "late_decision",
            EventKind::ApprovalRevoked => "approval_revoked",
            EventKind::PolicyTightened => "policy_tightened",
            EventKind::Expired => "expired",
            EventKind::Cancelled => "cancelled",
            EventKind::Deferred => "deferred",
            EventKind::PreconditionFailed => "precondition_failed",
            EventKind::ExecutionStarted => "execution_started",
            EventKind::RemoteAccepted => "remote_accepted",
            EventKind::Succeeded => "succeeded",
            EventKind::Failed => "failed",
            EventKind::AttemptHadNoEffect => "attempt_had_no_effect",
            EventKind::OutcomeLost => "outcome_lost",
            EventKind::NoMoreAttempts => "no_more_attempts",
            EventKind::StatusChecked => "status_checked",
            EventKind::Escalated => "escalated",
            EventKind::NoEffectProven => "no_effect_proven",
            EventKind::Abandoned => "abandoned",
            EventKind::LateAnswer => "late_answer",
            EventKind::CompensationStarted => "compensation_started",
            EventKind::CompensationWithdrawn => "compensation_withdrawn",
            EventKind::CompensationSucceeded => "compensation_succeeded",
            EventKind::CompensationFailed => "compensation_failed",
            EventKind::Restored => "restored",
            EventKind::Admitted => "admitted",
            EventKind::ReadBack => "read_back",
        }
    }
}

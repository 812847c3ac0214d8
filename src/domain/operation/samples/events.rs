//! One event of each kind.

use std::sync::Arc;

use super::{RECEIPT, attempt, operation, proposal, rules, time};
use crate::domain::operation::{
    Clock, Effect, Event, EventKind, Evidence, Loss, Readback, Requirement, StatusSummary, Verdict, Wait,
};
use crate::domain::{Code, Digest};

/// The sample of a kind, as it fits an operation with this digest.
pub(crate) fn event_of(kind: EventKind, digest: crate::domain::Digest) -> Event {
    let code = Code::Unavailable;
    let retry_at = time(500_000);
    let receipt = || StatusSummary::Succeeded(RECEIPT.into());
    match kind {
        EventKind::Proposed => Event::Proposed(Arc::new(proposal(rules()))),
        EventKind::ApprovalRecorded => Event::ApprovalRecorded { digest, note: None, groups: Vec::new() },
        EventKind::Approved => {
            Event::Approved { digest, note: None, execute_by: time(901_000), groups: Vec::new() }
        }
        EventKind::Denied => Event::Denied { reason: "no".into(), last: false },
        EventKind::LateDecision => Event::LateDecision { verdict: Verdict::Deny, note: None },
        EventKind::ApprovalRevoked => Event::ApprovalRevoked { approver: "ada".into() },
        EventKind::PolicyTightened => Event::PolicyTightened {
            requirement: Box::new(Requirement::of(3)),
            policy: Digest::of(b"another"),
        },
        EventKind::Expired => Event::Expired { clock: Clock::DecideBy },
        EventKind::Cancelled => Event::Cancelled { reason: None, effect: Effect::None },
        EventKind::Deferred => Event::Deferred { wait: Wait::Limit, until: None },
        EventKind::PreconditionFailed => {
            Event::PreconditionFailed { code: Code::VersionConflict, current_version: None }
        }
        EventKind::ExecutionStarted => {
            Event::ExecutionStarted { attempt: attempt(7), deadline: time(600_000) }
        }
        EventKind::RemoteAccepted => Event::RemoteAccepted { remote: "job-1".into() },
        EventKind::Succeeded => {
            Event::Succeeded { receipt: Some(RECEIPT.into()), new_version: None, evidence: Evidence::Status }
        }
        EventKind::Failed => Event::Failed {
            code,
            detail: None,
            effect: Effect::None,
            effects: Vec::new(),
            current_version: None,
            evidence: Evidence::Status,
        },
        EventKind::AttemptHadNoEffect => Event::AttemptHadNoEffect { code, retry_at },
        EventKind::OutcomeLost => Event::OutcomeLost { cause: Loss::Deadline },
        EventKind::NoMoreAttempts => Event::NoMoreAttempts { reason: None },
        EventKind::StatusChecked => Event::StatusChecked { answer: StatusSummary::NotFound },
        EventKind::Escalated => Event::Escalated,
        EventKind::NoEffectProven => Event::NoEffectProven { evidence: Evidence::Status, retry_at },
        EventKind::Abandoned => Event::Abandoned { reason: "gone".into() },
        EventKind::LateAnswer => Event::LateAnswer { answer: receipt(), effect: None },
        EventKind::CompensationStarted => Event::CompensationStarted { operation: operation(2) },
        EventKind::CompensationWithdrawn => Event::CompensationWithdrawn,
        EventKind::CompensationSucceeded => Event::CompensationSucceeded,
        EventKind::CompensationFailed => {
            Event::CompensationFailed { residual: vec!["the parcel has left".into()] }
        }
        EventKind::Restored => Event::Restored { epoch: 2 },
        EventKind::ReadBack => Event::ReadBack { found: Readback::Differs(vec!["/city".into()]) },
        EventKind::Admitted => Event::Admitted { execute_by: time(901_000) },
    }
}

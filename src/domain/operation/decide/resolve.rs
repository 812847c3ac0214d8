//! Resolve: a named operator settles what nobody else knows.

use super::Decided;
use super::retry::next_attempt;
use crate::domain::Code;
use crate::domain::operation::command::{Facts, Resolution};
use crate::domain::operation::evidence::Evidence;
use crate::domain::operation::{Effect, Event, Operation, State};
use crate::domain::principal::{PrincipalKind, Role};

pub(super) fn decide(op: &Operation, resolution: &Resolution, note: &str, facts: &Facts<'_>) -> Decided {
    if let Err(refused) = may_settle(op, facts) {
        return refused;
    }
    if note.trim().is_empty() {
        return Decided::refused(Code::InvalidArgument, "say in the note how you know it");
    }
    match op.state {
        State::Unknown => {
            Decided::done(vec![unknown(op, resolution, note, facts)]).checked(op, resolution, facts)
        }
        State::Executing => Decided::refused(
            Code::InvalidTransition,
            "its attempt is still running: wait for its answer or its deadline",
        ),
        State::Proposed
        | State::Approved
        | State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::invalid(op, "be resolved: nothing is unknown about it"),
    }
}

fn unknown(op: &Operation, resolution: &Resolution, note: &str, facts: &Facts<'_>) -> Event {
    let failed = |code: Code| Event::Failed {
        code,
        detail: Some(note.to_owned()),
        effect: Effect::None,
        effects: Vec::new(),
        current_version: None,
        evidence: Evidence::Operator,
    };
    match resolution {
        Resolution::Applied { receipt } => {
            Event::Succeeded { receipt: receipt.clone(), new_version: None, evidence: Evidence::Operator }
        }
        Resolution::NotApplied { retry: true } => match next_attempt(op, facts, None) {
            Ok(retry_at) => Event::NoEffectProven { evidence: Evidence::Operator, retry_at },
            Err(_) => failed(Code::Unavailable),
        },
        Resolution::NotApplied { retry: false } => failed(Code::Unavailable),
        Resolution::Failed => failed(Code::PreconditionFailed),
    }
}

impl Decided {
    /// A wish to retry that cannot be met is refused, not quietly turned into a failure.
    fn checked(self, op: &Operation, resolution: &Resolution, facts: &Facts<'_>) -> Decided {
        if let Resolution::NotApplied { retry: true } = resolution
            && let Err(why) = next_attempt(op, facts, None)
        {
            return Decided::refused(
                Code::InvalidTransition,
                format!("it cannot be tried again: {why}. Resolve it as not applied and propose it anew"),
            );
        }
        self
    }
}

/// Operators settle; never the one who asked, never a program.
pub(super) fn may_settle(op: &Operation, facts: &Facts<'_>) -> Result<(), Decided> {
    let by = facts.by;
    let person = match by.kind {
        PrincipalKind::User | PrincipalKind::Operator => true,
        PrincipalKind::Agent | PrincipalKind::Service => false,
    };
    if !person || !by.has(Role::Operator) {
        return Err(Decided::refused(Code::PermissionDenied, "this needs a person with the role `operator`"));
    }
    let requester = &op.proposal.requester;
    if by.name == requester.name || by.person == requester.person {
        return Err(Decided::refused(
            Code::PermissionDenied,
            "who asked for a write cannot settle its unknown outcome: ask another operator",
        ));
    }
    Ok(())
}

//! Cancel: three honest answers — stopped, already completed, cannot be interrupted.

use super::Decided;
use crate::domain::Code;
use crate::domain::operation::command::Facts;
use crate::domain::operation::{Event, Operation, State};
use crate::domain::principal::{Assurance, Role};

pub(super) fn decide(op: &Operation, reason: Option<&str>, facts: &Facts<'_>) -> Decided {
    let own = facts.by.name == op.proposal.requester.name;
    // The daemon, when the deadline of the run has passed.
    let daemon = facts.by.assurance == Assurance::Daemon;
    if !own && !daemon && !facts.by.has(Role::Operator) && !facts.by.has(Role::Admin) {
        return Decided::refused(
            Code::PermissionDenied,
            "only its requester or an operator cancels an operation",
        );
    }
    let reason = reason.map(str::to_owned);
    match op.state {
        State::Proposed | State::Approved => {
            Decided::done(vec![Event::Cancelled { reason, effect: op.effect }])
        }
        State::Executing | State::Unknown => {
            let mut decided = Decided::already(
                "cannot_interrupt: it may have happened. No further attempt starts, its outcome is still learned",
            );
            if !op.no_more_attempts {
                decided.events.push(Event::NoMoreAttempts { reason });
            }
            decided
        }
        State::Cancelled => Decided::already("it was cancelled before"),
        State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::already(format!("already_completed: it is {}", op.state)),
    }
}

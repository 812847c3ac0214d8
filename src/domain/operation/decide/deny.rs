//! Deny: an eligible person says no.

use super::Decided;
use super::approve::{may_decide, said_too_late};
use crate::domain::Code;
use crate::domain::operation::command::Facts;
use crate::domain::operation::{Event, Operation, State, Verdict};

pub(super) fn decide(op: &Operation, reason: &str, last: bool, facts: &Facts<'_>) -> Decided {
    if let Err(refused) = may_decide(op, facts) {
        return refused;
    }
    if reason.trim().is_empty() {
        return Decided::refused(
            Code::InvalidArgument,
            "a denial needs a reason: it is what the requester learns from",
        );
    }
    if last && op.state != State::Proposed {
        return Decided::refused(
            Code::InvalidTransition,
            "only a proposal that waits for its decision is denied for good; a rule of [[policy]] denies what is to come",
        );
    }
    // Each person's first late denial is kept; repeats say nothing new.
    let late = || {
        let known = said_too_late(op, Verdict::Deny, facts);
        (!known).then(|| Event::LateDecision { verdict: Verdict::Deny, note: Some(reason.to_owned()) })
    };
    match op.state {
        State::Proposed => Decided::done(vec![Event::Denied { reason: reason.to_owned(), last }]),
        State::Approved => {
            let mut decided = Decided::refused(
                Code::InvalidTransition,
                "it is approved already; the denial is recorded. Revoke an approval or cancel it to stop it",
            );
            decided.events.extend(late());
            decided
        }
        State::Executing | State::Unknown => {
            let mut decided = Decided::already(
                "it is being executed and cannot be interrupted: no further attempt starts, its outcome is still learned",
            );
            decided.events.extend(late());
            if !op.no_more_attempts {
                decided.events.push(Event::NoMoreAttempts { reason: Some(reason.to_owned()) });
            }
            decided
        }
        State::Denied => Decided::already("it was denied before"),
        State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => {
            let mut decided = Decided::already(format!("it is {}; the denial is kept as a denial", op.state));
            decided.events.extend(late());
            decided
        }
    }
}

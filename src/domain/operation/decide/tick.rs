//! Tick: time has passed. Expiry is decided before any command; here are the clocks that do not end an operation.

use super::Decided;
use super::record_answer::lost;
use crate::domain::operation::command::Facts;
use crate::domain::operation::evidence::Loss;
use crate::domain::operation::{Event, Operation, State};

pub(super) fn decide(op: &Operation, facts: &Facts<'_>) -> Decided {
    match op.state {
        State::Executing => {
            let late = op.running_attempt().is_some_and(|attempt| facts.now >= attempt.deadline);
            if late && op.remote.is_none() {
                return Decided::done(vec![lost(op, Loss::Deadline)]);
            }
            Decided::done(Vec::new())
        }
        State::Unknown => {
            let escalate_after = op.proposal.rules.escalate_after;
            let due = op
                .doubt
                .as_ref()
                .is_some_and(|doubt| doubt.paused.is_none() && facts.now >= doubt.since.plus(escalate_after));
            if due { Decided::done(vec![Event::Escalated]) } else { Decided::done(Vec::new()) }
        }
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
        | State::CompensationFailed => Decided::done(Vec::new()),
    }
}

//! Tick: time has passed. Expiry is decided before any command; here are the clocks that do not end an operation.

use super::Decided;
use super::record_answer::lost;
use crate::domain::operation::command::Facts;
use crate::domain::operation::evidence::Loss;
use crate::domain::operation::{Event, Operation, State};

pub(super) fn decide(op: &Operation, facts: &Facts<'_>) -> Decided {
    match op.state {
        State::Executing => {
            if op.remote.is_some() {
                return remote(op, facts);
            }
            if op.running_attempt().is_some_and(|attempt| facts.now >= attempt.deadline) {
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

/// A remote operation may run for long, but not without a sign of life: then its outcome is unknown, and somebody is told
/// at once. A later status answer that names it makes it executing again.
fn remote(op: &Operation, facts: &Facts<'_>) -> Decided {
    if facts.now < op.changed.plus(op.proposal.rules.escalate_after) {
        return Decided::done(Vec::new());
    }
    // The receipt of an earlier attempt may have come: then it has succeeded, and nobody is needed.
    let mut events = vec![lost(op, Loss::Deadline)];
    if op.late_receipt().is_none() {
        events.push(Event::Escalated);
    }
    Decided::done(events)
}

//! Restart: what was executing when the daemon died is unknown. Restore: after an import everything open is.

use super::Decided;
use super::record_answer::lost;
use crate::domain::operation::evidence::Loss;
use crate::domain::operation::{Event, Operation, State};

/// Waiting stays waiting; N restarts are one restart.
pub(super) fn decide(op: &Operation) -> Decided {
    match op.state {
        State::Executing if op.remote.is_none() => Decided::done(vec![lost(op, Loss::Restarted)]),
        State::Executing
        | State::Proposed
        | State::Approved
        | State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::done(Vec::new()),
    }
}

/// The backup does not know what happened after it was made. What a compensating operation did is known; its linked
/// operation is restored and settles it.
pub(super) fn restore(op: &Operation, epoch: u64) -> Decided {
    match op.state {
        State::Proposed | State::Approved | State::Executing | State::Unknown => {
            Decided::done(vec![Event::Restored { epoch }])
        }
        State::Compensating
        | State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensated
        | State::CompensationFailed => Decided::done(Vec::new()),
    }
}

//! The forward operation's side of a compensation: an operation of its own undoes it, this one follows.

use super::Decided;
use crate::domain::ids::OperationId;
use crate::domain::operation::command::CompensationResult;
use crate::domain::operation::{Effect, Event, Operation, State};

pub(super) fn start(op: &Operation, operation: OperationId) -> Decided {
    match op.state {
        State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::CompensationFailed => match op.effect {
            Effect::None => Decided::invalid(op, "be compensated: it had no effect"),
            Effect::Applied | Effect::Partial | Effect::Unknown => {
                Decided::done(vec![Event::CompensationStarted { operation }])
            }
        },
        State::Compensating => Decided::already("a compensation of it is open"),
        State::Compensated => Decided::already("it was compensated before"),
        State::Proposed | State::Approved | State::Executing | State::Unknown => {
            Decided::invalid(op, "be compensated: settle it first")
        }
    }
}

pub(super) fn settle(op: &Operation, result: &CompensationResult) -> Decided {
    match op.state {
        State::Compensating => Decided::done(vec![match result {
            CompensationResult::Withdrawn => Event::CompensationWithdrawn,
            CompensationResult::Succeeded => Event::CompensationSucceeded,
            CompensationResult::Failed { residual } => {
                Event::CompensationFailed { residual: residual.clone() }
            }
        }]),
        State::Proposed
        | State::Approved
        | State::Executing
        | State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensated
        | State::CompensationFailed => Decided::invalid(op, "settle a compensation: none is open"),
    }
}

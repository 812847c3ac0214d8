//! Record what an independent read saw. It is told once, and proves nothing against a receipt.

use super::Decided;
use crate::domain::operation::{Event, Operation, Readback, State};

pub(super) fn decide(op: &Operation, found: &Readback) -> Decided {
    match op.state {
        State::Succeeded if op.outcome.as_ref().is_some_and(|outcome| outcome.readback.is_none()) => {
            Decided::done(vec![Event::ReadBack { found: found.clone() }])
        }
        State::Succeeded
        | State::Proposed
        | State::Approved
        | State::Executing
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

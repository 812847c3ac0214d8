//! Abandon: a named operator gives up finding out. The effect stays unknown, the target is freed, the risk is listed.

use super::Decided;
use super::resolve::may_settle;
use crate::domain::Code;
use crate::domain::operation::command::Facts;
use crate::domain::operation::{Event, Operation, State};

pub(super) fn decide(op: &Operation, reason: &str, facts: &Facts<'_>) -> Decided {
    if let Err(refused) = may_settle(op, facts) {
        return refused;
    }
    if reason.trim().is_empty() {
        return Decided::refused(Code::InvalidArgument, "say why, and which risk is taken");
    }
    match op.state {
        State::Unknown => Decided::done(vec![Event::Abandoned { reason: reason.to_owned() }]),
        State::Abandoned => Decided::already("it was abandoned before"),
        State::Proposed
        | State::Approved
        | State::Executing
        | State::Succeeded
        | State::Failed
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::invalid(op, "be abandoned: nothing is unknown about it"),
    }
}

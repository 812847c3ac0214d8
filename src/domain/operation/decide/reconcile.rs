//! Reconcile: somebody asks for a status query now. It changes nothing by itself.

use super::Decided;
use crate::domain::Code;
use crate::domain::operation::command::Facts;
use crate::domain::operation::{Operation, State};
use crate::domain::principal::Role;

pub(super) fn decide(op: &Operation, facts: &Facts<'_>) -> Decided {
    let own = facts.by.name == op.proposal.requester.name;
    if !own && !facts.by.has(Role::Operator) {
        return Decided::refused(
            Code::PermissionDenied,
            "only its requester or an operator asks for a status query",
        );
    }
    match op.state {
        State::Unknown => Decided::done(Vec::new()),
        State::Executing if op.remote.is_some() => Decided::done(Vec::new()),
        State::Executing => Decided::already("its attempt is still running; its answer is awaited"),
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
        | State::CompensationFailed => {
            Decided::already(format!("nothing is unknown about it: it is {}", op.state))
        }
    }
}

//! Revoke: one approval is taken back, by its author or an admin.

use super::Decided;
use super::approve::expiry_code;
use crate::domain::Code;
use crate::domain::operation::command::Facts;
use crate::domain::operation::{Event, Operation, State};
use crate::domain::principal::Role;

pub(super) fn decide(op: &Operation, approver: Option<&str>, facts: &Facts<'_>) -> Decided {
    let whose = approver.unwrap_or(&facts.by.name);
    if whose != facts.by.name && !facts.by.has(Role::Admin) {
        return Decided::refused(
            Code::PermissionDenied,
            "only its author or an admin takes an approval back",
        );
    }
    if op.state == State::Expired {
        return Decided::refused(expiry_code(op), "its time ran out before this; nothing was executed by it");
    }
    if !op.approvals().any(|known| known.by.name == whose) {
        return Decided::refused(Code::InvalidTransition, "there is no approval of that name that counts");
    }
    match op.state {
        State::Proposed | State::Approved => {
            Decided::done(vec![Event::ApprovalRevoked { approver: whose.to_owned() }])
        }
        State::Executing | State::Unknown => {
            let mut decided = Decided::already(
                "it is being executed and cannot be interrupted: no further attempt starts, its outcome is still learned",
            );
            if !op.no_more_attempts {
                decided.events.push(Event::NoMoreAttempts { reason: Some(format!("{whose} revoked")) });
            }
            decided
        }
        State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::invalid(op, "lose an approval"),
    }
}

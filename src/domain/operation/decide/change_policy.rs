//! The policy in force asks for something else. A change that alters no verdict voids nothing.

use super::Decided;
use crate::domain::Digest;
use crate::domain::operation::record::Decision;
use crate::domain::operation::{Event, Operation, Requirement, State};

pub(super) fn decide(op: &Operation, requirement: &Requirement, policy: Digest) -> Decided {
    let tightened =
        || Decided::done(vec![Event::PolicyTightened { requirement: Box::new(requirement.clone()), policy }]);
    match op.state {
        State::Approved => {
            if is_stricter(op, requirement, op.approvals()) {
                tightened()
            } else {
                Decided::done(Vec::new())
            }
        }
        // What is approved from now on satisfies the policy of now; a table that asks for less than was shown does not
        // change what was asked.
        State::Proposed if requirement != op.requirement() && !requirement.is_met_with(op.requirement()) => {
            tightened()
        }
        State::Proposed
        | State::Executing
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

/// Whether these approvals are not enough for it any more. A table that still asks nobody is not stricter.
pub(super) fn is_stricter<'a>(
    op: &Operation,
    requirement: &Requirement,
    approvals: impl Iterator<Item = &'a Decision> + Clone,
) -> bool {
    let nobody = !requirement.asks_somebody() && !op.requirement().asks_somebody();
    !nobody && !requirement.is_satisfied(approvals)
}

//! The policy in force asks for another number of approvals. A change that alters no verdict voids nothing.

use super::Decided;
use crate::domain::operation::{Event, Operation, State};

pub(super) fn decide(op: &Operation, approvals: u32) -> Decided {
    match op.state {
        State::Approved => {
            let counted = u32::try_from(op.approvals().count()).unwrap_or(u32::MAX);
            if counted >= approvals {
                return Decided::done(Vec::new());
            }
            Decided::done(vec![Event::PolicyTightened { approvals }])
        }
        // What is approved from now on satisfies the policy of now.
        State::Proposed if approvals > op.approvals_needed => {
            Decided::done(vec![Event::PolicyTightened { approvals }])
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

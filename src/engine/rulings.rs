//! What the table in force says of a write, with what the directory knows of accounts: asked at the proposal and at every
//! claim, so that what a stricter table asks for is never easier to give than what was asked before.

use super::Parts;
use crate::domain::Time;
use crate::domain::operation::{Body, Proposal};
use crate::ports::Ruling;

/// The table's ruling; where somebody is asked, the other names of the requester's account are not.
pub(super) fn ruling(parts: &Parts, proposal: &Proposal, body: &Body, now: Time) -> Ruling {
    let mut ruling = parts.policy.judge(proposal, body, now);
    if ruling.requirement.asks_somebody() {
        let exclude = &mut ruling.requirement.exclude;
        exclude.extend(parts.directory.same_account(&proposal.requester));
        exclude.sort();
        exclude.dedup();
    }
    ruling
}

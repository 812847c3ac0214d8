//! Propose: what a finished proposal begins with.

use std::sync::Arc;

use crate::domain::Time;
use crate::domain::operation::{Event, Proposal};

/// The first events of an operation. One that needs no approval is admitted at once, by the rules that are part of it.
#[must_use]
pub fn propose(proposal: Proposal, now: Time) -> Vec<Event> {
    let admitted = (!proposal.rules.approval.asks_somebody())
        .then(|| Event::Admitted { execute_by: proposal.execute_by(now) });
    let mut events = vec![Event::Proposed(Arc::new(proposal))];
    events.extend(admitted);
    events
}

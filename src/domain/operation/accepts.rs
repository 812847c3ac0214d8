//! Which states accept which events: the table of the design as a table. A row has one place per state, so that a new
//! state does not compile until every row has decided about it, and a new event not until it has a row.

use super::event::EventKind;
use super::state::State;

const Y: bool = true;
const N: bool = false;

/// Whether an operation in this state accepts the event. `Proposed` creates an operation and is accepted by none.
#[must_use]
pub fn accepts(event: EventKind, state: State) -> bool {
    let place = State::ALL.iter().position(|known| *known == state);
    place.is_some_and(|place| row(event)[place])
}

#[rustfmt::skip]
const fn row(event: EventKind) -> [bool; State::ALL.len()] {
    match event {
        //                                  pro app exe suc fai unk aba den exp can cpg cpd cpf
        EventKind::Proposed              => [N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::ApprovalRecorded      => [Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Approved              => [Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Denied                => [Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::LateDecision          => [N,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y],
        EventKind::ApprovalRevoked       => [Y,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::PolicyTightened       => [Y,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Expired               => [Y,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Cancelled             => [Y,  Y,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Deferred              => [N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::PreconditionFailed    => [N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::ExecutionStarted      => [N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::RemoteAccepted        => [N,  N,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Succeeded             => [N,  N,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Failed                => [N,  N,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::AttemptHadNoEffect    => [N,  N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::OutcomeLost           => [N,  N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::NoMoreAttempts        => [N,  N,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::StatusChecked         => [N,  N,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Escalated             => [N,  N,  N,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::NoEffectProven        => [N,  N,  N,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Abandoned             => [N,  N,  N,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::LateAnswer            => [Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y,  Y],
        EventKind::CompensationStarted   => [N,  N,  N,  Y,  Y,  N,  Y,  Y,  Y,  Y,  N,  N,  Y],
        EventKind::CompensationWithdrawn => [N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  Y,  N,  N],
        EventKind::CompensationSucceeded => [N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  Y,  N,  N],
        EventKind::CompensationFailed    => [N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  Y,  N,  N],
        EventKind::Restored              => [Y,  Y,  Y,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N],
        EventKind::Admitted              => [Y,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N],
        EventKind::ReadBack              => [N,  N,  N,  Y,  N,  N,  N,  N,  N,  N,  N,  N,  N],
    }
}

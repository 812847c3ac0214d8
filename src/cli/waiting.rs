//! Waiting for an operation: long polls, one after the other, until it is settled or the time is up; and what its state
//! means for the exit code of whoever waited.

use std::time::{Duration, Instant};

use super::client::{Ask, Client};
use super::failure::Failure;
use crate::api::wire::{OperationDetail, OperationView};
use crate::domain::Code;
use crate::domain::ids::OperationId;
use crate::domain::operation::State;

/// One long poll; the daemon's own bound is 30 seconds where nobody changed it.
const POLL: Duration = Duration::from_secs(25);
/// Between two polls that were answered at once although nothing was settled.
const PAUSE: Duration = Duration::from_millis(250);

/// The path of an operation.
pub(crate) fn path(id: OperationId) -> String {
    format!("/v1/operations/{id}")
}

/// Everything about an operation, once it is settled or the time is up.
pub(crate) async fn detail(
    client: &Client,
    id: OperationId,
    wait: Option<Duration>,
) -> Result<OperationDetail, Failure> {
    let until = Instant::now() + wait.unwrap_or_default();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let asked = Instant::now();
        let step = (!left.is_zero()).then(|| left.min(POLL));
        let detail: OperationDetail = client.ask(Ask::get(path(id)).wait(step)).await?;
        if step.is_none() || is_settled(detail.summary.state) {
            return Ok(detail);
        }
        if asked.elapsed() < PAUSE {
            tokio::time::sleep(PAUSE.min(left)).await;
        }
    }
}

/// Nothing more happens without a person.
fn is_settled(state: State) -> bool {
    state == State::Unknown || state.is_ended()
}

/// The failure that a state means for whoever waited for success; none for success.
pub(crate) fn verdict(view: &OperationView) -> Result<(), Failure> {
    let outcome = view.outcome.as_ref().and_then(|outcome| outcome.code);
    let code = match view.state {
        State::Succeeded | State::Compensating | State::Compensated => return Ok(()),
        State::Proposed => Code::ApprovalRequired,
        State::Approved | State::Executing => Code::DeadlineExceeded,
        State::Unknown | State::Abandoned => Code::OutcomeUnknown,
        State::Failed | State::CompensationFailed => outcome.unwrap_or(Code::Internal),
        State::Denied => Code::Denied,
        State::Expired => {
            if view.clocks.execute_by.is_some() {
                Code::ApprovalExpired
            } else {
                Code::ProposalExpired
            }
        }
        State::Cancelled => Code::Cancelled,
    };
    Err(Failure::Told(code))
}

//! Waiting for an operation: long polls, one after the other, until it is settled or the time is up; and what its state
//! means for the exit code of whoever waited.

use std::time::{Duration, Instant};

use super::client::{Ask, Client, ClientError};
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
        let detail: OperationDetail = match client.ask(Ask::get(path(id)).wait(step)).await {
            // The daemon says when to come back; there is time.
            Err(ClientError::Refused(problem)) if !left.is_zero() && problem.retry_after.is_some() => {
                let after = Duration::from_secs(problem.retry_after.unwrap_or_default()).max(PAUSE);
                tokio::time::sleep(after.min(left)).await;
                continue;
            }
            answered => answered?,
        };
        if step.is_none() || is_settled(detail.summary.state) {
            return Ok(detail);
        }
        if asked.elapsed() < PAUSE {
            tokio::time::sleep(PAUSE.min(left)).await;
        }
    }
}

/// It has ended, or nobody knows how: the daemon goes on finding out, which may take long.
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

//! The states of an operation.

use serde::{Deserialize, Serialize};

/// Where an operation stands. The effect on the world stands beside it, see [`super::Effect`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for decisions until decide-by.
    Proposed,
    /// May be executed until execute-by; waits for its turn, a back-off or an explicit commit.
    Approved,
    /// The intent is stored; bytes may have left the machine.
    Executing,
    /// Proven: it happened, or an operator said so with evidence.
    Succeeded,
    /// Ended without success; the effect says what the world looks like.
    Failed,
    /// Nobody knows yet. Not an end: settled by evidence or by a named operator.
    Unknown,
    /// A named operator gave up finding out; the risk is listed.
    Abandoned,
    /// An eligible approver said no.
    Denied,
    /// A clock ran out before a first attempt, or between attempts that had no effect.
    Expired,
    /// Withdrawn before an attempt, or stopped with evidence.
    Cancelled,
    /// A compensation of it is open.
    Compensating,
    /// Its effect was undone by a compensation that succeeded.
    Compensated,
    /// A compensation ended without undoing it; the residual effects are listed.
    CompensationFailed,
}

impl State {
    /// All states, in the order of the table.
    pub const ALL: [State; 13] = [
        State::Proposed,
        State::Approved,
        State::Executing,
        State::Succeeded,
        State::Failed,
        State::Unknown,
        State::Abandoned,
        State::Denied,
        State::Expired,
        State::Cancelled,
        State::Compensating,
        State::Compensated,
        State::CompensationFailed,
    ];

    /// As written in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Proposed => "proposed",
            State::Approved => "approved",
            State::Executing => "executing",
            State::Succeeded => "succeeded",
            State::Failed => "failed",
            State::Unknown => "unknown",
            State::Abandoned => "abandoned",
            State::Denied => "denied",
            State::Expired => "expired",
            State::Cancelled => "cancelled",
            State::Compensating => "compensating",
            State::Compensated => "compensated",
            State::CompensationFailed => "compensation_failed",
        }
    }

    /// Whether nothing will happen by itself any more. The one definition of "what is still open": the start-up index,
    /// the target locks and the inbox use it.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        match self {
            State::Proposed | State::Approved | State::Executing | State::Unknown | State::Compensating => {
                false
            }
            State::Succeeded
            | State::Failed
            | State::Abandoned
            | State::Denied
            | State::Expired
            | State::Cancelled
            | State::Compensated
            | State::CompensationFailed => true,
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<State, UnknownState> {
        State::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownState)
    }
}

/// The text names no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a state of an operation")]
pub struct UnknownState;

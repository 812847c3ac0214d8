//! `decide(operation, command, facts) → events and an answer`. Pure; one file per verb. A refusal changes nothing,
//! except that a clock which ran out and a decision that came too late are recorded as exactly that.

mod abandon;
mod approve;
mod cancel;
mod change_policy;
mod commit;
mod compensation;
mod deny;
mod propose;
mod read_back;
mod reconcile;
mod record_answer;
mod record_status;
mod resolve;
mod restart;
mod retry;
mod revoke;
mod tick;

pub use propose::propose;

use super::actor::Actor;
use super::command::{Command, Facts};
use super::event::{Clock, Event, Recorded};
use super::evolve::evolve;
use super::record::Operation;
use super::state::State;
use crate::domain::Code;

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// What happened; appended in this order, all or none.
    pub events: Vec<Event>,
    /// What the caller is told.
    pub answer: Answer,
}

/// What the caller is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done as asked.
    Done,
    /// Nothing to do: it was so already, or it cannot be stopped any more. Not an error; the words say what is true.
    Already(String),
    /// Refused.
    Refused(Refusal),
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// For people; programs act on the code.
    pub detail: String,
}

impl Decided {
    fn done(events: Vec<Event>) -> Decided {
        Decided { events, answer: Answer::Done }
    }

    fn already(words: impl Into<String>) -> Decided {
        Decided { events: Vec::new(), answer: Answer::Already(words.into()) }
    }

    fn refused(code: Code, detail: impl Into<String>) -> Decided {
        Decided { events: Vec::new(), answer: Answer::Refused(Refusal { code, detail: detail.into() }) }
    }

    fn with(mut self, event: Event) -> Decided {
        self.events.insert(0, event);
        self
    }

    /// The command does not apply in this state.
    fn invalid(op: &Operation, verb: &str) -> Decided {
        Decided::refused(Code::InvalidTransition, format!("an operation that is {} cannot {verb}", op.state))
    }
}

/// Decides. The clocks are looked at first: whatever is asked after decide-by or execute-by finds the operation expired.
#[must_use]
pub fn decide(op: &Operation, command: &Command, facts: &Facts<'_>) -> Decided {
    let Some(clock) = expired_clock(op, facts) else { return decide_in_time(op, command, facts) };
    let event = Event::Expired { clock };
    let recorded = Recorded { at: facts.now, by: Actor::from(facts.by), event: event.clone() };
    match evolve(Some(op), &recorded) {
        // The operation that the command finds: a late decision, a late receipt are kept as what they are.
        Ok(expired) => decide_in_time(&expired, command, facts).with(event),
        Err(error) => Decided::refused(Code::Internal, error.to_string()),
    }
}

fn decide_in_time(op: &Operation, command: &Command, facts: &Facts<'_>) -> Decided {
    match command {
        Command::Approve { digest, note } => approve::decide(op, *digest, note.as_deref(), facts),
        Command::Deny { reason, last } => deny::decide(op, reason, *last, facts),
        Command::Revoke { approver } => revoke::decide(op, approver.as_deref(), facts),
        Command::Cancel { reason } => cancel::decide(op, reason.as_deref(), facts),
        Command::Commit(preconditions) => commit::decide(op, preconditions, facts),
        Command::RecordAnswer { attempt, answer } => record_answer::decide(op, *attempt, answer, facts),
        Command::RecordStatus { answer } => record_status::decide(op, answer, facts),
        Command::Reconcile => reconcile::decide(op, facts),
        Command::Resolve { resolution, note } => resolve::decide(op, resolution, note, facts),
        Command::Abandon { reason } => abandon::decide(op, reason, facts),
        Command::Tick => tick::decide(op, facts),
        Command::Restart => restart::decide(op),
        Command::ChangePolicy { requirement, policy } => change_policy::decide(op, requirement, *policy),
        Command::StartCompensation { operation } => compensation::start(op, *operation),
        Command::SettleCompensation { result } => compensation::settle(op, result),
        Command::Restore { epoch } => restart::restore(op, *epoch),
        Command::RecordReadback { found } => read_back::decide(op, found),
    }
}

fn expired_clock(op: &Operation, facts: &Facts<'_>) -> Option<Clock> {
    match op.state {
        State::Proposed => (facts.now >= op.proposal.decide_by).then_some(Clock::DecideBy),
        State::Approved => {
            op.execute_by.filter(|execute_by| facts.now >= *execute_by).map(|_| Clock::ExecuteBy)
        }
        State::Executing
        | State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => None,
    }
}

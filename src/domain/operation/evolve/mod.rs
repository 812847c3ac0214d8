//! `evolve(state, event) → state`: the one function that changes an operation, for live appends and for recovery.
//! It takes facts as they were recorded and decides nothing; [`super::decide`] decides.

mod attempt;
mod compensation;
mod governance;
mod outcome;

use super::accepts::accepts;
use super::event::{Event, EventKind, Recorded};
use super::record::Operation;
use super::state::State;
use super::{Effect, Proposal};
use std::sync::Arc;

/// The event does not fit the operation: a damaged or foreign journal, or a mistake in `decide`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IllegalEvent {
    /// An operation begins with `proposed`.
    #[error("the first event of an operation is `proposed`, not `{}`", .0.as_str())]
    NotCreated(EventKind),
    /// The state does not accept it.
    #[error("an operation that is {state} does not accept `{}`", event.as_str())]
    Refused {
        /// The state.
        state: State,
        /// The event.
        event: EventKind,
    },
    /// The state accepts such events, but this one contradicts what is recorded.
    #[error("`{}` contradicts the operation: {why}", event.as_str())]
    Contradicts {
        /// The event.
        event: EventKind,
        /// What does not fit.
        why: &'static str,
    },
}

/// Applies one recorded event. `None` is the operation that does not exist yet.
///
/// # Errors
/// [`IllegalEvent`], and then nothing has changed.
pub fn evolve(operation: Option<&Operation>, recorded: &Recorded) -> Result<Operation, IllegalEvent> {
    let event = recorded.event.kind();
    let Some(before) = operation else {
        let Event::Proposed(proposal) = &recorded.event else { return Err(IllegalEvent::NotCreated(event)) };
        return Ok(create(proposal, recorded));
    };
    if !accepts(event, before.state) {
        return Err(IllegalEvent::Refused { state: before.state, event });
    }
    let mut after = before.clone();
    apply(&mut after, recorded).map_err(|why| IllegalEvent::Contradicts { event, why })?;
    after.events = before.events.saturating_add(1);
    after.changed = recorded.at;
    Ok(after)
}

fn create(proposal: &Arc<Proposal>, recorded: &Recorded) -> Operation {
    Operation {
        tightened: None,
        proposal: Arc::clone(proposal),
        state: State::Proposed,
        effect: Effect::None,
        events: 1,
        changed: recorded.at,
        decisions: Vec::new(),
        execute_by: None,
        attempts: Vec::new(),
        wait: None,
        doubt: None,
        no_more_attempts: false,
        remote: None,
        outcome: None,
        late: Vec::new(),
        compensation: None,
        before_compensation: None,
        epoch: 0,
    }
}

/// Why an accepted event does not fit.
type Applied = Result<(), &'static str>;

fn apply(op: &mut Operation, recorded: &Recorded) -> Applied {
    match &recorded.event {
        Event::Proposed(_) => Err("it exists already"),
        Event::ApprovalRecorded { digest, note, groups } => {
            governance::approval(op, recorded, *digest, (note, groups), None)
        }
        Event::Approved { digest, note, execute_by, groups } => {
            governance::approval(op, recorded, *digest, (note, groups), Some(*execute_by))
        }
        Event::Denied { reason, .. } => governance::denied(op, recorded, reason),
        Event::LateDecision { verdict, note } => {
            governance::late_decision(op, recorded, *verdict, note.clone())
        }
        Event::ApprovalRevoked { approver } => governance::revoked(op, approver),
        Event::PolicyTightened { requirement, .. } => governance::tightened(op, requirement),
        Event::Expired { clock } => governance::expired(op, *clock),
        Event::Cancelled { reason, effect } => governance::cancelled(op, recorded, reason.clone(), *effect),
        Event::Deferred { wait, until } => attempt::deferred(op, wait.clone(), *until),
        Event::PreconditionFailed { code, current_version } => {
            outcome::precondition_failed(op, *code, current_version.clone())
        }
        Event::ExecutionStarted { attempt, deadline } => {
            attempt::started(op, recorded.at, *attempt, *deadline)
        }
        Event::RemoteAccepted { remote } => attempt::remote_accepted(op, remote),
        Event::Succeeded { receipt, new_version, evidence } => {
            outcome::succeeded(op, recorded.at, receipt.clone(), new_version.clone(), *evidence)
        }
        Event::Failed { code, detail, effect, effects, current_version, evidence } => {
            let failure = outcome::Failure {
                code: *code,
                detail: detail.clone(),
                effect: *effect,
                effects: effects.clone(),
                current_version: current_version.clone(),
                evidence: *evidence,
            };
            outcome::failed(op, recorded.at, failure)
        }
        Event::AttemptHadNoEffect { code, retry_at } => {
            attempt::had_no_effect(op, recorded.at, *code, *retry_at)
        }
        Event::OutcomeLost { cause } => attempt::lost(op, recorded.at, cause),
        Event::NoMoreAttempts { reason: _ } => attempt::no_more(op),
        Event::StatusChecked { answer } => attempt::status_checked(op, recorded.at, answer),
        Event::Escalated => attempt::escalated(op, recorded.at),
        Event::NoEffectProven { evidence: _, retry_at } => attempt::no_effect_proven(op, *retry_at),
        Event::Abandoned { reason } => outcome::abandoned(op, reason),
        Event::LateAnswer { answer, effect } => outcome::late_answer(op, recorded.at, answer, *effect),
        Event::CompensationStarted { operation } => compensation::started(op, *operation),
        Event::CompensationWithdrawn => compensation::withdrawn(op),
        Event::CompensationSucceeded => compensation::succeeded(op),
        Event::CompensationFailed { residual } => compensation::failed(op, residual),
        Event::Restored { epoch } => governance::restored(op, recorded.at, *epoch),
        Event::Admitted { execute_by } => governance::admitted(op, recorded, *execute_by),
        Event::ReadBack { found } => outcome::read_back(op, found),
    }
}

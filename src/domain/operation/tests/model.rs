//! A second, small machine, written from the table of the design and not from `decide`: which states a command may lead
//! to, and what of it is certain. It follows the events only to know who approved and what was proven.

use std::collections::BTreeSet;

use crate::domain::operation::command::CommandKind;
use crate::domain::operation::{Actor, Effect, Event, State};

/// What the model knows.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) state: State,
    needed: usize,
    persons: BTreeSet<String>,
    paused: bool,
    stop: bool,
    /// An attempt was started, and nothing proves that it had no effect.
    landed: bool,
    /// A receipt has come, whatever the state.
    receipt: bool,
    before: Option<State>,
}

impl Model {
    pub(super) fn new(needed: u32) -> Model {
        Model {
            // Nobody decides where no approval is needed.
            state: if needed == 0 { State::Approved } else { State::Proposed },
            needed: needed as usize,
            persons: BTreeSet::new(),
            paused: false,
            stop: false,
            landed: false,
            receipt: false,
            before: None,
        }
    }

    /// The states to which this command may lead. `late`: decide-by or execute-by has passed.
    pub(super) fn allowed(&self, command: CommandKind, late: bool) -> BTreeSet<State> {
        if late && matches!(self.state, State::Proposed | State::Approved) {
            return BTreeSet::from([State::Expired]);
        }
        let mut states = BTreeSet::from([self.state]);
        states.extend(self.further(command));
        if self.stop || (self.paused && command != CommandKind::Resolve) {
            states.remove(&State::Approved);
        }
        states
    }

    fn further(&self, command: CommandKind) -> Vec<State> {
        use CommandKind as C;
        use State as S;
        match (self.state, command) {
            (S::Proposed, C::Approve) if self.persons.len() + 1 >= self.needed => vec![S::Approved],
            (S::Proposed, C::Deny) => vec![S::Denied],
            (S::Proposed | S::Approved, C::Cancel) => vec![S::Cancelled],
            (S::Approved, C::Revoke | C::ChangePolicy) => vec![S::Proposed],
            // A moved version fails it only before a first attempt, and a known effect forbids another.
            // Or its approvals are not enough any more, or too old by the policy of now.
            (S::Approved, C::Commit) if !self.landed && !self.receipt => {
                vec![S::Executing, S::Failed, S::Cancelled, S::Proposed, S::Expired]
            }
            // Its run has ended.
            (S::Approved, C::Commit) => vec![S::Cancelled, S::Proposed, S::Expired],
            (S::Executing, C::RecordAnswer) => vec![S::Succeeded, S::Failed, S::Approved, S::Unknown],
            (S::Executing, C::RecordStatus) => vec![S::Succeeded, S::Failed, S::Unknown],
            (S::Executing, C::Tick | C::Restart) if self.receipt => vec![S::Succeeded],
            (S::Executing, C::Tick | C::Restart) => vec![S::Unknown],
            (S::Unknown, C::RecordAnswer) => vec![S::Succeeded, S::Failed, S::Approved],
            (S::Unknown, C::RecordStatus) => vec![S::Succeeded, S::Failed, S::Approved, S::Executing],
            (S::Unknown, C::Resolve) => vec![S::Succeeded, S::Failed, S::Approved],
            (S::Unknown, C::Abandon) => vec![S::Abandoned],
            (S::Proposed | S::Approved | S::Executing, C::Restore) => vec![S::Unknown],
            (S::Compensating, C::SettleCompensation) => {
                let mut states = vec![S::Compensated, S::CompensationFailed];
                states.extend(self.before);
                states
            }
            (
                S::Succeeded
                | S::Failed
                | S::Abandoned
                | S::Denied
                | S::Expired
                | S::Cancelled
                | S::CompensationFailed,
                C::StartCompensation,
            ) => vec![S::Compensating],
            _ => Vec::new(),
        }
    }

    /// Follows what happened. An intent after an attempt that may have landed is what must never be.
    pub(super) fn follow(&mut self, event: &Event, by: &Actor, state: State) -> Result<(), String> {
        match event {
            Event::ApprovalRecorded { .. } | Event::Approved { .. } => {
                if !self.persons.insert(by.person.clone()) {
                    return Err(format!("{} counts twice", by.person));
                }
            }
            Event::ApprovalRevoked { approver } => {
                // In the samples the second identity of a person has its own name.
                let person = if approver == "ada-ops" { "ada" } else { approver };
                self.persons.remove(person);
            }
            Event::PolicyTightened { requirement, .. } => self.needed = requirement.persons() as usize,
            Event::NoMoreAttempts { .. } => self.stop = true,
            Event::ExecutionStarted { .. } => {
                if self.landed || self.receipt {
                    return Err("a second attempt although the first may have landed".to_owned());
                }
                if self.stop {
                    return Err("an attempt although somebody asked to stop".to_owned());
                }
                if self.persons.len() < self.needed {
                    return Err("an attempt without the approvals".to_owned());
                }
                self.landed = true;
            }
            Event::AttemptHadNoEffect { .. } | Event::NoEffectProven { .. } => self.landed = false,
            Event::Restored { .. } => {
                self.persons.clear();
                self.landed = true;
                self.paused = false;
            }
            Event::Escalated => self.paused = true,
            Event::RemoteAccepted { .. } | Event::OutcomeLost { .. } => self.paused = false,
            Event::LateAnswer { answer, effect } => {
                let receipt = matches!(answer, crate::domain::operation::StatusSummary::Succeeded(_));
                self.receipt |= receipt || *effect == Some(Effect::Applied);
            }
            Event::CompensationStarted { .. } => self.before = Some(self.state),
            Event::Proposed(_)
            | Event::Admitted { .. }
            | Event::ReadBack { .. }
            | Event::Denied { .. }
            | Event::LateDecision { .. }
            | Event::Expired { .. }
            | Event::Cancelled { .. }
            | Event::Deferred { .. }
            | Event::PreconditionFailed { .. }
            | Event::Succeeded { .. }
            | Event::Failed { .. }
            | Event::StatusChecked { .. }
            | Event::Abandoned { .. }
            | Event::CompensationWithdrawn
            | Event::CompensationSucceeded
            | Event::CompensationFailed { .. } => {}
        }
        if self.paused && state == State::Approved {
            self.paused = false;
        }
        self.state = state;
        Ok(())
    }
}

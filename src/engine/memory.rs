//! The writer's memory: everything that has not ended, with its clocks, locks and queues. Rebuilt from the store at the
//! start and after a failed commit; derived from the records, so nothing in it can disagree with them for long.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::Head;
use crate::domain::operation::{State, TargetKey};
use crate::domain::run::Run;
use crate::domain::{Millis, Time};
use crate::store::records::{Meta, Stored};

/// Runs that stay in memory after their last use; a run is one small record and read again when needed.
const RUNS_KEPT: usize = 4096;

/// A clock that changed nothing is looked at again after this: an attempt that still runs, a paused outcome.
const SNOOZE: Millis = Millis::secs(30);

/// Between two readings of a version that could not be read.
const RETRY_SOON: Millis = Millis::secs(2);

#[derive(Default)]
pub(super) struct Memory {
    /// Operations that have not ended, as the pending group makes them.
    pub(super) operations: HashMap<OperationId, Arc<Stored>>,
    /// Who holds a target.
    targets: HashMap<TargetKey, OperationId>,
    /// Who waits for a target, in order of creation.
    blocked: HashMap<TargetKey, BTreeSet<OperationId>>,
    /// Exactly one entry for every operation that has a clock.
    due: BTreeSet<(Time, OperationId)>,
    due_of: HashMap<OperationId, Time>,
    /// Approved operations to look at before the group is committed.
    runnable: VecDeque<OperationId>,
    queued: HashSet<OperationId>,
    /// Approved operations that wait for a place.
    pub(super) waiting_for_place: VecDeque<OperationId>,
    /// Attempts that were launched and have not ended, and how many places they take.
    pub(super) running: HashSet<OperationId>,
    /// Operations whose target's version is being read.
    pub(super) reading_version: HashSet<OperationId>,
    /// Targets of operations that cannot be read; they stay busy.
    pub(super) quarantined: HashMap<TargetKey, OperationId>,
    /// Why nothing is executed at all.
    pub(super) hold: Option<String>,
    /// Open runs, and recently used ones.
    pub(super) runs: HashMap<RunId, Arc<Run>>,
    /// The end of the journal, as the pending group makes it.
    pub(super) head: Head,
    /// The daemon's own record and its version.
    pub(super) meta: (Meta, u64),
}

impl Memory {
    /// Takes an operation's new version in: clocks, locks and queues follow from the record.
    pub(super) fn take(&mut self, before: Option<&Arc<Stored>>, after: &Arc<Stored>) {
        let id = after.operation.id();
        if let Some(before) = before {
            let holds = after.operation.holds_target();
            if before.operation.holds_target() && !holds {
                self.free(&before.operation.proposal.target_key(), id);
            }
        }
        self.set_due(id, after.operation.next_due());
        if after.operation.holds_target() {
            self.targets.insert(after.operation.proposal.target_key(), id);
        }
        if after.operation.state.is_ended() {
            self.operations.remove(&id);
            self.unblock(&after.operation.proposal.target_key(), id);
        } else {
            self.operations.insert(id, Arc::clone(after));
        }
        let was_approved = before.is_some_and(|before| before.operation.state == State::Approved);
        if after.operation.state == State::Approved && !was_approved {
            self.look_at(id);
        }
    }

    fn free(&mut self, target: &TargetKey, id: OperationId) {
        if self.targets.get(target) == Some(&id) {
            self.targets.remove(target);
        }
        for next in self.blocked.remove(target).unwrap_or_default() {
            self.look_at(next);
        }
    }

    fn unblock(&mut self, target: &TargetKey, id: OperationId) {
        if let Some(waiting) = self.blocked.get_mut(target) {
            waiting.remove(&id);
            if waiting.is_empty() {
                self.blocked.remove(target);
            }
        }
    }

    /// Who keeps this operation from its target, if somebody does.
    pub(super) fn blocker(&self, target: &TargetKey, id: OperationId) -> Option<OperationId> {
        let holder = self.targets.get(target).or_else(|| self.quarantined.get(target));
        holder.copied().filter(|holder| *holder != id)
    }

    pub(super) fn wait_for_target(&mut self, target: TargetKey, id: OperationId) {
        self.blocked.entry(target).or_default().insert(id);
    }

    /// Puts an approved operation on the list of those to look at.
    pub(super) fn look_at(&mut self, id: OperationId) {
        if self.queued.insert(id) {
            self.runnable.push_back(id);
        }
    }

    pub(super) fn next_runnable(&mut self) -> Option<OperationId> {
        let id = self.runnable.pop_front()?;
        self.queued.remove(&id);
        Some(id)
    }

    fn set_due(&mut self, id: OperationId, due: Option<Time>) {
        if let Some(old) = self.due_of.remove(&id) {
            self.due.remove(&(old, id));
        }
        if let Some(due) = due {
            self.due.insert((due, id));
            self.due_of.insert(id, due);
        }
    }

    /// A clock was reached and changed nothing: the next look is at execute-by, or after a while.
    pub(super) fn snooze(&mut self, stored: &Stored, now: Time) {
        let operation = &stored.operation;
        let later = operation.execute_by.filter(|_| operation.state == State::Approved);
        self.set_due(operation.id(), Some(later.unwrap_or(now.plus(SNOOZE))));
    }

    /// Something that is needed was not available: look again soon.
    pub(super) fn retry_soon(&mut self, id: OperationId, now: Time) {
        self.set_due(id, Some(now.plus(RETRY_SOON)));
    }

    /// The earliest clock.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Those whose clock has been reached, at most `limit`.
    pub(super) fn due(&self, now: Time, limit: usize) -> Vec<OperationId> {
        self.due.iter().take_while(|(due, _)| *due <= now).take(limit).map(|(_, id)| *id).collect()
    }

    pub(super) fn remember_run(&mut self, run: &Arc<Run>) {
        if self.runs.len() >= RUNS_KEPT {
            self.runs.clear();
        }
        self.runs.insert(run.id, Arc::clone(run));
    }
}

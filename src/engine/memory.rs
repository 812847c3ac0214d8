//! The writer's memory: everything that has not ended, with its clocks, locks and queues. Rebuilt from the store at the
//! start and after a failed commit; derived from the records, so nothing in it can disagree with them for long.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::budget::Spent;
use crate::domain::ids::{AttemptId, OperationId, RunId};
use crate::domain::journal::Head;
use crate::domain::operation::{Operation, State, TargetKey};
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
    /// Who holds a target, and whether an attempt of it may be in the world. There are several after an import, or when an
    /// approval that was taken back between two attempts is given again.
    targets: HashMap<TargetKey, BTreeMap<OperationId, bool>>,
    /// Who waits for a target, in order of creation.
    blocked: HashMap<TargetKey, BTreeSet<OperationId>>,
    /// Targets that were let go, until somebody has taken them or nobody waits for them any more.
    freed: HashSet<TargetKey>,
    /// Exactly one entry for every operation that has a clock.
    due: BTreeSet<(Time, OperationId)>,
    due_of: HashMap<OperationId, Time>,
    /// Deadlines of the runs of approved operations: when they pass, nothing of them starts any more.
    run_ends: HashMap<OperationId, Time>,
    /// Approved operations to look at before the group is committed.
    runnable: VecDeque<OperationId>,
    queued: HashSet<OperationId>,
    /// Approved operations that wait for a place.
    pub(super) waiting_for_place: BTreeSet<OperationId>,
    /// Attempts that were launched and have not ended, and how many places they take.
    pub(super) running: HashSet<AttemptId>,
    /// What was taken of budgets.
    pub(super) spent: Spent,
    /// Operations whose target's version is being read, and whether their requester asked for it.
    pub(super) reading_version: HashMap<OperationId, Reading>,
    /// Targets of operations that cannot be read; they stay busy.
    pub(super) quarantined: HashMap<TargetKey, OperationId>,
    /// Why nothing is executed at all: an import that nobody has accepted.
    pub(super) hold: Option<String>,
    /// Why nothing is executed at all: an operation that cannot be read, on an unknown target. No command lifts it.
    pub(super) unreadable: Option<String>,
    /// Open runs, and recently used ones.
    pub(super) runs: HashMap<RunId, Arc<Run>>,
    /// The end of the journal, as the pending group makes it.
    pub(super) head: Head,
    /// The daemon's own record and its version.
    pub(super) meta: (Meta, u64),
}

/// A version that is being read for an operation.
pub(super) struct Reading {
    /// Its requester asked for the commit.
    pub(super) explicit: bool,
    pub(super) target: TargetKey,
    /// Another write on the target began or ended since the read began: what it saw is not the version now.
    pub(super) stale: bool,
}

/// Whether an attempt of it may be at work.
fn in_the_world(operation: &Operation) -> bool {
    matches!(operation.state, State::Executing | State::Unknown)
}

impl Memory {
    /// Takes an operation's new version in: clocks, locks and queues follow from the record.
    pub(super) fn take(&mut self, before: Option<&Arc<Stored>>, after: &Arc<Stored>) {
        let id = after.operation.id();
        if !after.operation.proposal.spends.is_empty() {
            self.spent.hear(&after.operation);
        }
        self.hold_target(before.map(|before| &before.operation), &after.operation);
        if after.operation.state != State::Approved {
            self.run_ends.remove(&id);
        }
        self.set_due(id, after.operation.next_due());
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

    /// The target is offered to those who wait for it when its holder lets go of it, or has nothing in the world any more.
    fn hold_target(&mut self, before: Option<&Operation>, after: &Operation) {
        let grip = |operation: &Operation| operation.holds_target().then(|| in_the_world(operation));
        let (was, is) = (before.and_then(grip), grip(after));
        if was.is_none() && is.is_none() {
            return;
        }
        let target = after.proposal.target_key();
        for reading in self.reading_version.values_mut().filter(|reading| reading.target == target) {
            reading.stale = true;
        }
        let holders = self.targets.entry(target.clone()).or_default();
        match is {
            Some(in_the_world) => drop(holders.insert(after.id(), in_the_world)),
            None => drop(holders.remove(&after.id())),
        }
        if holders.is_empty() {
            self.targets.remove(&target);
        }
        if is.is_none() || (was == Some(true) && is == Some(false)) {
            self.free(target);
        }
    }

    fn free(&mut self, target: TargetKey) {
        if self.blocked.contains_key(&target) {
            self.freed.insert(target);
        }
    }

    /// Offers every free target to the oldest that waits for it, and to the next one only when that one has been looked
    /// at and did not take it: were all of them woken, each change on a busy target would cost as much as its queue is
    /// long.
    fn offer_targets(&mut self) {
        let mut settled = Vec::new();
        let mut woken = Vec::new();
        for target in &self.freed {
            if self.reading_version.values().any(|reading| reading.target == *target) {
                continue; // One of them is being decided: the end of that reading is followed by another look.
            }
            match self.next_waiter(target) {
                Some(next) => woken.push((target.clone(), next)),
                None => settled.push(target.clone()),
            }
        }
        for target in settled {
            self.freed.remove(&target);
        }
        for (target, next) in &woken {
            self.unblock(target, *next);
            self.look_at(*next);
        }
    }

    /// The first of those who wait for the target that nobody keeps from it.
    fn next_waiter(&self, target: &TargetKey) -> Option<OperationId> {
        let waiting = self.blocked.get(target)?;
        if self.quarantined.contains_key(target) {
            return None;
        }
        match self.targets.get(target) {
            None => waiting.first().copied(),
            Some(holders) => {
                let (first, _) = holders.first_key_value()?;
                let at_work = holders.values().any(|at_work| *at_work);
                (!at_work && waiting.contains(first)).then_some(*first)
            }
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

    /// Who keeps this operation from its target, if somebody does: whatever may be in the world first, then the oldest
    /// that is between two attempts.
    pub(super) fn blocker(&self, target: &TargetKey, id: OperationId) -> Option<OperationId> {
        if let Some(quarantined) = self.quarantined.get(target).filter(|holder| **holder != id) {
            return Some(*quarantined);
        }
        let holders = self.targets.get(target)?;
        let in_the_world = holders.iter().find(|(holder, at_work)| **at_work && **holder != id);
        let first = in_the_world.or_else(|| holders.first_key_value());
        first.map(|(holder, _)| *holder).filter(|holder| *holder != id)
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

    /// Whether one is to be looked at now.
    pub(super) fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    /// The next one to look at; when there is none and a target or a place is free, the oldest that waits for it. A place is
    /// offered until somebody takes it: who waited for it may have ended, or wait for something else by now.
    pub(super) fn next_runnable(&mut self, places: usize) -> Option<OperationId> {
        if self.runnable.is_empty() {
            self.offer_targets();
        }
        let id = self.runnable.pop_front().or_else(|| {
            let free = self.running.len() < places;
            if free { self.waiting_for_place.pop_first() } else { None }
        })?;
        self.queued.remove(&id);
        Some(id)
    }

    /// An approved operation is looked at when the deadline of its run has passed.
    pub(super) fn run_ends(&mut self, stored: &Stored, deadline: Time) {
        let id = stored.operation.id();
        self.run_ends.insert(id, deadline);
        let due = self.due_of.get(&id).copied();
        self.set_due(id, due);
    }

    fn set_due(&mut self, id: OperationId, due: Option<Time>) {
        let end = self.run_ends.get(&id).copied();
        self.set_due_exactly(id, due.map(|due| end.map_or(due, |end| due.min(end))));
    }

    fn set_due_exactly(&mut self, id: OperationId, due: Option<Time>) {
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
        let clocks = [operation.execute_by, self.run_ends.get(&operation.id()).copied()];
        let ahead = clocks.into_iter().flatten().filter(|clock| *clock > now).min();
        let later = ahead.filter(|_| operation.state == State::Approved);
        self.set_due_exactly(operation.id(), Some(later.unwrap_or(now.plus(SNOOZE))));
    }

    /// A budget has no room for it: look again when it has, or after a while.
    pub(super) fn look_again(&mut self, stored: &Stored, until: Option<Time>, now: Time) {
        let id = stored.operation.id();
        let again = until.filter(|until| *until > now).unwrap_or(now.plus(SNOOZE));
        let clocks = [stored.operation.execute_by, self.run_ends.get(&id).copied(), Some(again)];
        self.set_due_exactly(id, clocks.into_iter().flatten().min());
    }

    /// Something that is needed was not available: look again soon.
    pub(super) fn retry_soon(&mut self, id: OperationId, now: Time) {
        self.set_due_exactly(id, Some(now.plus(RETRY_SOON)));
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

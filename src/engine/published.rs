//! What readers see: only what was synced. The writer publishes after each commit; readers never look into a group.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::{Notify, broadcast, oneshot};

use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::{Entry, Subject};
use crate::domain::operation::{Operation, State, TargetKey};
use crate::domain::run::Run;
use crate::store::records::{RecordError, Records, Stored};

/// Ended operations that stay in memory: their clients usually read the result within moments.
const RECENT: usize = 4096;
/// Journal entries that a slow reader of the live stream may be behind before it has to read the store.
const STREAM: usize = 4096;

/// The synced state.
pub struct Published {
    operations: RwLock<Visible>,
    doubts: Mutex<BTreeSet<OperationId>>,
    /// How many connections of each may still be alive: a late answer's and the next attempt's.
    in_flight: Mutex<HashMap<OperationId, usize>>,
    waiters: Mutex<HashMap<OperationId, Vec<oneshot::Sender<()>>>>,
    head: AtomicU64,
    epoch: AtomicU64,
    stream: broadcast::Sender<Arc<Entry>>,
    /// Signalled when an outcome became unknown, or somebody asked for a status query.
    pub(crate) doubt: Notify,
    asked: Mutex<BTreeSet<OperationId>>,
    held_runs: Mutex<HashMap<RunId, Option<Arc<Run>>>>,
}

#[derive(Default)]
struct Visible {
    operations: HashMap<OperationId, Arc<Stored>>,
    recent: VecDeque<OperationId>,
    /// Who holds which target.
    holders: HashMap<TargetKey, BTreeSet<OperationId>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // These maps are changed by single inserts and removes: a panic elsewhere leaves them whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Published {
    pub(super) fn new(head: u64) -> Published {
        Published {
            operations: RwLock::default(),
            doubts: Mutex::default(),
            in_flight: Mutex::default(),
            waiters: Mutex::default(),
            head: AtomicU64::new(head),
            epoch: AtomicU64::new(0),
            stream: broadcast::channel(STREAM).0,
            doubt: Notify::new(),
            asked: Mutex::default(),
            held_runs: Mutex::default(),
        }
    }

    /// The last journal entry that anybody may see.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// The epoch of the store: it changes while no daemon runs.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(super) fn begin_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Release);
    }

    /// An operation that is in memory.
    #[must_use]
    pub fn cached(&self, id: OperationId) -> Option<Arc<Stored>> {
        let visible = self.operations.read().unwrap_or_else(PoisonError::into_inner);
        visible.operations.get(&id).cloned()
    }

    /// An operation, from memory or from the store. What the store shows of a group that is not yet synced is held
    /// back: its journal places are beyond the published head.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn operation(
        &self,
        records: Records<'_>,
        id: OperationId,
    ) -> Result<Option<Arc<Stored>>, RecordError> {
        if let Some(stored) = self.cached(id) {
            return Ok(Some(stored));
        }
        let head = self.head();
        let stored = records.operation(id)?;
        match stored {
            Some(stored) if stored.history.last().is_none_or(|last| *last <= head) => {
                Ok(Some(Arc::new(stored)))
            }
            // Either it is being created, or the writer put its published version into memory just now.
            Some(_) => Ok(self.cached(id)),
            None => Ok(None),
        }
    }

    /// All operations in memory that have not ended, in order of creation.
    #[must_use]
    pub fn open(&self) -> Vec<Arc<Stored>> {
        let visible = self.operations.read().unwrap_or_else(PoisonError::into_inner);
        let mut open: Vec<_> =
            visible.operations.values().filter(|known| !known.operation.state.is_ended()).cloned().collect();
        drop(visible);
        open.sort_by_key(|stored| stored.operation.id());
        open
    }

    /// Who holds the target of an operation that waits for it: the one it met there, or whoever has come after that one.
    #[must_use]
    pub fn holder(&self, waiting: &Operation, met: OperationId) -> Option<OperationId> {
        let visible = self.operations.read().unwrap_or_else(PoisonError::into_inner);
        let holders = visible.holders.get(&waiting.proposal.target_key())?;
        let others = || holders.iter().copied().filter(|holder| *holder != waiting.id());
        others().find(|holder| *holder == met).or_else(|| others().next())
    }

    /// Operations that are unknown, or executing under a remote id.
    #[must_use]
    pub fn doubts(&self) -> Vec<OperationId> {
        lock(&self.doubts).iter().copied().collect()
    }

    /// Whether the connection of an attempt of it may still be alive.
    #[must_use]
    pub fn in_flight(&self, id: OperationId) -> bool {
        lock(&self.in_flight).contains_key(&id)
    }

    pub(super) fn any_in_flight(&self) -> bool {
        !lock(&self.in_flight).is_empty()
    }

    pub(super) fn attempt_begins(&self, id: OperationId) {
        *lock(&self.in_flight).entry(id).or_default() += 1;
    }

    pub(super) fn attempt_is_gone(&self, id: OperationId) {
        let mut in_flight = lock(&self.in_flight);
        if let Some(alive) = in_flight.get_mut(&id) {
            *alive -= 1;
            if *alive == 0 {
                in_flight.remove(&id);
            }
        }
    }

    /// A run, as it was before the pending group if that changes it.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn run(&self, records: Records<'_>, id: RunId) -> Result<Option<Run>, RecordError> {
        let stored = records.run(id);
        // Looked at after the read: whatever the read saw unsynced, the writer has held here before it wrote it.
        match lock(&self.held_runs).get(&id) {
            Some(held) => Ok(held.as_deref().cloned()),
            None => stored,
        }
    }

    /// Keeps what readers see of a run until the pending group is synced or gone. The first version held counts.
    pub(super) fn hold_run(&self, id: RunId, published: Option<Arc<Run>>) {
        lock(&self.held_runs).entry(id).or_insert(published);
    }

    pub(super) fn release_runs(&self) {
        lock(&self.held_runs).clear();
    }

    /// Asks the reconciler to look at it now.
    pub(super) fn ask(&self, id: OperationId) {
        lock(&self.asked).insert(id);
        self.doubt.notify_one();
    }

    /// The operations somebody asked about since the last call.
    #[must_use]
    pub fn take_asked(&self) -> BTreeSet<OperationId> {
        std::mem::take(&mut *lock(&self.asked))
    }

    /// The live stream of journal entries. A reader that lags reads the store from its last place on.
    #[must_use]
    pub fn stream(&self) -> broadcast::Receiver<Arc<Entry>> {
        self.stream.subscribe()
    }

    /// Resolves at the next change of the operation. Subscribe first, then look, then wait.
    #[must_use]
    pub fn changed(&self, id: OperationId) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut waiters = lock(&self.waiters);
        let of_this = waiters.entry(id).or_default();
        of_this.retain(|waiter| !waiter.is_closed());
        of_this.push(sender);
        receiver
    }

    /// How many wait for a change of any operation.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.waiters).values().map(Vec::len).sum()
    }

    /// Makes sure that readers find the published version while the store holds the next one.
    pub(super) fn pin(&self, stored: &Arc<Stored>) {
        let mut visible = self.operations.write().unwrap_or_else(PoisonError::into_inner);
        if !visible.operations.contains_key(&stored.operation.id()) {
            visible.insert(Arc::clone(stored));
        }
    }

    /// Shows what a commit made durable.
    pub(super) fn publish(&self, operations: Vec<Arc<Stored>>, entries: Vec<Entry>, head: u64) {
        let mut changed = Vec::with_capacity(operations.len());
        let mut new_doubt = false;
        {
            let mut doubts = lock(&self.doubts);
            for stored in &operations {
                let operation = &stored.operation;
                if doubtful(operation) {
                    new_doubt |= doubts.insert(operation.id());
                } else {
                    doubts.remove(&operation.id());
                }
                changed.push(operation.id());
            }
        }
        {
            let mut visible = self.operations.write().unwrap_or_else(PoisonError::into_inner);
            self.head.store(head, Ordering::Release);
            for stored in operations {
                visible.insert(stored);
            }
        }
        if self.stream.receiver_count() > 0 {
            for entry in entries {
                let _ = self.stream.send(Arc::new(entry));
            }
        }
        self.wake(&changed);
        if new_doubt {
            self.doubt.notify_one();
        }
    }

    fn wake(&self, changed: &[OperationId]) {
        let mut waiters = lock(&self.waiters);
        if waiters.is_empty() {
            return;
        }
        for id in changed {
            for waiter in waiters.remove(id).unwrap_or_default() {
                let _ = waiter.send(());
            }
        }
    }

    /// Shows what the store holds instead of what was shown: at the start, and after a failed commit, which may have been
    /// written all the same. In one step, so that no reader misses what was acknowledged before; who waits looks anew.
    pub(super) fn renew(&self, open: Vec<Arc<Stored>>, head: u64) {
        let doubts = open.iter().filter(|stored| doubtful(&stored.operation));
        *lock(&self.doubts) = doubts.map(|stored| stored.operation.id()).collect();
        {
            let mut visible = self.operations.write().unwrap_or_else(PoisonError::into_inner);
            self.head.store(head, Ordering::Release);
            *visible = Visible::default();
            for stored in open {
                visible.insert(stored);
            }
        }
        for waiter in std::mem::take(&mut *lock(&self.waiters)).into_values().flatten() {
            let _ = waiter.send(());
        }
        self.doubt.notify_one();
    }
}

/// Whether the status protocol is to be asked about it.
fn doubtful(operation: &Operation) -> bool {
    match operation.state {
        State::Unknown => true,
        State::Executing => operation.remote.is_some(),
        State::Proposed
        | State::Approved
        | State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => false,
    }
}

impl Visible {
    /// What has ended stays for a while: each is queued once, when it is first seen as ended.
    fn insert(&mut self, stored: Arc<Stored>) {
        let id = stored.operation.id();
        let ended = |stored: &Arc<Stored>| stored.operation.state.is_ended();
        let is_ended = ended(&stored);
        let held = self.operations.get(&id).is_some_and(|before| before.operation.holds_target());
        if held != stored.operation.holds_target() {
            self.hold(&stored.operation.proposal.target_key(), id, !held);
        }
        let before = self.operations.insert(id, stored);
        if is_ended && !before.as_ref().is_some_and(ended) {
            self.recent.push_back(id);
        }
        while self.recent.len() > RECENT {
            let Some(oldest) = self.recent.pop_front() else { break };
            if self.operations.get(&oldest).is_some_and(ended) {
                self.operations.remove(&oldest);
            }
        }
    }

    fn hold(&mut self, target: &TargetKey, id: OperationId, holds: bool) {
        if holds {
            self.holders.entry(target.clone()).or_default().insert(id);
        } else if let Some(holders) = self.holders.get_mut(target) {
            holders.remove(&id);
            if holders.is_empty() {
                self.holders.remove(target);
            }
        }
    }
}

/// The operation that an entry is about.
#[must_use]
pub(super) fn operation_of(entry: &Entry) -> Option<OperationId> {
    match entry.subject {
        Subject::Operation(id) => Some(id),
        Subject::Run(_) | Subject::System | Subject::Token(_) => None,
    }
}

impl std::fmt::Debug for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Published").field("head", &self.head()).finish_non_exhaustive()
    }
}

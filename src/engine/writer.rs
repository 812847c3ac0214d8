//! The single writer: drains its queue, decides every member against the pending group, commits, publishes, answers,
//! launches. It never waits for anything but its queue, its clocks and the store.

mod commit;
mod finally;
mod members;
mod outcome;
mod own;
mod refusals;
mod runs;
mod tokens;

pub(super) use refusals::conflict;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::attempt::Launch;
use super::failpoint;
use super::group::{AfterCommit, AppendError, Group, Stamp};
use super::memory::Memory;
use super::message::Message;
use super::published::Published;
use super::toolcache::ToolCache;
use super::{Parts, recovery};
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::operation::{Actor, Event};
use crate::domain::problem::Problem;
use crate::domain::{Code, Time};
use crate::store::CommitError;
use crate::store::records::{Records, Stored};

/// The longest sleep: wall clocks jump, and a jump must be noticed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// Clocks handled per group; the rest follow in the next one.
const CLOCKS_PER_GROUP: usize = 1024;
/// Between attempts to reopen a store that failed.
const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// A commit that fails within this time after another is not followed by a new attempt at once.
const FAILS_AGAIN: Duration = Duration::from_secs(5);

pub(super) struct Writer {
    pub(super) parts: Parts,
    pub(super) published: Arc<Published>,
    pub(super) cache: Arc<ToolCache>,
    pub(super) memory: Memory,
    pub(super) group: Group,
    pub(super) launches: Vec<Launch>,
    pub(super) to_self: Sender<Message>,
    pub(super) runtime: tokio::runtime::Handle,
    /// Set after a store error: nothing is accepted until the store is open again.
    pub(super) dead_since: Option<Instant>,
    /// When a commit failed last.
    pub(super) failed_at: Option<Instant>,
    /// The daemon is stopping: outcomes are stored, nothing is started.
    pub(super) draining: bool,
    /// Points to pass after the next commit.
    pub(super) points: Vec<&'static str>,
    /// Outcomes in the pending group: they are not lost with it.
    pub(super) outcomes: Vec<Message>,
    /// Intents of a failed group whose attempts were never launched.
    pub(super) unlaunched: Vec<(OperationId, AttemptId)>,
}

impl Writer {
    /// Runs until it is told to stop or every handle is gone.
    pub(super) fn run(mut self, queue: &Receiver<Message>) {
        loop {
            let mut stop = None;
            match queue.recv_timeout(self.sleep()) {
                Ok(message) => self.take(message, &mut stop),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while stop.is_none() && self.group.members < self.parts.limits.group_max {
                match queue.try_recv() {
                    Ok(message) => self.take(message, &mut stop),
                    Err(_) => break,
                }
            }
            self.reopen_if_dead();
            if self.dead_since.is_none() {
                self.clocks();
                self.look_at_runnable();
            }
            self.commit();
            if let Some(reply) = stop {
                let _ = reply.send(());
                return;
            }
        }
    }

    fn take(&mut self, message: Message, stop: &mut Option<tokio::sync::oneshot::Sender<()>>) {
        self.group.members += 1;
        match message {
            Message::Stop { reply } => *stop = Some(reply),
            other => self.member(other),
        }
    }

    fn sleep(&self) -> Duration {
        if self.dead_since.is_some() {
            return REOPEN_EVERY;
        }
        if self.memory.has_runnable() && !self.draining {
            return Duration::ZERO;
        }
        let now = self.parts.clock.now();
        self.memory.next_due().map_or(LONGEST_SLEEP, |due| due.since(now).to_std().min(LONGEST_SLEEP))
    }

    pub(super) fn now(&self) -> Time {
        self.parts.clock.now()
    }

    /// The newest version of an operation, as the pending group makes it. One that had ended is pinned for readers
    /// before the group can change it.
    pub(super) fn load(&mut self, id: OperationId) -> Result<Arc<Stored>, Box<Problem>> {
        if let Some(stored) = self.group.operations.get(&id).or_else(|| self.memory.operations.get(&id)) {
            return Ok(Arc::clone(stored));
        }
        if let Some(stored) = self.published.cached(id) {
            return Ok(stored);
        }
        let records = Records(self.parts.store.as_ref());
        match records.operation(id) {
            Ok(Some(stored)) => {
                let stored = Arc::new(stored);
                self.published.pin(&stored);
                Ok(stored)
            }
            Ok(None) => Err(super::handle::not_found()),
            Err(error) => Err(super::handle::unreadable(&error)),
        }
    }

    /// Appends events to an operation and takes the result into memory.
    pub(super) fn append(
        &mut self,
        before: Option<&Arc<Stored>>,
        events: Vec<Event>,
        by: &Actor,
    ) -> Result<Arc<Stored>, AppendError> {
        let at = self.now();
        let ids = Arc::clone(&self.parts.ids);
        let salt = move || ids.salt();
        let stamp = Stamp { at, by, salt: &salt };
        let after = self.group.append(&mut self.memory.head, before, events, &stamp)?;
        self.memory.take(before, &after);
        Ok(after)
    }

    pub(super) fn after_commit(&mut self, told: AfterCommit) {
        self.group.after.push(told);
    }

    /// Commits the pending group; then, and only then, publishes, answers and launches.
    fn commit(&mut self) {
        if self.group.is_empty() {
            self.group.members = 0;
            self.launch();
            return;
        }
        let mut group = std::mem::take(&mut self.group);
        let points = std::mem::take(&mut self.points);
        if group.writes() {
            let sealed = group.seal().map_err(|error| CommitError::NotWritten { what: error.to_string() });
            if let Err(error) = sealed.and_then(|()| self.parts.store.commit(group.batch())) {
                return self.failed(group, &error);
            }
        }
        self.published.release_runs();
        self.outcomes.clear();
        for point in points {
            failpoint::pass(point);
        }
        let operations = group.operations.into_values().collect();
        self.published.publish(operations, group.entries, self.memory.head.seq);
        for told in group.after {
            told(None);
        }
        self.launch();
    }

    fn launch(&mut self) {
        for launch in std::mem::take(&mut self.launches) {
            failpoint::pass("P3");
            launch.start(&self.parts, &self.published, &self.cache, &self.to_self, &self.runtime);
        }
    }

    /// Nothing of the group counts: everybody is told, nothing is launched, memory is read again from the store.
    fn failed(&mut self, group: Group, error: &CommitError) {
        tracing::error!(%error, members = group.after.len(), "a commit failed; its members are refused");
        self.published.release_runs();
        self.unlaunched.extend(self.launches.drain(..).map(|launch| launch.names()));
        let problem = match error {
            CommitError::Full { .. } => Problem::new(
                Code::StorageFull,
                "no space is left for the store; nothing was executed. Free space, then ask again",
            ),
            CommitError::VersionConflict(_)
            | CommitError::NotWritten { .. }
            | CommitError::MayBeWritten { .. }
            | CommitError::Dead { .. } => Problem::new(
                Code::Unavailable,
                "the store did not confirm; nothing was executed. Ask again with the same key",
            ),
        };
        // The first failure after a while is followed by a start at once; when that does not help, there is a pause.
        let again = self.failed_at.replace(Instant::now()).is_some_and(|last| last.elapsed() < FAILS_AGAIN);
        self.dead_since = Some(Instant::now());
        for told in group.after {
            told(Some(&problem));
        }
        if let CommitError::Full { .. } = error {
            // Outcomes must still be storable: the reserve is for them. New proposals stay refused.
            let _ = self.parts.store.release_reserve();
        }
        if !again {
            self.reopen();
        }
    }

    fn reopen_if_dead(&mut self) {
        if self.dead_since.is_some_and(|since| since.elapsed() >= REOPEN_EVERY) {
            self.reopen();
        }
    }

    /// Opens the store again and rebuilds memory from it. Attempts that were running when it failed stay what they are:
    /// their outcome is stored when it comes.
    fn reopen(&mut self) {
        let reopened = self.parts.store.reopen().map_err(|error| error.to_string());
        let rebuilt = reopened
            .and_then(|()| recovery::load(&self.parts, &self.published).map_err(|error| error.to_string()));
        match rebuilt {
            Ok(mut memory) => {
                memory.running = std::mem::take(&mut self.memory.running);
                memory.hold = memory.hold.or_else(|| self.memory.hold.take());
                self.memory = memory;
                self.dead_since = None;
                for outcome in std::mem::take(&mut self.outcomes) {
                    let _ = self.to_self.send(outcome);
                }
                self.settle_unlaunched();
                tracing::info!("the store is open again");
            }
            Err(error) => {
                tracing::error!(error, "the store cannot be opened; nothing is accepted");
                self.dead_since = Some(Instant::now());
            }
        }
    }
}

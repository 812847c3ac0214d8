//! The start: memory from the records, what was executing becomes unknown, and N starts are one start. Recovery is per
//! operation: one that cannot be read keeps its target busy, and the others go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use super::handle::Handle;
use super::memory::Memory;
use super::published::{Published, operation_of};
use super::toolcache::ToolCache;
use super::writer::Writer;
use super::{Parts, group::Group};
use crate::domain::ids::OperationId;
use crate::domain::journal::{Entry, Fact};
use crate::domain::operation::{Actor, Command, Event, Facts, State, TargetKey, decide};
use crate::domain::principal::Principal;
use crate::store::codec;
use crate::store::records::{RecordError, Records, Stored, decode_row, keys};
use crate::store::{CommitError, Range};

/// An operation that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Which.
    pub id: OperationId,
    /// What its record says instead.
    pub why: String,
    /// Its target, where the journal still names it; it stays busy.
    pub target: Option<TargetKey>,
}

/// What the start found.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// Operations that have not ended.
    pub open: u64,
    /// Those whose outcome was lost with the last process.
    pub lost: u64,
    /// Those that cannot be read.
    pub quarantined: Vec<Quarantined>,
    /// The wall clock is before the last recorded time.
    pub clock_is_behind: bool,
    /// Writes are held until the restore is accepted.
    pub held: bool,
}

/// Why the engine cannot start. Nothing was executed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The journal's end or the daemon's own record cannot be read.
    #[error("the store cannot be used: {0}. Run `writd verify`, then `writd recover` or import a backup")]
    Unreadable(#[from] RecordError),
    /// What was lost could not be recorded.
    #[error("the start could not be recorded: {0}")]
    Commit(#[from] CommitError),
    /// A record that belongs to the start could not be appended.
    #[error("the start could not be recorded: {0}")]
    Append(String),
    /// No thread for the writer.
    #[error("the writer could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Builds memory from the store and shows it to readers.
pub(super) fn load(parts: &Parts, published: &Published) -> Result<Memory, RecordError> {
    let mut report = RecoveryReport::default();
    load_with(parts, published, &mut report, &AtomicU64::new(0))
}

fn load_with(
    parts: &Parts,
    published: &Published,
    report: &mut RecoveryReport,
    progress: &AtomicU64,
) -> Result<Memory, RecordError> {
    let records = Records(parts.store.as_ref());
    let mut memory = Memory::default();
    memory.head = records.head()?;
    memory.meta = records.meta()?;
    let open = records.open()?;
    let mut shown = Vec::with_capacity(open.len());
    for (id, stored) in open {
        progress.fetch_add(1, Ordering::Relaxed);
        match stored {
            Ok(stored) => {
                let stored = Arc::new(stored);
                memory.take(None, &stored);
                shown.push(stored);
                report.open += 1;
            }
            Err(error) => quarantine(parts, &mut memory, report, id, error.to_string()),
        }
    }
    super::budgets::recall(parts, &mut memory, parts.clock.now())?;
    if memory.meta.0.held {
        memory.hold = Some("a backup was imported; run `writd restore accept`".to_owned());
        report.held = true;
    }
    published.begin_epoch(memory.meta.0.epoch);
    published.renew(shown, memory.head.seq);
    Ok(memory)
}

/// Its target stays busy. Where not even the target is known, nothing is executed at all.
fn quarantine(parts: &Parts, memory: &mut Memory, report: &mut RecoveryReport, id: OperationId, why: String) {
    tracing::error!(operation = %id, why, "an operation cannot be read; it is quarantined");
    let target = proposed_target(parts, id);
    match &target {
        Some(target) => drop(memory.quarantined.insert(target.clone(), id)),
        None => {
            memory.unreadable = Some(format!(
                "{id} cannot be read and its target is not known; run `writd verify`, then `writd recover`"
            ));
        }
    }
    report.quarantined.push(Quarantined { id, why, target });
}

/// The target from the journal's `proposed` entry. A scan: it is made only for damaged records.
fn proposed_target(parts: &Parts, id: OperationId) -> Option<TargetKey> {
    let rows = parts.store.scan(&Range::prefix(&keys::space(b'j')), usize::MAX).ok()?;
    rows.into_iter()
        .filter_map(|(key, record)| decode_row::<Vec<Entry>>(&key, record).ok())
        .flatten()
        .filter(|entry| operation_of(entry) == Some(id) && entry.payload_matches())
        .find_map(|entry| match codec::decode::<Fact>(&entry.payload).ok()? {
            Fact::Operation(Event::Proposed(proposal)) => Some(proposal.target_key()),
            Fact::Operation(_)
            | Fact::RunOpened(_)
            | Fact::RunEnded(_)
            | Fact::CatalogLoaded { .. }
            | Fact::ConfigurationLoaded { .. }
            | Fact::PolicyLoaded { .. }
            | Fact::Paused(_)
            | Fact::Resumed { .. }
            | Fact::Imported { .. }
            | Fact::RestoreAccepted { .. }
            | Fact::TokenCreated { .. }
            | Fact::TokenRevoked { .. }
            | Fact::RunTokenIssued(_) => None,
        })
}

/// Starts the engine: recovers, then runs the writer on a thread of its own.
///
/// # Errors
/// [`StartError`]; then nothing runs and nothing was executed.
pub fn start(
    parts: Parts,
    runtime: tokio::runtime::Handle,
    progress: &AtomicU64,
) -> Result<(Handle, RecoveryReport), StartError> {
    let mut report = RecoveryReport::default();
    let published = Arc::new(Published::new(0));
    let memory = load_with(&parts, &published, &mut report, progress)?;
    report.clock_is_behind = parts.clock.now() < memory.head.at;
    parts.clock.not_before(memory.head.at);
    let (sender, queue) = mpsc::channel();
    let cache = Arc::new(ToolCache::default());
    let mut writer = Writer {
        parts: parts.clone(),
        published: Arc::clone(&published),
        cache: Arc::clone(&cache),
        memory,
        group: Group::default(),
        launches: Vec::new(),
        to_self: sender.clone(),
        runtime,
        dead_since: None,
        failed_at: None,
        draining: false,
        points: Vec::new(),
        outcomes: Vec::new(),
        unlaunched: Vec::new(),
    };
    report.lost = writer.lose_what_was_executing()?;
    std::thread::Builder::new().name("writer".to_owned()).spawn(move || writer.run(&queue))?;
    Ok((Handle { parts, published, sender, cache, reloading: Arc::default() }, report))
}

impl Writer {
    /// What was executing when the last process ended is unknown. Waiting stays waiting.
    fn lose_what_was_executing(&mut self) -> Result<u64, StartError> {
        let executing: Vec<Arc<Stored>> = self
            .memory
            .operations
            .values()
            .filter(|stored| stored.operation.state == State::Executing)
            .cloned()
            .collect();
        let daemon = Principal::daemon();
        let mut lost = 0;
        for before in executing {
            let facts = Facts { now: self.now(), by: &daemon, jitter: 0 };
            let decided = decide(&before.operation, &Command::Restart, &facts);
            if decided.events.is_empty() {
                continue;
            }
            self.append(Some(&before), decided.events, &Actor::daemon())
                .map_err(|error| StartError::Append(error.to_string()))?;
            lost += 1;
        }
        let mut group = std::mem::take(&mut self.group);
        if group.writes() {
            group.seal().map_err(|error| StartError::Append(error.to_string()))?;
            self.parts.store.commit(group.batch())?;
            let operations = group.operations.into_values().collect();
            self.published.publish(operations, group.entries, self.memory.head.seq);
        }
        Ok(lost)
    }
}

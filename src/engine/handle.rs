//! What others hold of the engine: cheap to clone, no way to change anything but through messages to the writer.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Parts;
use super::message::Message;
use super::published::Published;
use super::toolcache::ToolCache;
pub(super) use super::unreadable::unreadable;
use crate::domain::Code;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::{Entry, Subject};
use crate::domain::operation::command::StatusAnswer;
use crate::domain::operation::{Answer, Body, Command, Proposal, Readback, State};
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::ports::Tool;
use crate::store::records::{Records, Stored, id_at_end, keys};
use crate::store::{Key, Range};

/// The engine, as others hold it.
#[derive(Clone)]
pub struct Handle {
    pub(super) parts: Parts,
    pub(super) published: Arc<Published>,
    pub(super) sender: mpsc::Sender<Message>,
    pub(super) cache: Arc<ToolCache>,
    /// Held while a catalog is exchanged.
    pub(super) reloading: Arc<tokio::sync::Mutex<()>>,
}

/// A command that was decided and stored.
#[derive(Clone, Debug)]
pub struct CommandDone {
    /// The operation after it.
    pub stored: Arc<Stored>,
    /// What was decided: done, or already so.
    pub answer: Answer,
}

/// Which operations, newest first.
#[derive(Clone, Debug, Default)]
pub struct PageQuery {
    /// Only those in one of these states; empty for all.
    pub states: Vec<State>,
    /// Only those older than this one.
    pub before: Option<OperationId>,
    /// At most so many.
    pub limit: usize,
}

/// A page of operations.
#[derive(Clone, Debug)]
pub struct Page {
    /// Newest first.
    pub operations: Vec<Arc<Stored>>,
    /// Where the next page begins.
    pub next: Option<OperationId>,
    /// Records that could not be read; they are on no page. `writd verify` names them.
    pub unreadable: u64,
}

impl Handle {
    /// What is synced.
    #[must_use]
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// What the engine is made of.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(super) fn records(&self) -> Records<'_> {
        Records(self.parts.store.as_ref())
    }

    /// The contract that an operation was proposed under.
    ///
    /// # Errors
    /// In words: its body is gone, damaged, or of a kind that this release cannot execute.
    pub fn tool_of(&self, proposal: &Proposal) -> Result<Arc<dyn Tool>, String> {
        self.cache.of(proposal, self.parts.tools.as_ref(), self.records()).map_err(|error| error.to_string())
    }

    pub(super) fn send(&self, message: Message) -> Result<(), Box<Problem>> {
        self.sender.send(message).map_err(|_| stopping())
    }

    pub(super) async fn ask<T>(
        &self,
        message: impl FnOnce(super::message::Reply<T>) -> Message,
    ) -> Result<T, Box<Problem>> {
        let (reply, answer) = oneshot::channel();
        self.send(message(reply))?;
        answer.await.map_err(|_| stopping())?
    }

    /// An operation that this principal may see. Absent and invisible are one answer, by one path.
    ///
    /// # Errors
    /// NOT_FOUND, or INTERNAL when its record cannot be read.
    pub fn operation(&self, id: OperationId, by: &Principal) -> Result<Arc<Stored>, Box<Problem>> {
        let stored = self.published.operation(self.records(), id).map_err(|error| unreadable(&error))?;
        stored.filter(|stored| visible(stored, by)).ok_or_else(not_found)
    }

    /// The bodies of an operation's proposal.
    ///
    /// # Errors
    /// INTERNAL when the record cannot be read.
    pub fn body(&self, id: OperationId) -> Result<Body, Box<Problem>> {
        self.records().body(id).map_err(|error| unreadable(&error))?.ok_or_else(not_found)
    }

    /// Somebody's command on an operation.
    ///
    /// # Errors
    /// The refusal, as a problem that carries the operation's state and effect.
    pub async fn command(
        &self,
        id: OperationId,
        command: Command,
        by: &Principal,
    ) -> Result<CommandDone, Box<Problem>> {
        self.operation(id, by)?;
        let reconcile = matches!(command, Command::Reconcile);
        let command = Box::new(command);
        let by = by.clone();
        let done = self.ask(|reply| Message::Command { id, command, by, reply }).await?;
        if reconcile && done.answer == Answer::Done {
            self.published.ask(id);
        }
        Ok(done)
    }

    /// Execute by id. A repeat after success answers with the stored result.
    ///
    /// # Errors
    /// The refusal or the reason to wait, as a problem.
    pub async fn commit(&self, id: OperationId, by: &Principal) -> Result<CommandDone, Box<Problem>> {
        self.operation(id, by)?;
        let by = by.clone();
        self.ask(|reply| Message::Commit { id, by, reply }).await
    }

    /// What the status protocol said, and what an independent read saw after a success.
    ///
    /// # Errors
    /// The engine is stopping.
    pub fn record_status(
        &self,
        id: OperationId,
        answer: StatusAnswer,
        readback: Option<Readback>,
    ) -> Result<(), Box<Problem>> {
        self.send(Message::Status { id, answer, readback })
    }

    /// Waits until the operation has changed since this many events, has ended, or the time is up; then its newest
    /// version.
    ///
    /// # Errors
    /// As [`Handle::operation`].
    pub async fn wait(
        &self,
        id: OperationId,
        by: &Principal,
        until: impl Fn(&Stored) -> bool,
        time: Duration,
    ) -> Result<Arc<Stored>, Box<Problem>> {
        let end = tokio::time::Instant::now() + time;
        loop {
            let stored = self.operation(id, by)?;
            if until(&stored) {
                return Ok(stored);
            }
            let changed = self.published.changed(id);
            let stored = self.operation(id, by)?;
            if until(&stored) || tokio::time::timeout_at(end, changed).await.is_err() {
                return self.operation(id, by);
            }
        }
    }

    /// All operations that have not ended and that this principal may see, in order of creation.
    #[must_use]
    pub fn open_operations(&self, by: &Principal) -> Vec<Arc<Stored>> {
        let mut open = self.published.open();
        open.retain(|stored| visible(stored, by));
        open
    }

    /// A page of operations that this principal may see.
    ///
    /// # Errors
    /// INTERNAL when the store cannot be read.
    pub fn page(&self, query: &PageQuery, by: &Principal) -> Result<Page, Box<Problem>> {
        let mut page = Page { operations: Vec::new(), next: None, unreadable: 0 };
        let (ids, cut) = self.candidates(query)?;
        let mut ids = ids.into_iter();
        let mut last = None;
        for id in ids.by_ref() {
            last = Some(id);
            match self.published.operation(self.records(), id) {
                Ok(Some(stored)) if visible(&stored, by) && wanted(&stored, query) => {
                    page.operations.push(stored);
                }
                Ok(_) => {}
                Err(_) => page.unreadable += 1,
            }
            if page.operations.len() >= query.limit {
                break;
            }
        }
        if cut || ids.next().is_some() {
            page.next = last;
        }
        Ok(page)
    }

    /// Ids newest first, and whether there are more than were looked at. Everything that is open is in memory; what has ended is indexed by state.
    fn candidates(&self, query: &PageQuery) -> Result<(Vec<OperationId>, bool), Box<Problem>> {
        // Pages of what somebody may not see are skipped in one go; more than this many are cut into further pages.
        let scan = query.limit.saturating_mul(8).saturating_add(64);
        let mut ids: Vec<OperationId> = Vec::new();
        let mut oldest_seen: Option<OperationId> = None;
        let mut take = |found: Vec<OperationId>, ids: &mut Vec<OperationId>| {
            // Of several cut scans, what is older than the youngest end is not complete and waits for the next page.
            if found.len() >= scan {
                oldest_seen = oldest_seen.max(found.last().copied());
            }
            ids.extend(found);
        };
        ids.extend(self.published.open().iter().map(|stored| stored.operation.id()));
        let by_index = |state: &State| keys::by_end(*state, OperationId::from_u128(0));
        if query.states.is_empty() || query.states.contains(&State::Succeeded) {
            take(self.scan_ids(&keys::space(b'o'), query.before, scan)?, &mut ids);
        } else {
            for first in query.states.iter().filter_map(by_index) {
                let prefix = Key::from_bytes(&first.as_bytes()[..2]).unwrap_or_else(|_| keys::space(b'e'));
                take(self.scan_ids(&prefix, query.before, scan)?, &mut ids);
            }
        }
        if let Some(before) = query.before {
            ids.retain(|id| *id < before);
        }
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.dedup();
        if let Some(oldest) = oldest_seen {
            ids.retain(|id| *id >= oldest);
        }
        Ok((ids, oldest_seen.is_some()))
    }

    fn scan_ids(
        &self,
        prefix: &Key,
        before: Option<OperationId>,
        limit: usize,
    ) -> Result<Vec<OperationId>, Box<Problem>> {
        let mut range = Range::prefix(prefix);
        range.reverse = true;
        if let Some(before) = before {
            let mut end = prefix.as_bytes().to_vec();
            end.extend_from_slice(&before.to_bytes());
            range.end = Key::from_bytes(&end).ok();
        }
        let rows = self.parts.store.scan(&range, limit).map_err(|error| unreadable(&error.into()))?;
        Ok(rows.iter().filter_map(|(key, _)| id_at_end(key)).collect())
    }

    /// The published history of an operation.
    ///
    /// # Errors
    /// As [`Handle::operation`].
    pub fn history(&self, id: OperationId, by: &Principal) -> Result<Vec<Entry>, Box<Problem>> {
        let stored = self.operation(id, by)?;
        let records = self.records();
        let mut entries = Vec::with_capacity(stored.history.len());
        for seq in &stored.history {
            match records.entry(*seq) {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => return Err(lost_entry(*seq)),
                Err(error) => return Err(unreadable(&error)),
            }
        }
        Ok(entries)
    }

    /// Published journal entries after a place, at most so many, that this principal may see; and the place to go on.
    ///
    /// # Errors
    /// INTERNAL when the journal cannot be read.
    pub fn journal(
        &self,
        after: u64,
        limit: usize,
        by: &Principal,
    ) -> Result<(Vec<Entry>, u64), Box<Problem>> {
        let head = self.published.head();
        let last = after.saturating_add(u64::try_from(limit).unwrap_or(u64::MAX)).min(head);
        let mut entries = Vec::new();
        for seq in after.saturating_add(1)..=last {
            match self.records().entry(seq) {
                Ok(Some(entry)) if self.sees(&entry, by) => entries.push(entry),
                Ok(Some(_)) => {}
                Ok(None) => return Err(lost_entry(seq)),
                Err(error) => return Err(unreadable(&error)),
            }
        }
        Ok((entries, last.max(after)))
    }

    /// Whether an entry may be shown to this principal.
    #[must_use]
    pub fn sees(&self, entry: &Entry, by: &Principal) -> bool {
        match entry.subject {
            Subject::Operation(id) => self.operation(id, by).is_ok(),
            Subject::Run(id) => self.run(id, by).is_ok(),
            Subject::System => by.has(Role::Operator) || by.has(Role::Admin) || by.has(Role::Auditor),
            Subject::Token(_) => super::tokens::sees_entry(entry, by),
        }
    }

    /// Releases the writes that an import holds. Answers with the epoch.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub async fn accept_restore(&self, by: &Principal) -> Result<u64, Box<Problem>> {
        let by = by.clone();
        self.ask(|reply| Message::AcceptRestore { by, reply }).await
    }

    /// Stops the writer after what is queued; running attempts get the grace time to store their outcome first.
    pub async fn stop(&self) {
        let _ = self.sender.send(Message::Drain);
        let end = tokio::time::Instant::now() + self.parts.limits.grace;
        while self.published.any_in_flight() && tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (reply, stopped) = oneshot::channel();
        if self.sender.send(Message::Stop { reply }).is_ok() {
            let _ = stopped.await;
        }
    }
}

fn wanted(stored: &Stored, query: &PageQuery) -> bool {
    query.states.is_empty() || query.states.contains(&stored.operation.state)
}

/// Who may see an operation: its tenant, and there its requester and everybody who decides, settles or audits; with the
/// token of a run, only those of the run.
#[must_use]
pub(super) fn visible(stored: &Stored, by: &Principal) -> bool {
    let proposal = &stored.operation.proposal;
    let requester = (proposal.requester.name.as_str(), proposal.on_behalf_of.as_deref());
    sees(by, &proposal.tenant, proposal.run, requester)
}

/// The one rule of visibility, for what belongs to a tenant, a run, and whoever asked for it for whom.
pub(super) fn sees(by: &Principal, tenant: &str, run: RunId, (name, user): (&str, Option<&str>)) -> bool {
    let wide = [Role::Approver, Role::Operator, Role::Auditor, Role::Admin].iter().any(|role| by.has(*role));
    // Who acts for one person does not see what it did for another, or for itself.
    let own = by.name == name && by.on_behalf_of.as_deref() == user;
    by.tenant == tenant && by.run.is_none_or(|only| only == run) && (wide || own)
}

pub(crate) fn not_found() -> Box<Problem> {
    Box::new(Problem::new(Code::NotFound, "there is no such thing, or it is not yours to see"))
}

fn lost_entry(seq: u64) -> Box<Problem> {
    tracing::error!(seq, "a journal entry is missing");
    Box::new(Problem::new(Code::Internal, "a journal entry is missing; run `writd verify`"))
}

pub(super) fn stopping() -> Box<Problem> {
    Box::new(Problem::new(Code::Unavailable, "the daemon is stopping; ask again when it is back"))
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("published", &self.published).finish_non_exhaustive()
    }
}

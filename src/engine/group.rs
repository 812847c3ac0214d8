//! The pending group: what the next commit writes. Members are decided against it one after the other; a member that is
//! refused leaves nothing in it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::ids::OperationId;
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Actor, Body, Event, IllegalEvent, Operation, Recorded, evolve};
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest, Time};
use crate::store::codec::{NotDecoded, encode};
use crate::store::records::{IdempotencyRecord, Stored, keys};
use crate::store::{Batch, Key, Record};

/// Told what became of the commit: `None` is durable.
pub(super) type AfterCommit = Box<dyn FnOnce(Option<&Problem>) + Send>;

/// The size of a page of the journal: the store cuts records into parts of somewhat under 4 KiB.
const PAGE_BYTES: usize = 3600;
/// What an entry holds beside its payload.
const ENTRY_OVERHEAD: usize = 180;

/// What the next commit writes and what follows from it.
#[derive(Default)]
pub(super) struct Group {
    batch: Batch,
    pub(super) entries: Vec<Entry>,
    pub(super) operations: HashMap<OperationId, Arc<Stored>>,
    pub(super) idempotency: HashMap<Digest, IdempotencyRecord>,
    pub(super) after: Vec<AfterCommit>,
    /// Members so far.
    pub(super) members: usize,
}

/// Why a member cannot be appended: a mistake of ours, never of the caller.
#[derive(Debug, thiserror::Error)]
pub(super) enum AppendError {
    #[error(transparent)]
    Illegal(#[from] IllegalEvent),
    #[error(transparent)]
    Encode(#[from] NotDecoded),
}

/// Who, when, and the salt of each entry.
pub(super) struct Stamp<'a> {
    pub(super) at: Time,
    pub(super) by: &'a Actor,
    pub(super) salt: &'a dyn Fn() -> [u8; 16],
}

impl Group {
    pub(super) fn is_empty(&self) -> bool {
        !self.writes() && self.after.is_empty()
    }

    pub(super) fn writes(&self) -> bool {
        !self.batch.is_empty() || !self.entries.is_empty()
    }

    pub(super) fn batch(&self) -> &Batch {
        &self.batch
    }

    fn edit(&mut self, change: impl FnOnce(Batch) -> Batch) {
        self.batch = change(std::mem::take(&mut self.batch));
    }

    /// Appends events to an operation: all or none. Answers with its new version.
    pub(super) fn append(
        &mut self,
        head: &mut Head,
        before: Option<&Arc<Stored>>,
        events: Vec<Event>,
        stamp: &Stamp<'_>,
    ) -> Result<Arc<Stored>, AppendError> {
        let mut operation: Option<Operation> = before.map(|stored| stored.operation.clone());
        let mut history = before.map(|stored| stored.history.clone()).unwrap_or_default();
        let mut entries = Vec::with_capacity(events.len());
        let mut end = *head;
        for event in events {
            let recorded = Recorded { at: stamp.at, by: stamp.by.clone(), event };
            let after = evolve(operation.as_ref(), &recorded)?;
            let subject = Subject::Operation(after.id());
            let entry = entry(&end, subject, after.events, &Fact::Operation(recorded.event), stamp)?;
            end = Head { seq: entry.seq, digest: entry.digest(), at: entry.at };
            history.push(entry.seq);
            entries.push(entry);
            operation = Some(after);
        }
        let Some(operation) = operation else {
            return Err(AppendError::Encode(NotDecoded { what: "no events".to_owned() }));
        };
        let stored = Arc::new(Stored { operation, history });
        self.put_operation(before, &stored)?;
        self.entries.extend(entries);
        *head = end;
        self.operations.insert(stored.operation.id(), Arc::clone(&stored));
        Ok(stored)
    }

    fn put_operation(&mut self, before: Option<&Arc<Stored>>, after: &Arc<Stored>) -> Result<(), NotDecoded> {
        let operation = &after.operation;
        let id = operation.id();
        let payload = encode(after.as_ref())?;
        let version = u64::from(operation.events);
        let expected = before.map_or(0, |before| u64::from(before.operation.events));
        let old_state = before.map(|before| before.operation.state);
        let (key, old) =
            (keys::operation(operation.state, id), old_state.map(|state| keys::operation(state, id)));
        self.edit(|batch| {
            let moved = old.filter(|old| *old != key);
            let batch = match moved {
                Some(old) => batch.delete_if(old, expected).put(key, Record { version, payload }),
                None => batch.expect(key.clone(), expected).put(key, Record { version, payload }),
            };
            let indexed = keys::by_end(operation.state, id);
            let was_indexed = old_state.and_then(|state| keys::by_end(state, id));
            match (was_indexed, indexed) {
                (was, is) if was == is => batch,
                (Some(was), Some(is)) => batch.delete(was).put(is, marker()),
                (Some(was), None) => batch.delete(was),
                (None, Some(is)) => batch.put(is, marker()),
                (None, None) => batch,
            }
        });
        Ok(())
    }

    /// Packs the entries into pages: a record costs more than its bytes.
    pub(super) fn seal(&mut self) -> Result<(), NotDecoded> {
        let mut rest = self.entries.as_slice();
        let mut pages = Vec::new();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest
                .iter()
                .take_while(|entry| {
                    bytes += entry.payload.len() + ENTRY_OVERHEAD;
                    bytes <= PAGE_BYTES
                })
                .count()
                .max(1);
            let (page, after) = rest.split_at(fit);
            pages.push((keys::page(page[0].seq), encode(&page)?));
            rest = after;
        }
        for (key, payload) in pages {
            self.edit(|batch| batch.put(key, Record { version: 1, payload }));
        }
        Ok(())
    }

    /// Appends an entry that is not about an operation.
    pub(super) fn append_fact(
        &mut self,
        head: &mut Head,
        subject: Subject,
        number: u32,
        fact: &Fact,
        stamp: &Stamp<'_>,
    ) -> Result<(), AppendError> {
        let entry = entry(head, subject, number, fact, stamp)?;
        let end = Head { seq: entry.seq, digest: entry.digest(), at: entry.at };
        self.entries.push(entry);
        *head = end;
        Ok(())
    }

    pub(super) fn put_body(&mut self, id: OperationId, body: &Body) -> Result<(), AppendError> {
        let payload = encode(body)?;
        self.edit(|batch| batch.put(keys::body(id), Record { version: 1, payload }));
        Ok(())
    }

    pub(super) fn put_contract(&mut self, fingerprint: Digest, body: &[u8]) {
        let record = Record { version: 1, payload: body.to_vec() };
        self.edit(|batch| batch.put(keys::contract(fingerprint), record));
    }

    pub(super) fn put_idempotency(
        &mut self,
        scope: Digest,
        record: IdempotencyRecord,
    ) -> Result<(), AppendError> {
        let payload = encode(&record)?;
        self.edit(|batch| batch.put(keys::idempotency(scope), Record { version: 1, payload }));
        self.idempotency.insert(scope, record);
        Ok(())
    }

    /// Writes a versioned record of another kind.
    pub(super) fn put<T: serde::Serialize>(
        &mut self,
        key: Key,
        expected: u64,
        value: &T,
    ) -> Result<(), AppendError> {
        let payload = encode(value)?;
        self.edit(|batch| batch.put_if(key, expected, payload));
        Ok(())
    }
}

/// An index entry: its key says everything.
fn marker() -> Record {
    Record { version: 1, payload: Vec::new() }
}

fn entry(
    head: &Head,
    subject: Subject,
    number: u32,
    fact: &Fact,
    stamp: &Stamp<'_>,
) -> Result<Entry, NotDecoded> {
    let payload = encode(fact)?;
    let salt = (stamp.salt)();
    Ok(Entry {
        seq: head.seq.saturating_add(1),
        at: stamp.at,
        by: stamp.by.clone(),
        subject,
        number,
        name: fact.name().to_owned(),
        commitment: Entry::commit(&salt, &payload),
        before: head.digest,
        salt,
        payload,
    })
}

/// An append that failed because of us.
pub(super) fn internal(error: &AppendError) -> Box<Problem> {
    tracing::error!(%error, "a decision could not be appended; nothing was changed");
    Box::new(Problem::new(Code::Internal, "the decision could not be recorded; nothing was changed"))
}

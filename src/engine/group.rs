//! The pending group: what the next commit writes. Members are decided against it one after the other; a member that is
//! refused leaves nothing in it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Actor, Body, Event, IllegalEvent, Operation, RawAnswer, Recorded, evolve};
use crate::domain::problem::Problem;
use crate::domain::token::{RunToken, Token};
use crate::domain::{Code, Digest, Time};
use crate::store::append::{self, Header};
use crate::store::codec::{NotDecoded, encode};
use crate::store::records::{IdempotencyRecord, Stored, keys};
use crate::store::{Batch, Key, Record, VersionMismatch};

/// Told what became of the commit: `None` is durable.
pub(super) type AfterCommit = Box<dyn FnOnce(Option<&Problem>) + Send>;

/// What the next commit writes and what follows from it.
#[derive(Default)]
pub(super) struct Group {
    batch: Batch,
    pub(super) entries: Vec<Entry>,
    pub(super) operations: HashMap<OperationId, Arc<Stored>>,
    pub(super) idempotency: HashMap<Digest, IdempotencyRecord>,
    /// Tokens that this group writes, with the versions of their records.
    pub(super) tokens: HashMap<Digest, (Token, u64)>,
    pub(super) run_tokens: HashMap<RunId, (RunToken, u64)>,
    /// Operations whose body is written by this group.
    pub(super) bodies: HashSet<OperationId>,
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
    #[error(transparent)]
    Conflict(#[from] VersionMismatch),
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
            end = append::head_of(&entry);
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

    fn put_operation(
        &mut self,
        before: Option<&Arc<Stored>>,
        after: &Arc<Stored>,
    ) -> Result<(), AppendError> {
        let member = append::operation(before.map(AsRef::as_ref), after)?;
        // A member may follow one that has moved the record in this same group: what it expects is then about the
        // group, and the store knows nothing of it yet.
        Ok(self.batch.join(member)?)
    }

    /// Packs the entries into pages.
    pub(super) fn seal(&mut self) -> Result<(), NotDecoded> {
        for (key, record) in append::pages(&self.entries)? {
            self.edit(|batch| batch.put(key, record));
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
        let end = append::head_of(&entry);
        self.entries.push(entry);
        *head = end;
        Ok(())
    }

    pub(super) fn put_body(&mut self, id: OperationId, body: &Body) -> Result<(), AppendError> {
        let payload = encode(body)?;
        self.edit(|batch| batch.put(keys::body(id), Record { version: 1, payload }));
        self.bodies.insert(id);
        Ok(())
    }

    pub(super) fn put_raw(&mut self, id: OperationId, raw: &RawAnswer) -> Result<(), AppendError> {
        let payload = encode(raw)?;
        self.edit(|batch| batch.put(keys::raw(id), Record { version: 1, payload }));
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

fn entry(
    head: &Head,
    subject: Subject,
    number: u32,
    fact: &Fact,
    stamp: &Stamp<'_>,
) -> Result<Entry, NotDecoded> {
    append::entry(head, Header { at: stamp.at, by: stamp.by, subject, number, salt: (stamp.salt)() }, fact)
}

/// An append that failed because of us.
pub(super) fn internal(error: &AppendError) -> Box<Problem> {
    tracing::error!(%error, "a decision could not be appended; nothing was changed");
    Box::new(Problem::new(Code::Internal, "the decision could not be recorded; nothing was changed"))
}

#[cfg(test)]
mod tests;

//! From the damaged store to the fresh one: what is readable is copied, what the journal can tell is made anew, the rest
//! is listed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{MaintenanceError, walk};
use super::{Lost, RecoverReport};
use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Body, Operation, RawAnswer, Recorded, evolve};
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Token};
use crate::store::records::{IdempotencyRecord, Meta, Records, Stored, decode_row, id_at_end, keys};
use crate::store::{Batch, Damage, Key, ReadError, Record, Store, append, codec};

/// Records of one commit.
const PER_COMMIT: usize = 256;

/// What the fresh store continues.
pub(super) struct Saved {
    pub(super) head: Head,
    pub(super) meta: (Meta, u64),
}

/// What the journal tells of something that has no readable record.
enum Told {
    Operation {
        operation: Box<Operation>,
        history: Vec<u64>,
    },
    /// An event of it is lost.
    Broken,
}

/// What is done with a row.
type Take<'a> = fn(&mut Salvage<'a>, Key, Result<Record, Damage>) -> Result<(), MaintenanceError>;

pub(super) struct Salvage<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    report: &'a mut RecoverReport,
    batch: Batch,
    /// Operations with a readable record, and runs.
    readable: BTreeSet<OperationId>,
    runs: BTreeSet<RunId>,
    /// Operations whose record is there and cannot be read, and whether it lies among the open ones.
    damaged: BTreeMap<OperationId, bool>,
    told: BTreeMap<OperationId, Told>,
    told_runs: BTreeMap<RunId, Run>,
    told_meta: Meta,
    head: Head,
    /// The highest place that a record names.
    named: u64,
}

impl<'a> Salvage<'a> {
    pub(super) fn new(from: &'a dyn Store, to: &'a dyn Store, report: &'a mut RecoverReport) -> Salvage<'a> {
        Salvage {
            from,
            to,
            report,
            batch: Batch::new(),
            readable: BTreeSet::new(),
            runs: BTreeSet::new(),
            damaged: BTreeMap::new(),
            told: BTreeMap::new(),
            told_runs: BTreeMap::new(),
            told_meta: Meta::default(),
            head: Head::default(),
            named: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<Saved, MaintenanceError> {
        // Ended ones first: of an operation that is stored twice the one that went further is kept.
        self.each(b'o', "ended operations", Salvage::operation)?;
        self.each(b'p', "open operations", Salvage::operation)?;
        self.each(b'r', "runs", Salvage::run_record)?;
        self.each(b'b', "bodies", |salvage, key, record| salvage.copy::<Body>("the bodies of", key, record))?;
        self.each(b'q', "kept answers", |salvage, key, record| {
            salvage.copy::<RawAnswer>("a kept answer of", key, record)
        })?;
        self.each(b'c', "contracts", Salvage::contract)?;
        self.each(b'i', "remembered keys", |salvage, key, record| {
            salvage.copy::<IdempotencyRecord>("an Idempotency-Key (a repeat will not find it):", key, record)
        })?;
        self.each(b't', "tokens", |salvage, key, record| salvage.copy::<Token>("a token:", key, record))?;
        self.each(b'u', "tokens of runs", |salvage, key, record| {
            salvage.copy::<RunToken>("the token of a run:", key, record)
        })?;
        self.each(b'j', "the journal", Salvage::page)?;
        self.rebuild()?;
        self.commit()?;
        let meta = match Records(self.from).meta() {
            Ok(meta) => meta,
            Err(error) => {
                self.lose("the daemon's own record", format!("{error}; made anew from the journal"));
                (self.told_meta.clone(), 1)
            }
        };
        // Places that records name are never given to other entries.
        let head = Head { seq: self.head.seq.max(self.named), ..self.head };
        Ok(Saved { head, meta })
    }

    fn each(&mut self, space: u8, what: &str, take: Take<'a>) -> Result<(), MaintenanceError> {
        let from = self.from;
        let walked = walk::rows(from, &keys::space(space), |key, record| take(self, key, record));
        match walked {
            Err(MaintenanceError::Read(error @ (ReadError::Page { .. } | ReadError::Io { .. }))) => {
                self.lose(what, format!("{error}; what follows of them is not read"));
                // An engine that has met an error answers again only when it is opened again.
                from.reopen()?;
                Ok(())
            }
            other => other,
        }
    }

    fn lose(&mut self, what: impl ToString, why: impl ToString) {
        self.report.lost.push(Lost { what: what.to_string(), why: why.to_string() });
    }

    fn put(&mut self, key: Key, record: Record) -> Result<(), MaintenanceError> {
        self.batch = std::mem::take(&mut self.batch).put(key, record);
        if self.batch.len() >= PER_COMMIT { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), MaintenanceError> {
        Ok(self.to.commit(&std::mem::take(&mut self.batch))?)
    }

    fn copy<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &str,
        key: Key,
        record: Result<Record, Damage>,
    ) -> Result<(), MaintenanceError> {
        match decode_row::<T>(&key, record.clone()) {
            Ok(_) => self.copy_raw(key, record),
            Err(error) => {
                let name = id_at_end(&key).filter(|_| key.as_bytes().len() == 17);
                self.lose(
                    format!("{what} {}", name.map_or_else(|| key.to_string(), |id| id.to_string())),
                    error,
                );
                Ok(())
            }
        }
    }

    fn copy_raw(&mut self, key: Key, record: Result<Record, Damage>) -> Result<(), MaintenanceError> {
        let Ok(record) = record else { return Ok(()) };
        self.report.copied += 1;
        self.put(key, record)
    }

    fn contract(&mut self, key: Key, record: Result<Record, Damage>) -> Result<(), MaintenanceError> {
        match &record {
            Ok(found) if keys::contract(crate::domain::Digest::of(&found.payload)) == key => {
                self.copy_raw(key, record)
            }
            Ok(_) | Err(_) => {
                self.lose(format!("a contract: {key}"), "it is not what its fingerprint names");
                Ok(())
            }
        }
    }

    fn operation(&mut self, key: Key, record: Result<Record, Damage>) -> Result<(), MaintenanceError> {
        let is_open = key.as_bytes().first() == Some(&b'p');
        let stored: Stored = match decode_row(&key, record) {
            Ok(stored) => stored,
            Err(_) => {
                if let Some(id) = id_at_end(&key) {
                    self.damaged.insert(id, is_open);
                }
                return Ok(());
            }
        };
        let id = stored.operation.id();
        self.damaged.remove(&id);
        if !self.readable.insert(id) {
            // Stored as open and as ended: the ended one went further.
            return Ok(());
        }
        self.report.copied += 1;
        self.named = self.named.max(stored.history.last().copied().unwrap_or(0));
        self.keep(&stored)
    }

    fn keep(&mut self, stored: &Stored) -> Result<(), MaintenanceError> {
        self.batch.join(append::operation(None, stored)?)?;
        if self.batch.len() >= PER_COMMIT { self.commit() } else { Ok(()) }
    }

    fn run_record(&mut self, key: Key, record: Result<Record, Damage>) -> Result<(), MaintenanceError> {
        // One that cannot be read is made anew from the journal, or listed there.
        let Ok(run) = decode_row::<Run>(&key, record.clone()) else { return Ok(()) };
        self.runs.insert(run.id);
        self.copy_raw(key, record)
    }

    fn page(&mut self, key: Key, record: Result<Record, Damage>) -> Result<(), MaintenanceError> {
        let page: Vec<Entry> = match decode_row(&key, record.clone()) {
            Ok(page) => page,
            Err(error) => {
                self.lose(format!("a page of the journal: {key}"), error);
                return Ok(());
            }
        };
        for entry in &page {
            let expected = self.head.seq.saturating_add(1);
            if entry.seq != expected {
                let last = entry.seq.saturating_sub(1);
                self.lose(
                    format!("entries {expected} to {last} of the journal"),
                    "no readable page has them",
                );
            }
            self.head = append::head_of(entry);
            self.hear(entry);
        }
        self.copy_raw(key, record)
    }

    /// What an entry tells of things without a readable record.
    fn hear(&mut self, entry: &Entry) {
        let fact = (!entry.is_erased() && entry.payload_matches())
            .then(|| codec::decode::<Fact>(&entry.payload).ok())
            .flatten();
        match (entry.subject, fact) {
            (Subject::Operation(id), fact) if !self.readable.contains(&id) => {
                self.hear_event(id, entry, fact)
            }
            (Subject::Run(id), Some(Fact::RunOpened(run))) if !self.runs.contains(&id) => {
                self.told_runs.insert(id, *run);
            }
            (Subject::Run(id), Some(Fact::RunEnded(end))) => {
                if let Some(run) = self.told_runs.get_mut(&id) {
                    run.ended = Some((entry.at, end));
                }
            }
            (Subject::System, Some(fact)) => self.told_meta.hear(&fact),
            _ => {}
        }
    }

    fn hear_event(&mut self, id: OperationId, entry: &Entry, fact: Option<Fact>) {
        let before = match self.told.remove(&id) {
            Some(Told::Operation { operation, history }) => Some((operation, history)),
            Some(Told::Broken) => {
                self.told.insert(id, Told::Broken);
                return;
            }
            None => None,
        };
        let expected = before.as_ref().map_or(0, |(operation, _)| operation.events).saturating_add(1);
        let evolved = match fact {
            Some(Fact::Operation(event)) if entry.number == expected => {
                let recorded = Recorded { at: entry.at, by: entry.by.clone(), event };
                evolve(before.as_ref().map(|(operation, _)| operation.as_ref()), &recorded).ok()
            }
            _ => None,
        };
        let told = match evolved.filter(|operation| operation.id() == id) {
            Some(operation) => {
                let mut history = before.map(|(_, history)| history).unwrap_or_default();
                history.push(entry.seq);
                Told::Operation { operation: Box::new(operation), history }
            }
            None => Told::Broken,
        };
        self.told.insert(id, told);
    }

    fn rebuild(&mut self) -> Result<(), MaintenanceError> {
        for (id, run) in std::mem::take(&mut self.told_runs) {
            let version = if run.ended.is_some() { 2 } else { 1 };
            self.put(keys::run(id), Record { version, payload: codec::encode(&run)? })?;
            self.report.rebuilt.push(id.to_string());
        }
        let mut rest = std::mem::take(&mut self.damaged);
        for (id, told) in std::mem::take(&mut self.told) {
            match told {
                Told::Operation { operation, history } => {
                    rest.remove(&id);
                    self.keep(&Stored { operation: *operation, history })?;
                    self.report.rebuilt.push(id.to_string());
                }
                // Its record may be gone without a trace: it counts as open.
                Told::Broken => {
                    rest.entry(id).or_insert(true);
                }
            }
        }
        for (id, is_open) in rest {
            self.lose(id, "its record cannot be read, and the journal does not have all its events");
            let key = if is_open { keys::open(id) } else { keys::ended(id) };
            // Not a record, on purpose: the daemon quarantines it and keeps its target busy.
            self.put(key, append::marker())?;
            self.report.quarantined.push(id);
        }
        Ok(())
    }
}

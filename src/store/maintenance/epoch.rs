//! The begin of a new epoch: the store was brought back, and the world may have moved on since. Every approval in it is
//! void, what has not ended is unknown until it is asked by key, and writes are held until somebody accepts.

use super::MaintenanceError;
use crate::domain::ids::OperationId;
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Actor, Command, Facts, Recorded, decide, evolve};
use crate::domain::principal::Principal;
use crate::domain::{Digest, Time};
use crate::store::append::{self, Header};
use crate::store::codec::{NotDecoded, encode};
use crate::store::records::{Meta, RecordError, Records, Stored, keys};
use crate::store::{Batch, Record, Store};

/// Operations of one commit: bounds a batch.
const PER_COMMIT: usize = 256;

/// What began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Begun {
    pub(super) epoch: u64,
    /// Operations that are unknown now.
    pub(super) restored: u64,
    /// The head afterwards.
    pub(super) head: Head,
}

/// Begins a new epoch behind `head`. The store must not be in use yet: a kill on the way leaves half of it.
pub(super) fn begin(
    store: &dyn Store,
    head: Head,
    (meta, version): (Meta, u64),
    now: Time,
) -> Result<Begun, MaintenanceError> {
    let mut pen = Pen { head, now, batch: Batch::new(), entries: Vec::new() };
    let epoch = meta.epoch.saturating_add(1);
    pen.write(Subject::System, 0, &Fact::Imported { epoch, head: head.digest })?;
    let held = Meta { epoch, held: true, ..meta };
    let record = Record { version: version.saturating_add(1), payload: encode(&held)? };
    pen.batch = std::mem::take(&mut pen.batch).put(keys::meta(), record);
    let open: Vec<OperationId> = Records(store).open()?.into_iter().map(|(id, _)| id).collect();
    let mut restored = 0;
    for ids in open.chunks(PER_COMMIT) {
        for id in ids {
            match Records(store).operation(*id) {
                Ok(Some(stored)) => restored += pen.restore(&stored, epoch)?,
                Ok(None) => {}
                // What cannot be read stays in quarantine.
                Err(RecordError::Decode { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        pen.commit(store)?;
    }
    pen.commit(store)?;
    Ok(Begun { epoch, restored, head: pen.head })
}

struct Pen {
    head: Head,
    now: Time,
    batch: Batch,
    entries: Vec<Entry>,
}

impl Pen {
    fn write(&mut self, subject: Subject, number: u32, fact: &Fact) -> Result<u64, NotDecoded> {
        let by = Actor::daemon();
        let header = Header { at: self.now, by: &by, subject, number, salt: salt() };
        let entry = append::entry(&self.head, header, fact)?;
        self.head = append::head_of(&entry);
        self.entries.push(entry);
        Ok(self.head.seq)
    }

    fn restore(&mut self, before: &Stored, epoch: u64) -> Result<u64, MaintenanceError> {
        let daemon = Principal::daemon();
        // No clock is asked: what a clock would end here may have been executed after the backup was made, and ends only
        // by evidence.
        let facts = Facts { now: Time::default(), by: &daemon, jitter: 0 };
        let decided = decide(&before.operation, &Command::Restore { epoch }, &facts);
        let mut after = before.clone();
        let id = before.operation.id();
        for event in decided.events {
            let recorded = Recorded { at: self.now, by: Actor::daemon(), event };
            let evolved = evolve(Some(&after.operation), &recorded);
            after.operation = evolved.map_err(|error| NotDecoded { what: error.to_string() })?;
            let number = after.operation.events;
            let seq = self.write(Subject::Operation(id), number, &Fact::Operation(recorded.event))?;
            after.history.push(seq);
        }
        if after.operation.events == before.operation.events {
            return Ok(0);
        }
        self.batch.join(append::operation(Some(before), &after)?)?;
        Ok(1)
    }

    fn commit(&mut self, store: &dyn Store) -> Result<(), MaintenanceError> {
        let mut batch = std::mem::take(&mut self.batch);
        for (key, record) in append::pages(&std::mem::take(&mut self.entries))? {
            batch = batch.put(key, record);
        }
        if !batch.is_empty() {
            store.commit(&batch)?;
        }
        Ok(())
    }
}

/// Two UUIDs, hashed: no bit of a salt is fixed.
fn salt() -> [u8; 16] {
    let digest = Digest::of_parts(&[uuid::Uuid::new_v4().as_bytes(), uuid::Uuid::new_v4().as_bytes()]);
    let mut salt = [0; 16];
    salt.copy_from_slice(&digest.0[..16]);
    salt
}

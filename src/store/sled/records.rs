//! Records in sled's tree: put together from their parts, checked, and split again.

use super::super::batch::{Batch, Record, VersionMismatch};
use super::super::error::{CommitError, Damage, ReadError};
use super::super::key::Key;
use super::super::{MAX_KEY_BYTES, MAX_PAYLOAD_BYTES, frame};
use super::fault::Fault;
use super::layout;

/// Refuses keys and records that are too long.
pub(super) fn refuse_sizes(batch: &Batch) -> Result<(), CommitError> {
    for (key, record) in batch.writes() {
        let bytes = record.map_or(0, |record| record.payload.len());
        if bytes > MAX_PAYLOAD_BYTES || !(1..=MAX_KEY_BYTES).contains(&key.as_bytes().len()) {
            let what = format!(
                "{key}: a key has 1 to {MAX_KEY_BYTES} bytes, a record at most {MAX_PAYLOAD_BYTES}, this one {bytes}"
            );
            return Err(CommitError::NotWritten { what });
        }
    }
    Ok(())
}

/// The framed bytes at a key, put together from their parts.
pub(super) fn assemble(db: &::sled::Db, key: &Key, head: &[u8]) -> Result<Result<Record, Damage>, Fault> {
    let whole_len = match frame::whole_len(head) {
        Ok(whole_len) => whole_len,
        Err(damage) => return Ok(Err(damage)),
    };
    let parts = layout::parts_of(whole_len);
    if parts == 1 {
        return Ok(frame::decode(key, head));
    }
    let mut bytes = head.to_vec();
    for number in 1..parts {
        match db.get(layout::part_key(key, number))? {
            Some(part) => bytes.extend_from_slice(&part),
            // A wrong length in the head ends here, not in an allocation of that size.
            None => return Ok(Err(Damage::MissingPart(number))),
        }
    }
    Ok(frame::decode(key, &bytes))
}

/// The record at a key.
pub(super) fn lookup(db: &::sled::Db, key: &Key) -> Result<Option<Result<Record, Damage>>, Fault> {
    match db.get(layout::head_key(key))? {
        Some(head) => assemble(db, key, &head).map(Some),
        None => Ok(None),
    }
}

/// Checks what the batch expects of the store.
pub(super) fn check_expects(db: &::sled::Db, batch: &Batch) -> Result<Result<(), CommitError>, Fault> {
    for (key, expected) in batch.expects() {
        let actual = match lookup(db, key)? {
            None => 0,
            Some(Ok(record)) => record.version,
            Some(Err(damage)) => {
                let what = ReadError::of_record(key, damage).to_string();
                return Ok(Err(CommitError::NotWritten { what }));
            }
        };
        if actual != expected {
            return Ok(Err(VersionMismatch { key: key.clone(), expected, actual }.into()));
        }
    }
    Ok(Ok(()))
}

/// Turns the batch into sled's. Reads the page of every head that it will touch, so that a damaged one is met now and
/// not in the middle of applying: sled then writes the first half of the batch as if it were whole.
pub(super) fn collect(db: &::sled::Db, batch: &Batch) -> Result<::sled::Batch, Fault> {
    let mut writes = ::sled::Batch::default();
    for (key, record) in batch.writes() {
        let new_parts = match record {
            Some(record) => put(&mut writes, key, record),
            None => {
                writes.remove(layout::head_key(key));
                1
            }
        };
        drop_stale_parts(db, &mut writes, key, new_parts)?;
    }
    Ok(writes)
}

/// Adds a record's parts; says how many.
fn put(writes: &mut ::sled::Batch, key: &Key, record: &Record) -> usize {
    let bytes = frame::encode(key, record);
    let (head, rest) = bytes.split_at(bytes.len().min(layout::PART_BYTES));
    writes.insert(layout::head_key(key), head);
    let mut parts = 1;
    for part in rest.chunks(layout::PART_BYTES) {
        writes.insert(layout::part_key(key, parts), part);
        parts += 1;
    }
    parts
}

/// Removes the parts of the old record that the new one does not overwrite.
fn drop_stale_parts(
    db: &::sled::Db,
    writes: &mut ::sled::Batch,
    key: &Key,
    new_parts: usize,
) -> Result<(), Fault> {
    let Some(head) = db.get(layout::head_key(key))? else { return Ok(()) };
    match frame::whole_len(&head) {
        Ok(whole_len) if layout::parts_of(whole_len) <= new_parts => Ok(()),
        // The old head may lie about its length, so look for what is there.
        Ok(_) | Err(_) => {
            for found in db.scan_prefix(layout::parts_prefix(key)).keys() {
                let found = found?;
                if found.as_ref() >= layout::part_key(key, new_parts).as_slice() {
                    writes.remove(found);
                }
            }
            Ok(())
        }
    }
}

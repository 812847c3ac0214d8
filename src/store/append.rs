//! What an append writes: entries, pages of the journal, the record of an operation and its index. One definition for
//! the group commit of the engine and for the offline tools; nothing else writes these records.

use super::codec::{NotDecoded, encode};
use super::records::{Stored, keys};
use super::{Batch, Key, Record};
use crate::domain::Time;
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::Actor;

/// The size of a page of the journal: the store cuts records into parts of somewhat under 4 KiB.
const PAGE_BYTES: usize = 3600;
/// What an entry holds beside its payload.
const ENTRY_OVERHEAD: usize = 180;

/// About what an entry is, who made it and when.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// When.
    pub at: Time,
    /// Who.
    pub by: &'a Actor,
    /// About what.
    pub subject: Subject,
    /// Its place among the entries of its subject; zero for the daemon itself.
    pub number: u32,
    /// Drawn for this entry.
    pub salt: [u8; 16],
}

/// The entry that follows `head`.
///
/// # Errors
/// The fact cannot be encoded.
pub fn entry(head: &Head, header: Header<'_>, fact: &Fact) -> Result<Entry, NotDecoded> {
    let payload = encode(fact)?;
    Ok(Entry {
        seq: head.seq.saturating_add(1),
        at: header.at,
        by: header.by.clone(),
        subject: header.subject,
        number: header.number,
        name: fact.name().to_owned(),
        commitment: Entry::commit(&header.salt, &payload),
        before: head.digest,
        salt: header.salt,
        payload,
    })
}

/// The head of a journal that ends with this entry.
#[must_use]
pub fn head_of(entry: &Entry) -> Head {
    Head { seq: entry.seq, digest: entry.digest(), at: entry.at }
}

/// Entries packed into pages, in order: a record costs more than its bytes.
///
/// # Errors
/// An entry cannot be encoded.
pub fn pages(entries: &[Entry]) -> Result<Vec<(Key, Record)>, NotDecoded> {
    let mut rest = entries;
    let mut pages = Vec::new();
    while let Some(first) = rest.first() {
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
        pages.push((keys::page(first.seq), Record { version: 1, payload: encode(&page)? }));
        rest = after;
    }
    Ok(pages)
}

/// The member of a batch that writes an operation after events: its record where it belongs now, and its place in the
/// index of ends. Join it to the batch: what it expects may be about an earlier member.
///
/// # Errors
/// The record cannot be encoded.
pub fn operation(before: Option<&Stored>, after: &Stored) -> Result<Batch, NotDecoded> {
    let operation = &after.operation;
    let id = operation.id();
    let record = Record { version: u64::from(operation.events), payload: encode(after)? };
    let expected = before.map_or(0, |before| u64::from(before.operation.events));
    let old_state = before.map(|before| before.operation.state);
    let key = keys::operation(operation.state, id);
    let moved = old_state.map(|state| keys::operation(state, id)).filter(|old| *old != key);
    let member = match moved {
        Some(old) => Batch::new().delete_if(old, expected).put(key, record),
        None => Batch::new().expect(key.clone(), expected).put(key, record),
    };
    let indexed = keys::by_end(operation.state, id);
    let was_indexed = old_state.and_then(|state| keys::by_end(state, id));
    Ok(match (was_indexed, indexed) {
        (was, is) if was == is => member,
        (Some(was), Some(is)) => member.delete(was).put(is, marker()),
        (Some(was), None) => member.delete(was),
        (None, Some(is)) => member.put(is, marker()),
        (None, None) => member,
    })
}

/// An index entry: its key says everything.
#[must_use]
pub fn marker() -> Record {
    Record { version: 1, payload: Vec::new() }
}

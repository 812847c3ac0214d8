//! The second pass over everything that is not an operation: runs, bodies, contracts, the index of ends, remembered
//! keys, the daemon's own record, and what is none of these.

use super::ledger::{Ledger, run_digest};
use super::{tokens, tolerate};
use crate::domain::Digest;
use crate::domain::operation::{Body, RawAnswer};
use crate::domain::run::Run;
use crate::store::maintenance::finding::FindingCode;
use crate::store::maintenance::walk;
use crate::store::records::{Created, IdempotencyRecord, RecordError, decode_row, id_at_end, keys};
use crate::store::{Damage, Key, Range, ReadError, Record};

/// The kinds of records that there are.
const SPACES: &[u8] = b"bceijmopqrtu";

/// Reads one row.
type Look = fn(&mut Ledger<'_>, &Key, Result<Record, Damage>) -> Result<(), ReadError>;

pub(super) fn walk(ledger: &mut Ledger<'_>) -> Result<(), ReadError> {
    let store = ledger.store;
    let looks: [(u8, &str, Look); 8] = [
        (b'r', "runs", run),
        (b'b', "bodies", body),
        (b'q', "kept answers", raw),
        (b'c', "contracts", contract),
        (b'e', "the lists by state", end),
        (b'i', "remembered keys", idempotency),
        (b't', "tokens", tokens::token),
        (b'u', "tokens of runs", tokens::run_token),
    ];
    for (space, what, look) in looks {
        let walked = walk::rows(store, &keys::space(space), |key, record| look(ledger, &key, record));
        tolerate(ledger, what, walked)?;
    }
    runs_without_record(ledger)?;
    meta(ledger)?;
    unknown(ledger)
}

pub(super) fn unreadable(ledger: &mut Ledger<'_>, what: &str, key: &Key, error: impl ToString) {
    ledger.find(FindingCode::RecordUnreadable, format!("{what} {key}"), error);
}

fn run(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    let run: Run = match decode_row(key, record) {
        Ok(run) => run,
        Err(error) => {
            unreadable(ledger, "run", key, error);
            return Ok(());
        }
    };
    ledger.report.counts.runs += 1;
    if keys::run(run.id) != *key {
        ledger.find(FindingCode::RecordMisplaced, run.id, format!("it lies at {key}"));
    }
    let Some(known) = ledger.runs.get(&run.id) else {
        ledger.find(FindingCode::RecordWithoutJournal, run.id, "the journal does not know this run");
        return Ok(());
    };
    let same = known.opened == Some(run_digest(&run)) && known.ended == run.ended.map(|(_, end)| end);
    if !known.erased && !same {
        ledger.find(FindingCode::RunDiffers, run.id, "what it was opened with, or how it ended, differs");
    }
    Ok(())
}

fn runs_without_record(ledger: &mut Ledger<'_>) -> Result<(), ReadError> {
    let mut ids: Vec<_> = ledger.runs.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        match ledger.store.get(&keys::run(id)) {
            Ok(Some(_)) => {}
            Ok(None) => ledger.find(FindingCode::RunMissing, id, "the journal knows it"),
            Err(error @ (ReadError::Io { .. } | ReadError::Dead { .. })) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

fn body(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    ledger.report.counts.bodies += 1;
    if id_at_end(key).is_some_and(|id| ledger.operations.contains_key(&id)) {
        // Its content was looked at with the operation.
        return Ok(());
    }
    match decode_row::<Body>(key, record) {
        Ok(_) => {
            let place = id_at_end(key).map_or_else(|| key.to_string(), |id| id.to_string());
            ledger.find(FindingCode::BodyStray, place, "the journal does not know this operation");
        }
        Err(error) => unreadable(ledger, "body", key, error),
    }
    Ok(())
}

fn raw(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    let place = id_at_end(key);
    match decode_row::<RawAnswer>(key, record) {
        Ok(_) if place.is_some_and(|id| ledger.operations.contains_key(&id)) => {}
        Ok(_) => {
            let place = place.map_or_else(|| key.to_string(), |id| id.to_string());
            ledger.find(
                FindingCode::BodyStray,
                place,
                "an answer is kept of an operation that the journal does not know",
            );
        }
        Err(error) => unreadable(ledger, "kept answer", key, error),
    }
    Ok(())
}

fn contract(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    ledger.report.counts.contracts += 1;
    match record {
        Ok(record) => {
            let found = Digest::of(&record.payload);
            if keys::contract(found) != *key {
                let detail = format!("its content has the fingerprint {found}");
                ledger.find(FindingCode::ContractChanged, format!("contract {key}"), detail);
            }
        }
        Err(damage) => unreadable(ledger, "contract", key, damage),
    }
    Ok(())
}

fn end(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    if let Err(damage) = record {
        unreadable(ledger, "index", key, damage);
        return Ok(());
    }
    let Some(id) = id_at_end(key) else {
        ledger.find(FindingCode::EndIndexStray, format!("index {key}"), "it names no operation");
        return Ok(());
    };
    match ledger.records().operation(id) {
        Ok(Some(stored)) if keys::by_end(stored.operation.state, id).as_ref() == Some(key) => {}
        Ok(Some(stored)) => {
            ledger.find(FindingCode::EndIndexStray, id, format!("it is {}", stored.operation.state));
        }
        Ok(None) => ledger.find(FindingCode::EndIndexStray, id, "it has no record"),
        Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => return Err(error),
        // Reported with the record.
        Err(_) => {}
    }
    Ok(())
}

fn idempotency(ledger: &mut Ledger<'_>, key: &Key, record: Result<Record, Damage>) -> Result<(), ReadError> {
    let record: IdempotencyRecord = match decode_row(key, record) {
        Ok(record) => record,
        Err(error) => {
            unreadable(ledger, "remembered key", key, error);
            return Ok(());
        }
    };
    ledger.report.counts.idempotency += 1;
    let (there, what) = match record.created {
        Created::Operation(id) | Created::Denial(id) => (ledger.operations.contains_key(&id), id.to_string()),
        Created::Run(id) => (ledger.runs.contains_key(&id), id.to_string()),
    };
    if !there {
        let detail = format!("it names {what}, which does not exist");
        ledger.find(FindingCode::IdempotencyDangling, format!("remembered key {key}"), detail);
    }
    Ok(())
}

fn meta(ledger: &mut Ledger<'_>) -> Result<(), ReadError> {
    let place = "the daemon's own record";
    let meta = match ledger.records().meta() {
        Ok((meta, _)) => meta,
        Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => return Err(error),
        Err(error) => {
            ledger.find(FindingCode::RecordUnreadable, place, error);
            return Ok(());
        }
    };
    (ledger.report.epoch, ledger.report.held) = (meta.epoch, meta.held);
    let known = &ledger.meta.known;
    if !ledger.meta.uncertain && meta != *known {
        let agree = |same: bool| if same { "agree" } else { "differ" };
        let detail = format!(
            "stored: epoch {}, held {}; journal: epoch {}, held {}; catalog, configuration and policy {}; pauses {}",
            meta.epoch,
            meta.held,
            known.epoch,
            known.held,
            agree(
                (meta.catalog, meta.configuration, meta.policy)
                    == (known.catalog, known.configuration, known.policy)
            ),
            agree(meta.pauses == known.pauses),
        );
        ledger.find(FindingCode::MetaDiffers, place, detail);
    }
    Ok(())
}

/// Records of no known kind: one of each is enough to say so.
fn unknown(ledger: &mut Ledger<'_>) -> Result<(), ReadError> {
    for space in (0..=u8::MAX).filter(|space| !SPACES.contains(space)) {
        let found = ledger.store.scan(&Range::prefix(&Key::space(space)), 1);
        let rows = match found {
            Ok(rows) => rows,
            // The kinds that are known have met the same part.
            Err(ReadError::Page { .. }) => continue,
            Err(error) => return Err(error),
        };
        if let Some((key, _)) = rows.first() {
            ledger.find(FindingCode::UnknownRecord, format!("record {key}"), "and possibly more");
        }
    }
    Ok(())
}

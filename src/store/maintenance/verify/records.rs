//! The second pass over operations: where each record lies, what belongs to it, what must be true of it.

use std::collections::HashMap;

use super::ledger::{Known, Ledger};
use super::tolerate;
use crate::domain::Digest;
use crate::domain::ids::OperationId;
use crate::domain::operation::record::AttemptResult;
use crate::domain::operation::{Body, Operation, Proposal, TargetKey, invariants, proposal_digest};
use crate::store::maintenance::finding::FindingCode;
use crate::store::maintenance::walk;
use crate::store::records::{RecordError, Stored, decode_row, id_at_end, keys};
use crate::store::{Damage, Key, ReadError, Record};

/// What is looked at across operations. Only open ones can disagree with each other.
#[derive(Default)]
struct Across {
    holders: HashMap<TargetKey, OperationId>,
    keys: HashMap<String, OperationId>,
    contracts: HashMap<Digest, bool>,
}

/// Walks the records of operations, open ones first.
pub(super) fn walk(ledger: &mut Ledger<'_>) -> Result<(), ReadError> {
    let store = ledger.store;
    let mut across = Across::default();
    for (space, what) in [(b'p', "open operations"), (b'o', "ended operations")] {
        let walked =
            walk::rows(store, &keys::space(space), |key, record| row(ledger, &mut across, &key, record));
        tolerate(ledger, what, walked)?;
    }
    Ok(())
}

fn row(
    ledger: &mut Ledger<'_>,
    across: &mut Across,
    key: &Key,
    record: Result<Record, Damage>,
) -> Result<(), ReadError> {
    let version = record.as_ref().map_or(0, |record| record.version);
    let place = id_at_end(key).map_or_else(|| format!("record {key}"), |id| id.to_string());
    let stored: Stored = match decode_row(key, record) {
        Ok(stored) => stored,
        Err(error) => {
            ledger.find(FindingCode::RecordUnreadable, place, error);
            return Ok(());
        }
    };
    let operation = &stored.operation;
    let id = operation.id();
    ledger.report.counts.operations += 1;
    *ledger.report.counts.by_state.entry(operation.state.as_str()).or_default() += 1;
    let home = keys::operation(operation.state, id);
    if home != *key && keys::ended(id) == *key && is_there(ledger, &home)? {
        // It is open and ended at once; that was said when the open one was met.
    } else if home != *key {
        let detail = format!("the record at {key} is {id}, which is {}", operation.state);
        ledger.find(FindingCode::RecordMisplaced, place, detail);
    } else if !operation.state.is_ended() && is_there(ledger, &keys::ended(id))? {
        ledger.find(FindingCode::RecordTwice, id, "it is under the key of open and of ended operations");
    }
    if version != u64::from(operation.events) {
        let detail = format!("version {version}, {} events", operation.events);
        ledger.find(FindingCode::VersionDiffers, id, detail);
    }
    agrees_with_journal(ledger, &stored);
    if let Some(index) = keys::by_end(operation.state, id)
        && !is_there(ledger, &index)?
    {
        ledger.find(FindingCode::EndIndexMissing, id, format!("it is {}", operation.state));
    }
    body(ledger, operation)?;
    contract(ledger, across, operation)?;
    links(ledger, operation);
    for violation in invariants::check(operation, None) {
        ledger.find(FindingCode::InvariantBroken, id, violation);
    }
    others(ledger, across, operation);
    Ok(())
}

/// The first pass has compared what the journal knows whole; the rest is seen here.
fn agrees_with_journal(ledger: &mut Ledger<'_>, stored: &Stored) {
    let operation = &stored.operation;
    match ledger.operations.get(&operation.id()) {
        None => {
            let detail = format!("it is {} with {} events", operation.state, operation.events);
            ledger.find(FindingCode::RecordWithoutJournal, operation.id(), detail);
        }
        Some(Known::Erased(events)) => {
            let events = *events;
            if operation.events != events || stored.history.len() != events as usize {
                let detail = format!("the record has {} events, the journal {events}", operation.events);
                ledger.find(FindingCode::RecordDiffers, operation.id(), detail);
            }
        }
        Some(Known::Settled(_) | Known::Broken(_) | Known::Folding(_)) => {}
    }
}

/// Whether something is stored here; damaged counts as there.
fn is_there(ledger: &Ledger<'_>, key: &Key) -> Result<bool, ReadError> {
    match ledger.store.get(key) {
        Ok(found) => Ok(found.is_some()),
        Err(ReadError::Damaged { .. } | ReadError::NewerFormat { .. } | ReadError::Page { .. }) => Ok(true),
        Err(error @ (ReadError::Io { .. } | ReadError::Dead { .. })) => Err(error),
    }
}

fn body(ledger: &mut Ledger<'_>, operation: &Operation) -> Result<(), ReadError> {
    let id = operation.id();
    let body = match ledger.records().body(id) {
        Ok(Some(body)) => body,
        Ok(None) => {
            // Erasure takes the content of the entry and the bodies together.
            if !matches!(ledger.operations.get(&id), Some(Known::Erased(_))) {
                ledger.find(FindingCode::BodyMissing, id, "nothing is stored under its body's key");
            }
            return Ok(());
        }
        Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => return Err(error),
        Err(error) => {
            ledger.find(FindingCode::RecordUnreadable, format!("body of {id}"), error);
            return Ok(());
        }
    };
    if let Some((code, detail)) = wrong_digests(&operation.proposal, &body) {
        ledger.find(code, id, detail);
    }
    Ok(())
}

/// The first digest that differs explains the ones that are made from it.
fn wrong_digests(proposal: &Proposal, body: &Body) -> Option<(FindingCode, String)> {
    let arguments = Digest::of(body.arguments.as_bytes());
    let request = body.request.digest();
    let shown = proposal_digest(proposal, body);
    let differs = |stored: Digest, made: Digest| format!("approved {stored}, stored {made}");
    if arguments != proposal.arguments_sha256 {
        Some((FindingCode::ArgumentsChanged, differs(proposal.arguments_sha256, arguments)))
    } else if request != proposal.request_sha256 {
        Some((FindingCode::RequestChanged, differs(proposal.request_sha256, request)))
    } else if shown != proposal.proposal_sha256 {
        Some((FindingCode::ProposalChanged, differs(proposal.proposal_sha256, shown)))
    } else {
        None
    }
}

fn contract(ledger: &mut Ledger<'_>, across: &mut Across, operation: &Operation) -> Result<(), ReadError> {
    let fingerprint = operation.proposal.contract;
    let there = match across.contracts.get(&fingerprint) {
        Some(there) => *there,
        None => is_there(ledger, &keys::contract(fingerprint))?,
    };
    across.contracts.insert(fingerprint, there);
    if !there {
        ledger.find(FindingCode::ContractMissing, operation.id(), format!("contract {fingerprint}"));
    }
    Ok(())
}

fn links(ledger: &mut Ledger<'_>, operation: &Operation) {
    let id = operation.id();
    let proposal = &operation.proposal;
    if !ledger.runs.contains_key(&proposal.run) {
        ledger.find(
            FindingCode::RunMissing,
            id,
            format!("the journal does not know its run {}", proposal.run),
        );
    }
    let named = [
        ("replaces", proposal.supersedes),
        ("would undo", proposal.compensation_of),
        ("is undone by", operation.compensation),
    ];
    for (how, other) in named {
        if let Some(other) = other.filter(|other| !ledger.operations.contains_key(other)) {
            ledger.find(FindingCode::LinkDangling, id, format!("it {how} {other}, which does not exist"));
        }
    }
}

/// At most one holder of a target, and one running attempt per key. What an import brought back was open side by side
/// and holds its target without having been let in; it is left out.
fn others(ledger: &mut Ledger<'_>, across: &mut Across, operation: &Operation) {
    if operation.state.is_ended() {
        return;
    }
    let id = operation.id();
    if operation.holds_target()
        && operation.epoch == 0
        && let Some(other) = across.holders.insert(operation.proposal.target_key(), id)
    {
        ledger.find(FindingCode::TargetTwice, id, format!("{other} holds the same target"));
    }
    let running = operation.attempts.iter().any(|attempt| attempt.result == AttemptResult::Running);
    if running && let Some(other) = across.keys.insert(operation.proposal.key.clone(), id) {
        ledger.find(FindingCode::KeyTwice, id, format!("an attempt of {other} runs under the same key"));
    }
}

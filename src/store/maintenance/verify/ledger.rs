//! What the first pass leaves for the second: how far each operation and run went in the journal.

use std::collections::{BTreeMap, HashMap};

use super::VerifyReport;
use super::acks::Acks;
use crate::domain::Digest;
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::operation::{Operation, State};
use crate::domain::run::{Run, RunEnd};
use crate::domain::token::{RunToken, Token};
use crate::store::maintenance::finding::FindingCode;
use crate::store::records::{Meta, RecordError, Records};
use crate::store::{ReadError, Store};

/// How far an operation went in the journal.
pub(super) enum Known {
    /// Its record knows more events than were read so far, or is not known yet.
    Folding(Box<Fold>),
    /// Folded to the last event of its record, and equal.
    Settled(u32),
    /// A payload is erased: it is counted, not folded.
    Erased(u32),
    /// A finding says what is wrong; it is counted, not folded.
    Broken(u32),
}

/// An operation as the journal makes it.
pub(super) struct Fold {
    pub(super) operation: Operation,
    pub(super) history: Vec<u64>,
    /// The number of events of its record, once that was read.
    pub(super) until: Option<u32>,
}

impl Known {
    /// Events so far.
    pub(super) fn events(&self) -> u32 {
        match self {
            Known::Folding(fold) => fold.operation.events,
            Known::Settled(events) | Known::Erased(events) | Known::Broken(events) => *events,
        }
    }
}

/// A run as the journal makes it.
#[derive(Default)]
pub(super) struct KnownRun {
    pub(super) number: u32,
    /// Digest of the run as it was opened; none when that was erased.
    pub(super) opened: Option<Digest>,
    pub(super) ended: Option<RunEnd>,
    /// The token that was issued last.
    pub(super) token: Option<RunToken>,
    pub(super) erased: bool,
}

/// A token of a principal as the journal makes it.
#[derive(Default)]
pub(super) struct KnownToken {
    pub(super) number: u32,
    /// The digest of its secret, and the token; none when that was erased.
    pub(super) made: Option<(Digest, Token)>,
    pub(super) erased: bool,
}

/// What is the same for as long as a run is there.
pub(super) fn run_digest(run: &Run) -> Digest {
    let opened = Run { ended: None, ..run.clone() };
    Digest::of(&crate::store::codec::encode(&opened).unwrap_or_default())
}

/// The daemon's own record as the journal makes it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct KnownMeta {
    pub(super) known: Meta,
    /// Something of it cannot be read in the journal.
    pub(super) uncertain: bool,
}

/// Everything that is known so far.
pub(super) struct Ledger<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) acks: &'a Acks,
    pub(super) operations: HashMap<OperationId, Known>,
    pub(super) runs: HashMap<RunId, KnownRun>,
    pub(super) tokens: HashMap<TokenId, KnownToken>,
    pub(super) meta: KnownMeta,
    /// For operations that clients were told of: the last number of events with which each state was seen.
    pub(super) seen: HashMap<OperationId, BTreeMap<State, u32>>,
    pub(super) report: VerifyReport,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(store: &'a dyn Store, acks: &'a Acks) -> Ledger<'a> {
        Ledger {
            store,
            acks,
            operations: HashMap::new(),
            runs: HashMap::new(),
            tokens: HashMap::new(),
            meta: KnownMeta::default(),
            seen: HashMap::new(),
            report: VerifyReport::default(),
        }
    }

    pub(super) fn find(&mut self, code: FindingCode, place: impl ToString, detail: impl ToString) {
        self.report.findings.add(code, place, detail);
    }

    pub(super) fn records(&self) -> Records<'a> {
        Records(self.store)
    }

    /// Holds what was read against the facts that clients were told.
    pub(super) fn hold_against_acks(&mut self) -> Result<(), ReadError> {
        let acks = self.acks;
        self.report.counts.acknowledged = u64::try_from(acks.len()).unwrap_or(u64::MAX);
        for (id, told) in &acks.operations {
            for (state, events) in told {
                self.operation_told(*id, *state, *events)?;
            }
        }
        for id in &acks.runs {
            if !self.runs.contains_key(id) {
                self.find(FindingCode::AckMissing, id, "a client was told that this run was opened");
            }
        }
        for (scope, key) in &acks.keys {
            match self.records().idempotency(*scope) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let detail = format!("a client was told that the Idempotency-Key `{key}` was stored");
                    self.find(FindingCode::AckMissing, format!("idempotency {scope}"), detail);
                }
                // Damage of the record is a finding already.
                Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn operation_told(&mut self, id: OperationId, state: State, events: u32) -> Result<(), ReadError> {
        let stored = match self.records().operation(id) {
            Ok(stored) => stored.map(|stored| stored.operation.events),
            Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => {
                return Err(error);
            }
            // It is there and cannot be read: a finding of its own; the journal has the events.
            Err(_) => self.operations.get(&id).map(Known::events),
        };
        let told = format!("{state} with {events} events");
        let Some(stored) = stored else {
            self.find(FindingCode::AckMissing, id, format!("a client was told: {told}"));
            return Ok(());
        };
        if stored < events {
            self.find(
                FindingCode::AckBehind,
                id,
                format!("a client was told: {told}; stored: {stored} events"),
            );
            return Ok(());
        }
        let erased = matches!(self.operations.get(&id), Some(Known::Erased(_)));
        let last = self.seen.get(&id).and_then(|seen| seen.get(&state)).copied();
        if !erased && last.is_none_or(|last| last < events) {
            self.find(
                FindingCode::AckState,
                id,
                format!("a client was told: {told}; the history has no such moment"),
            );
        }
        Ok(())
    }
}

//! `writd verify`: walks the journal, refolds every operation, and compares with everything else that is stored.
//!
//! Two passes. The first reads the journal once and folds each operation up to the last event that its record knows;
//! an operation that agrees is forgotten except for its number of events. The second reads all records. Memory: some 50
//! bytes per operation, and the operations that are open at one time. Nothing is changed, except that opening the
//! store may write what the engine writes at every open.

pub(super) mod acks;
mod journal;
mod ledger;
mod others;
mod records;
mod tokens;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use self::acks::Acks;
use self::ledger::Ledger;
use super::finding::{FindingCode, Findings};
use super::{MaintenanceError, open};
use crate::domain::journal::Head;
use crate::domain::{Digest, Time};
use crate::store::{ReadError, Store};

/// What to hold the store against.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// A head that was kept elsewhere.
    pub head: Option<HeadClaim>,
    /// A file of facts that clients were told.
    pub acks: Option<PathBuf>,
}

/// A head of the journal that was kept elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct HeadClaim {
    /// The place of the entry.
    pub seq: u64,
    /// Its digest.
    pub digest: Digest,
}

/// The text is not a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a head is written as DIGEST:NUMBER, 64 hex digits and the number of the entry, as `writd export` prints it"
)]
pub struct NotAHead;

impl FromStr for HeadClaim {
    type Err = NotAHead;

    /// Both orders are unmistakable, so both are taken.
    fn from_str(text: &str) -> Result<HeadClaim, NotAHead> {
        let (left, right) = text.split_once(':').ok_or(NotAHead)?;
        let (digest, seq) = if left.len() == 64 { (left, right) } else { (right, left) };
        let digest = digest.parse().map_err(|_| NotAHead)?;
        Ok(HeadClaim { seq: seq.parse().map_err(|_| NotAHead)?, digest })
    }
}

impl std::fmt::Display for HeadClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.digest, self.seq)
    }
}

/// What was counted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Entries of the journal.
    pub entries: u64,
    /// Entries whose payload was erased; their operations are not refolded.
    pub erased_entries: u64,
    /// Operations with an erased payload.
    pub erased_operations: u64,
    /// Readable operations.
    pub operations: u64,
    /// Those by state; states that have none are left out.
    pub by_state: BTreeMap<&'static str, u64>,
    /// Runs.
    pub runs: u64,
    /// Bodies of proposals.
    pub bodies: u64,
    /// Contracts.
    pub contracts: u64,
    /// Remembered Idempotency-Keys.
    pub idempotency: u64,
    /// Facts of the file that were checked.
    pub acknowledged: u64,
}

/// What `verify` found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct VerifyReport {
    /// Whether there is no finding.
    pub clean: bool,
    /// Where the journal ends; keep it elsewhere.
    pub head: Head,
    /// Grows with every import.
    pub epoch: u64,
    /// Writes are held until `writd restore accept`.
    pub held: bool,
    /// What was counted.
    pub counts: Counts,
    /// What is wrong.
    pub findings: Findings,
}

impl VerifyReport {
    /// The head, to be kept elsewhere.
    #[must_use]
    pub fn head_claim(&self) -> HeadClaim {
        HeadClaim { seq: self.head.seq, digest: self.head.digest }
    }
}

/// Verifies the store of a state directory, under its lock.
///
/// # Errors
/// The lock is held, there is no store, it does not open, it dies on the way, or the file of facts cannot be used.
/// What is wrong with records is no error but a finding.
pub fn verify(
    state_dir: &Path,
    options: &VerifyOptions,
    now: Time,
) -> Result<VerifyReport, MaintenanceError> {
    let acks = options.acks.as_deref().map(Acks::read).transpose()?.unwrap_or_default();
    let _lock = open::lock(state_dir, now)?;
    let store = open::open_existing(state_dir)?;
    Ok(verify_store(&store, options.head, &acks)?)
}

/// Verifies an open store.
pub(super) fn verify_store(
    store: &dyn Store,
    head: Option<HeadClaim>,
    acks: &Acks,
) -> Result<VerifyReport, ReadError> {
    let mut ledger = Ledger::new(store, acks);
    journal::walk(&mut ledger, head)?;
    records::walk(&mut ledger)?;
    others::walk(&mut ledger)?;
    ledger.hold_against_acks()?;
    let mut report = ledger.report;
    report.clean = report.findings.is_empty();
    Ok(report)
}

/// A scan that meets a damaged part of the files leaves the rest of that kind unread; the others go on.
fn tolerate(ledger: &mut Ledger<'_>, what: &str, walked: Result<(), ReadError>) -> Result<(), ReadError> {
    match walked {
        Err(error @ ReadError::Page { .. }) => {
            ledger.report.findings.add(FindingCode::PartUnreadable, what, error);
            Ok(())
        }
        other => other,
    }
}

//! `writd recover`: what can be read of a damaged store, in a fresh one beside it.
//!
//! Works on a copy; the damaged store is never changed, and kept under another name when the fresh one takes its place.
//! Damage may have taken the newest records without a trace, so a recovery begins a new epoch like an import: what has
//! not ended is unknown until it is asked by key, and writes are held until somebody accepts.

mod salvage;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::Serialize;

use self::salvage::Salvage;
use super::verify::acks::Acks;
use super::verify::verify_store;
use super::{Findings, MaintenanceError, epoch, open};
use crate::domain::Time;
use crate::domain::ids::OperationId;
use crate::domain::journal::Head;

/// Where the fresh store is built.
const ASIDE: &str = "store.recovering";

/// Something that could not be saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lost {
    /// What.
    pub what: String,
    /// Why, or what it means.
    pub why: String,
}

/// What was saved and what was not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecoverReport {
    /// How the damaged store could be read.
    pub read: String,
    /// The fresh store.
    pub recovered: PathBuf,
    /// It is in use now; the damaged one is kept here.
    pub kept: Option<PathBuf>,
    /// Records that were copied.
    pub copied: u64,
    /// Operations and runs that were made anew from the journal.
    pub rebuilt: Vec<String>,
    /// What could not be saved.
    pub lost: Vec<Lost>,
    /// Operations whose record cannot be made anew; the daemon keeps their targets busy.
    pub quarantined: Vec<OperationId>,
    /// The epoch that begins with the fresh store.
    pub epoch: u64,
    /// Operations that had not ended and are unknown in it.
    pub restored: u64,
    /// The head of the fresh store.
    pub head: Head,
    /// What `verify` finds in the fresh store.
    pub findings: Findings,
}

/// Recovers the store of a state directory, under its lock. With `apply` the fresh store takes the place of the damaged
/// one, which is renamed; without, both lie side by side.
///
/// # Errors
/// There is no store, it cannot be read in any way, or the fresh one cannot be written. The damaged store is as it was.
pub fn recover(state_dir: &Path, apply: bool, now: Time) -> Result<RecoverReport, MaintenanceError> {
    let _lock = open::lock(state_dir, now)?;
    let path = open::store_path(state_dir);
    if open::is_absent(&path)? {
        return Err(MaintenanceError::NoStore { path });
    }
    let aside = state_dir.join(ASIDE);
    open::remove_unfinished(&aside)?;
    let source = source::open(state_dir)?;
    let mut report = RecoverReport { read: source.how.to_owned(), ..RecoverReport::default() };
    build(&source.store, &aside, now, &mut report)?;
    drop(source.store);
    open::remove_unfinished(&source.copy)?;
    let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let recovered = state_dir.join(format!("store.recovered-{stamp}"));
    fs::rename(&aside, &recovered).map_err(|error| MaintenanceError::file(&recovered, &error))?;
    open::sync_parent(&recovered)?;
    report.recovered = recovered;
    if apply {
        swap(&path, &stamp, &mut report)?;
    }
    Ok(report)
}

fn build(
    source: &dyn crate::store::Store,
    aside: &Path,
    now: Time,
    report: &mut RecoverReport,
) -> Result<(), MaintenanceError> {
    let store = open::open_at(aside)?;
    let saved = Salvage::new(source, &store, report).run()?;
    let begun = epoch::begin(&store, saved.head, saved.meta, now)?;
    report.epoch = begun.epoch;
    report.restored = begun.restored;
    report.head = begun.head;
    report.findings = verify_store(&store, None, &Acks::default())?.findings;
    drop(store);
    open::sync_tree(aside)
}

/// Exchanges the two directories in one step, so that there is a store at every moment.
fn swap(path: &Path, stamp: &str, report: &mut RecoverReport) -> Result<(), MaintenanceError> {
    renameat_with(CWD, &report.recovered, CWD, path, RenameFlags::EXCHANGE)
        .map_err(|error| MaintenanceError::file(path, &error.into()))?;
    let kept = path.with_file_name(format!("store.damaged-{stamp}"));
    fs::rename(&report.recovered, &kept).map_err(|error| MaintenanceError::file(&kept, &error))?;
    open::sync_parent(path)?;
    report.recovered = path.to_owned();
    report.kept = Some(kept);
    Ok(())
}

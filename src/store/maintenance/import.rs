//! `writd import`: an export into an empty state directory, and a new epoch.
//!
//! The store is built aside (`store.importing`), verified, and renamed at the end: a kill at any moment leaves no store
//! or a whole one, and the next import begins anew.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::export::trailer;
use super::lines::{FORMAT, Line, LineKind};
use super::packed::Unpacker;
use super::verify::acks::Acks;
use super::verify::{VerifyReport, verify_store};
use super::{MaintenanceError, epoch, open};
use crate::domain::Time;
use crate::domain::journal::{Entry, Head};
use crate::store::append;
use crate::store::codec::encode;
use crate::store::records::{Records, Stored, keys};
use crate::store::{Batch, Record, Store};

/// Where the store is built.
const ASIDE: &str = "store.importing";
/// The longest line: the largest record, in hexadecimal, and once more as JSON.
const MAX_LINE_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of one commit while the store is built; one record may be longer.
const COMMIT_BYTES: usize = 1024 * 1024;
/// Records of one commit while the store is built.
const COMMIT_RECORDS: usize = 512;

/// What was imported.
#[derive(Clone, Debug, Serialize)]
pub struct ImportReport {
    /// The epoch that began.
    pub epoch: u64,
    /// The head that was imported; it is the one that `writd export` printed.
    pub imported: Head,
    /// The head now.
    pub head: Head,
    /// Operations that had not ended and are unknown now.
    pub restored: u64,
    /// Lines by kind.
    pub lines: BTreeMap<&'static str, u64>,
}

/// Imports a file into a state directory that has no store, under its lock.
///
/// # Errors
/// There is a store, the file is not a whole and unchanged export, its content does not agree with itself, or something
/// cannot be written. Then there is no store afterwards, as before.
pub fn import(state_dir: &Path, file: &Path, now: Time) -> Result<ImportReport, MaintenanceError> {
    import_with(state_dir, file, now, &|_| ())
}

/// The same; `step` is told what is about to be done, so that tests can end the process there.
pub(super) fn import_with(
    state_dir: &Path,
    file: &Path,
    now: Time,
    step: &dyn Fn(&'static str),
) -> Result<ImportReport, MaintenanceError> {
    check_whole(file)?;
    open::make_private(state_dir)?;
    let _lock = open::lock(state_dir, now)?;
    let path = open::store_path(state_dir);
    if !open::is_absent(&path)? {
        return Err(MaintenanceError::Refused(format!(
            "{} holds a store. An import needs an empty state directory: name another with --state-dir",
            state_dir.display()
        )));
    }
    let aside = state_dir.join(ASIDE);
    open::remove_unfinished(&aside)?;
    step("build");
    let built = build(&aside, file, now, step);
    let report = match built {
        Ok(report) => report,
        Err(error) => {
            open::remove_unfinished(&aside)?;
            return Err(error);
        }
    };
    step("rename");
    fs::rename(&aside, &path).map_err(|error| MaintenanceError::file(&path, &error))?;
    step("sync");
    open::sync_parent(&path)?;
    Ok(report)
}

fn build(
    aside: &Path,
    file: &Path,
    now: Time,
    step: &dyn Fn(&'static str),
) -> Result<ImportReport, MaintenanceError> {
    let store = open::open_at(aside)?;
    let loaded = Loader::new(&store, file).load(step)?;
    step("verify");
    let verified = verify_store(&store, None, &Acks::default())?;
    agrees(&loaded, &verified).map_err(|why| not_an_export(file, why))?;
    step("epoch");
    let meta = Records(&store).meta()?;
    let begun = epoch::begin(&store, verified.head, meta, now)?;
    drop(store);
    open::sync_tree(aside)?;
    Ok(ImportReport {
        epoch: begun.epoch,
        imported: verified.head,
        head: begun.head,
        restored: begun.restored,
        lines: loaded.lines,
    })
}

fn unpack(file: &Path) -> Result<Unpacker, MaintenanceError> {
    let opened = File::open(file).map_err(|error| MaintenanceError::file(file, &error))?;
    Ok(Unpacker::new(opened, MAX_LINE_BYTES))
}

/// Reads the file once to its end, before anything is built from it.
fn check_whole(file: &Path) -> Result<(), MaintenanceError> {
    #[derive(Deserialize)]
    struct Kind {
        kind: LineKind,
    }
    let unreadable = |error: io::Error| not_an_export(file, error.to_string());
    let mut unpacker = unpack(file)?;
    let mut lines: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut text = Vec::new();
    while unpacker.line(&mut text).map_err(unreadable)? {
        let line: Kind = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
        *lines.entry(line.kind.as_str()).or_default() += 1;
    }
    let whole = unpacker.ends_with(|sha256, compressed| trailer(&lines, sha256, compressed));
    if whole.map_err(unreadable)? {
        return Ok(());
    }
    Err(not_an_export(file, "its trailer does not match: it was cut, changed or packed again"))
}

/// What was built is what the header says: the same head, and no more wrong with it than with what was exported.
fn agrees(loaded: &Loaded, verified: &VerifyReport) -> Result<(), String> {
    if (loaded.head, loaded.epoch) != (verified.head, verified.epoch) {
        return Err("its journal does not end where its header says".to_owned());
    }
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for finding in &verified.findings.listed {
        let count = found.entry(finding.code.to_string()).or_default();
        *count += 1;
        if *count > loaded.findings.get(finding.code.as_str()).copied().unwrap_or(0) {
            return Err(format!("its content does not agree: {} at {}", finding.code, finding.place));
        }
    }
    Ok(())
}

fn not_an_export(file: &Path, why: impl Into<String>) -> MaintenanceError {
    MaintenanceError::NotAnExport { path: PathBuf::from(file), why: why.into() }
}

/// What was read.
struct Loaded {
    head: Head,
    epoch: u64,
    findings: BTreeMap<String, u64>,
    lines: BTreeMap<&'static str, u64>,
}

struct Loader<'a> {
    store: &'a dyn Store,
    file: &'a Path,
    batch: Batch,
    bytes: usize,
    entries: Vec<Entry>,
    header: Option<(Head, u64, BTreeMap<String, u64>)>,
}

impl<'a> Loader<'a> {
    fn new(store: &'a dyn Store, file: &'a Path) -> Loader<'a> {
        Loader { store, file, batch: Batch::new(), bytes: 0, entries: Vec::new(), header: None }
    }

    fn load(mut self, step: &dyn Fn(&'static str)) -> Result<Loaded, MaintenanceError> {
        let path = self.file;
        let unreadable = |error: io::Error| not_an_export(path, error.to_string());
        let mut unpacker = unpack(path)?;
        let mut lines: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut text = Vec::new();
        let mut number = 0_u64;
        while unpacker.line(&mut text).map_err(unreadable)? {
            number += 1;
            let wrong = |why: String| not_an_export(path, format!("line {number}: {why}"));
            let line: Line = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
            *lines.entry(line.kind()).or_default() += 1;
            if (number == 1) != matches!(line, Line::Header { .. }) {
                return Err(wrong("an export begins with its header, and has one".to_owned()));
            }
            self.take(line).map_err(|error| match error {
                Refusal::Line(why) => wrong(why),
                Refusal::Store(error) => error,
            })?;
            if self.bytes >= COMMIT_BYTES || self.batch.len() + self.entries.len() >= COMMIT_RECORDS {
                step("load");
                self.commit()?;
            }
        }
        step("load");
        self.commit()?;
        let whole = unpacker.ends_with(|sha256, compressed| trailer(&lines, sha256, compressed));
        if !whole.map_err(unreadable)? {
            return Err(not_an_export(
                path,
                "its trailer does not match: it was cut, changed or packed again",
            ));
        }
        let (head, epoch, findings) =
            self.header.take().ok_or_else(|| not_an_export(path, "it has no header"))?;
        Ok(Loaded { head, epoch, findings, lines })
    }

    fn commit(&mut self) -> Result<(), MaintenanceError> {
        let mut batch = std::mem::take(&mut self.batch);
        for (key, record) in append::pages(&std::mem::take(&mut self.entries))? {
            batch = batch.put(key, record);
        }
        self.bytes = 0;
        if !batch.is_empty() {
            self.store.commit(&batch)?;
        }
        Ok(())
    }

    fn put(&mut self, key: crate::store::Key, version: u64, payload: Vec<u8>) {
        self.bytes += payload.len();
        self.batch = std::mem::take(&mut self.batch).put(key, Record { version, payload });
    }

    fn take(&mut self, line: Line) -> Result<(), Refusal> {
        match line {
            Line::Header { format, head, epoch, findings, program: _, at: _ } => {
                if format != FORMAT {
                    return Err(Refusal::Line(format!(
                        "its format is `{format}`, this release reads `{FORMAT}`"
                    )));
                }
                self.header = Some((head, epoch, findings));
            }
            Line::Meta { version, meta } if version > 0 => self.put(keys::meta(), version, encode(&meta)?),
            // A daemon that was never started has none.
            Line::Meta { .. } => {}
            Line::Contract { fingerprint, body } => {
                let body = body.into_bytes().ok_or_else(not_hex)?;
                self.put(keys::contract(fingerprint), 1, body);
            }
            Line::Run { version, run } => self.put(keys::run(run.id), version, encode(&run)?),
            Line::Body { operation, mut body, request_body } => {
                if let Some(bytes) = request_body {
                    body.request.body = Some(bytes.into_bytes().ok_or_else(not_hex)?);
                }
                self.put(keys::body(operation), 1, encode(body.as_ref())?);
            }
            Line::Raw { operation, mut answer, bytes } => {
                answer.bytes = bytes.into_bytes().ok_or_else(not_hex)?;
                self.put(keys::raw(operation), 1, encode(&answer)?);
            }
            Line::Operation { operation, history } => {
                let stored = Stored { operation: *operation, history };
                self.bytes += encode(&stored)?.len();
                self.batch.join(append::operation(None, &stored)?)?;
            }
            Line::Idempotency { scope, record } => {
                self.put(keys::idempotency(scope), 1, encode(&record)?);
            }
            // They are of an earlier epoch then, and worth nothing: what was revoked since is not known here.
            Line::Token { version, sha256, token } => {
                self.put(keys::token(sha256), version, encode(token.as_ref())?);
            }
            Line::RunToken { version, token } => {
                self.put(keys::run_token(token.run), version, encode(&token)?);
            }
            Line::Entry(line) => {
                let entry = line.into_entry().map_err(|why| Refusal::Line(why.to_owned()))?;
                self.bytes += entry.payload.len();
                self.entries.push(entry);
            }
        }
        Ok(())
    }
}

enum Refusal {
    Line(String),
    Store(MaintenanceError),
}

impl<E: Into<MaintenanceError>> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal::Store(error.into())
    }
}

fn not_hex() -> Refusal {
    Refusal::Line("bytes are not in hexadecimal".to_owned())
}

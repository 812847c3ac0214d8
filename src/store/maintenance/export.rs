//! `writd export`: everything in one file, with the chain; a backup, and the way to another engine.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::lines::{Bytes, EntryLine, FORMAT, Line, Trailer};
use super::packed::Packer;
use super::verify::acks::Acks;
use super::verify::{HeadClaim, verify_store};
use super::{Findings, MaintenanceError, open, walk};
use crate::domain::journal::{Entry, Head};
use crate::domain::operation::{Body, RawAnswer};
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Token};
use crate::domain::{Digest, Time};
use crate::store::records::{
    IdempotencyRecord, RecordError, Records, Stored, decode_row, digest_at_end, id_at_end, keys,
};
use crate::store::{Damage, Key, Record, Store};

/// What was written.
#[derive(Clone, Debug, Serialize)]
pub struct ExportReport {
    /// The file.
    pub file: PathBuf,
    /// Where the journal ends; keep it elsewhere.
    pub head: Head,
    /// The same as one text for `writd verify --head`.
    pub keep: String,
    /// The epoch.
    pub epoch: u64,
    /// Lines by kind.
    pub lines: BTreeMap<&'static str, u64>,
    /// The size of the file.
    pub bytes: u64,
    /// What is wrong with the store that was exported; the file holds it as it is.
    pub findings: Findings,
}

/// Exports the store of a state directory, under its lock, into a file that must not exist. The order of the lines
/// follows from the content alone. The file gets its name once it is whole and synced.
///
/// # Errors
/// Something cannot be read or written; then there is no file of this name.
pub fn export(state_dir: &Path, out: &Path, now: Time) -> Result<ExportReport, MaintenanceError> {
    let _lock = open::lock(state_dir, now)?;
    if out.symlink_metadata().is_ok() {
        return Err(MaintenanceError::Refused(format!("{} exists; name another file", out.display())));
    }
    let store = open::open_existing(state_dir)?;
    let verified = verify_store(&store, None, &Acks::default())?;
    let mut by_code: BTreeMap<String, u64> = BTreeMap::new();
    for finding in &verified.findings.listed {
        *by_code.entry(finding.code.to_string()).or_default() += 1;
    }
    let header = Line::Header {
        format: FORMAT.to_owned(),
        program: format!("writd {}", env!("CARGO_PKG_VERSION")),
        at: now,
        epoch: verified.epoch,
        head: verified.head,
        findings: by_code,
    };
    let partial = partial_name(out);
    let written = write(&store, &partial, &header);
    let lines = match written {
        Ok(lines) => lines,
        Err(error) => {
            let _ = fs::remove_file(&partial);
            return Err(error);
        }
    };
    let failed = |error: io::Error| MaintenanceError::file(out, &error);
    name(&partial, out).map_err(failed)?;
    open::sync_parent(out)?;
    Ok(ExportReport {
        file: out.to_owned(),
        head: verified.head,
        keep: HeadClaim { seq: verified.head.seq, digest: verified.head.digest }.to_string(),
        epoch: verified.epoch,
        lines,
        bytes: fs::metadata(out).map_err(failed)?.len(),
        findings: verified.findings,
    })
}

/// Gives the file its name. A link refuses to replace what somebody else has put there meanwhile; file systems without
/// links (memory sticks) get a plain rename.
fn name(partial: &Path, out: &Path) -> io::Result<()> {
    match fs::hard_link(partial, out) {
        Ok(()) => fs::remove_file(partial),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists) => Err(error),
        Err(_) => fs::rename(partial, out),
    }
}

fn partial_name(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    out.with_file_name(name)
}

struct Writer<'a> {
    packer: Packer,
    path: &'a Path,
    lines: BTreeMap<&'static str, u64>,
}

impl Writer<'_> {
    fn line(&mut self, line: &Line) -> Result<(), MaintenanceError> {
        let failed = |error: io::Error| MaintenanceError::file(self.path, &error);
        let text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        self.packer.line(&text).map_err(failed)?;
        *self.lines.entry(line.kind()).or_default() += 1;
        Ok(())
    }
}

/// Personal data is in it: for this user only.
fn write(
    store: &dyn Store,
    path: &Path,
    header: &Line,
) -> Result<BTreeMap<&'static str, u64>, MaintenanceError> {
    let failed = |error: io::Error| MaintenanceError::file(path, &error);
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
    let mut writer = Writer { packer: Packer::new(file), path, lines: BTreeMap::new() };
    writer.line(header)?;
    let (meta, version) = Records(store).meta()?;
    writer.line(&Line::Meta { version, meta })?;
    let kinds: [(u8, ToLine); 10] = [
        (b'c', contract),
        (b'r', run),
        (b'b', body),
        (b'q', raw),
        (b'p', operation),
        (b'o', operation),
        (b'i', idempotency),
        (b't', token),
        (b'u', run_token),
        (b'j', page),
    ];
    for (space, to_line) in kinds {
        walk::rows(store, &keys::space(space), |key, record| {
            to_line(&key, record)?.iter().try_for_each(|line| writer.line(line))
        })?;
    }
    let Writer { packer, lines, .. } = writer;
    packer.finish(|sha256, compressed| trailer(&lines, sha256, compressed)).map_err(failed)?;
    Ok(lines)
}

/// The last line.
pub(super) fn trailer(
    lines: &BTreeMap<&'static str, u64>,
    sha256: Digest,
    compressed_sha256: Digest,
) -> io::Result<Vec<u8>> {
    let trailer = Trailer { kind: "trailer", lines: lines.clone(), sha256, compressed_sha256 };
    let mut text = serde_json::to_vec(&trailer)?;
    text.push(b'\n');
    Ok(text)
}

/// The lines of one record.
type ToLine = fn(&Key, Result<Record, Damage>) -> Result<Vec<Line>, RecordError>;

fn contract(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let record = record.map_err(|what| crate::store::ReadError::of_record(key, what))?;
    let fingerprint = digest_at_end(key);
    Ok(vec![Line::Contract { fingerprint, body: Bytes::of(record.payload) }])
}

fn run(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let version = record.as_ref().map_or(0, |record| record.version);
    let run: Run = decode_row(key, record)?;
    Ok(vec![Line::Run { version, run }])
}

fn body(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let body: Body = decode_row(key, record)?;
    Ok(id_at_end(key).map(|id| Line::body(id, body)).into_iter().collect())
}

fn raw(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let answer: RawAnswer = decode_row(key, record)?;
    Ok(id_at_end(key).map(|id| Line::raw(id, answer)).into_iter().collect())
}

fn operation(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let stored: Stored = decode_row(key, record)?;
    Ok(vec![Line::Operation { operation: Box::new(stored.operation), history: stored.history }])
}

fn idempotency(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let record: IdempotencyRecord = decode_row(key, record)?;
    Ok(vec![Line::Idempotency { scope: digest_at_end(key), record }])
}

fn page(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let page: Vec<Entry> = decode_row(key, record)?;
    Ok(page.iter().map(|entry| Line::Entry(Box::new(EntryLine::of(entry)))).collect())
}

fn token(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let version = record.as_ref().map_or(0, |record| record.version);
    let token: Token = decode_row(key, record)?;
    Ok(vec![Line::Token { version, sha256: digest_at_end(key), token: Box::new(token) }])
}

fn run_token(key: &Key, record: Result<Record, Damage>) -> Result<Vec<Line>, RecordError> {
    let version = record.as_ref().map_or(0, |record| record.version);
    let token: RunToken = decode_row(key, record)?;
    Ok(vec![Line::RunToken { version, token }])
}

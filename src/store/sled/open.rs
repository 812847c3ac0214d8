//! Opening and making a store.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::error::OpenError;
use super::Options;
use super::fault::{Fault, caught};
use super::files::{self, Found};
use super::watch::Watch;

/// sled's segment, fixed for the life of a store (sled refuses another one).
pub(super) const SEGMENT_BYTES: usize = 512 * 1024;
/// sled cleans old segments only in the thread that this starts.
const FLUSH_EVERY_MS: u64 = 500;
/// A closed store stays locked until the last of sled's threads has let go of its files.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);
/// Between two tries of the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// An open store. The fields are dropped in this order: the watch first, as it holds sled open.
pub(super) struct Handle {
    _watch: Watch,
    pub(super) db: ::sled::Db,
    /// Our own handle to the log, to sync it. sled keeps all data in this one file: it appends segments, reuses freed
    /// ones and truncates it, but never replaces it, and a sync of any handle covers all earlier writes and the size
    /// of the file. Snapshots (`snap.*`) are written only by an open, are synced by sled and only save reading the
    /// log from its start; [`files::sync_all`] makes their names durable before the first commit.
    pub(super) log: File,
}

/// Opens the store in `options.path`, making it first if there is none.
pub(super) fn open(options: &Options) -> Result<Handle, OpenError> {
    let path = options.path.as_path();
    if files::look(path)? == Found::Nothing {
        make(options)?;
    }
    files::remove_half_snapshots(path)?;
    files::refuse_blobs(path)?;
    let db = open_engine(path, options.cache_bytes)?;
    files::sync_all(path)?;
    let log_path = path.join("db");
    let log = File::open(&log_path).map_err(|error| files::io_error(&log_path, &error))?;
    let watch = Watch::start(db.clone()).map_err(|error| files::io_error(path, &error))?;
    Ok(Handle { _watch: watch, db, log })
}

/// Makes an empty store aside and renames it, so that a kill or a power cut at any moment leaves none or a whole one.
/// sled itself writes a `conf` that may be torn and is then refused for ever.
fn make(options: &Options) -> Result<(), OpenError> {
    let path = options.path.as_path();
    let aside = files::aside(path);
    match fs::remove_dir_all(&aside) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(files::io_error(&aside, &error)),
    }
    files::make_private_dir(&aside)?;
    drop(open_engine(&aside, options.cache_bytes)?);
    files::sync_all(&aside)?;
    // Renaming over an empty directory is fine, over one with content fails.
    fs::rename(&aside, path).map_err(|error| files::io_error(path, &error))?;
    files::sync_parent(path)
}

/// The mode (`LowSpace`, `HighThroughput`) is not set: sled 0.34.7 stores it and never reads it.
fn open_engine(path: &Path, cache_bytes: u64) -> Result<::sled::Db, OpenError> {
    let config = ::sled::Config::new()
        .path(path)
        .cache_capacity(cache_bytes)
        .segment_size(SEGMENT_BYTES)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .use_compression(false);
    let patience = Instant::now() + LOCK_PATIENCE;
    loop {
        match caught(|| Ok(config.open()?)) {
            Ok(db) => return Ok(db),
            Err(fault) if is_locked(&fault) && Instant::now() < patience => std::thread::sleep(LOCK_PAUSE),
            Err(fault) => return Err(refusal(path, &fault)),
        }
    }
}

/// sled has no error of its own for a lock that another holds.
fn is_locked(fault: &Fault) -> bool {
    matches!(fault, Fault::Error(::sled::Error::Io(error)) if error.to_string().contains("could not acquire lock"))
}

fn refusal(path: &Path, fault: &Fault) -> OpenError {
    if is_locked(fault) {
        return OpenError::InUse { path: path.to_owned() };
    }
    match fault {
        Fault::Error(::sled::Error::Io(error)) => files::io_error(path, error),
        Fault::Error(::sled::Error::Unsupported(what)) => {
            OpenError::Unsupported { path: path.to_owned(), what: what.clone() }
        }
        Fault::Error(_) | Fault::Panic(_) => OpenError::Damaged { path: path.to_owned(), what: fault.text() },
    }
}

//! sled's files: what must be synced, removed or refused around it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::super::error::OpenError;
use super::fault;

/// What is there before the store is opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No store: the directory is missing or empty.
    Nothing,
    /// A store.
    Store,
}

pub(super) fn io_error(path: &Path, error: &io::Error) -> OpenError {
    if fault::is_full(error) {
        return OpenError::Full { path: path.to_owned() };
    }
    OpenError::Io { path: path.to_owned(), what: error.to_string() }
}

/// Tells a store from none. Never takes the remains of a store for none: sled would make an empty log beside them and
/// all data would be gone without a word.
pub(super) fn look(path: &Path) -> Result<Found, OpenError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(io_error(path, &error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|error| io_error(path, &error))?.file_name());
    }
    if names.is_empty() {
        return Ok(Found::Nothing);
    }
    let damaged = |what: &str| OpenError::Damaged { path: path.to_owned(), what: what.to_owned() };
    match fs::metadata(path.join("db")) {
        // A store is made aside and renamed, so its log is never empty.
        Ok(log) if log.len() == 0 => Err(damaged("its log file `db` is empty")),
        Ok(_) => Ok(Found::Store),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(damaged("its log file `db` is missing, other files are there"))
        }
        Err(error) => Err(io_error(&path.join("db"), &error)),
    }
}

/// Makes a directory for this user only.
pub(super) fn make_private_dir(path: &Path) -> Result<(), OpenError> {
    DirBuilder::new().mode(0o700).create(path).map_err(|error| io_error(path, &error))
}

/// Where a new store is made before it gets its name.
pub(super) fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// Removes `snap.*.generating`: a kill during the snapshot write after a recovery leaves one, sled takes it for the
/// newest snapshot, and every later open answers `Corruption` (upstream 1527, 1533). The file is never needed.
pub(super) fn remove_half_snapshots(path: &Path) -> Result<(), OpenError> {
    for entry in fs::read_dir(path).map_err(|error| io_error(path, &error))? {
        let entry = entry.map_err(|error| io_error(path, &error))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            tracing::warn!(file = %name, "removing a half-written snapshot of the store");
            fs::remove_file(entry.path()).map_err(|error| io_error(&entry.path(), &error))?;
        }
    }
    Ok(())
}

/// Refuses a store that has something in `blobs/`: no release puts anything there, and what is there was not synced.
pub(super) fn refuse_blobs(path: &Path) -> Result<(), OpenError> {
    let blobs = path.join("blobs");
    let mut entries = match fs::read_dir(&blobs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error(&blobs, &error)),
    };
    if entries.next().is_some() {
        let what = "`blobs/` is not empty; no release writes there".to_owned();
        return Err(OpenError::Damaged { path: path.to_owned(), what });
    }
    Ok(())
}

/// Syncs what sled does not: `conf` (a torn one is refused for ever), the log, the directory with the renamed
/// snapshot, and the parent.
pub(super) fn sync_all(path: &Path) -> Result<(), OpenError> {
    sync(&path.join("conf"))?;
    sync(&path.join("db"))?;
    sync(&path.join("blobs"))?;
    sync(path)?;
    sync_parent(path)
}

/// Syncs the directory that a path lies in.
pub(super) fn sync_parent(path: &Path) -> Result<(), OpenError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync(parent),
        Some(_) => sync(Path::new(".")),
        None => Ok(()),
    }
}

fn sync(path: &Path) -> Result<(), OpenError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| io_error(path, &error))
}

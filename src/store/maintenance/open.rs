//! The one place of the offline tools that names an engine of the store, and the directories they use.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::MaintenanceError;
use crate::domain::Time;
use crate::store::STORE_DIR;
use crate::store::lock::StateLock;
use crate::store::sled::{Options, SledStore};

/// The engine.
pub(super) type Opened = SledStore;

/// Takes the state directory for this tool.
pub(super) fn lock(state_dir: &Path, now: Time) -> Result<StateLock, MaintenanceError> {
    Ok(StateLock::acquire(state_dir, now)?)
}

/// The store's directory.
pub(super) fn store_path(state_dir: &Path) -> PathBuf {
    state_dir.join(STORE_DIR)
}

/// Opens the store that is there; never makes one.
pub(super) fn open_existing(state_dir: &Path) -> Result<Opened, MaintenanceError> {
    let path = store_path(state_dir);
    if is_absent(&path)? {
        return Err(MaintenanceError::NoStore { path });
    }
    open_at(&path)
}

/// Opens the store in this directory, or makes it. The reserve is the daemon's business.
pub(super) fn open_at(path: &Path) -> Result<Opened, MaintenanceError> {
    Ok(SledStore::open(Options { reserve_bytes: 0, ..Options::new(path) })?)
}

/// Whether there is nothing: no directory, or an empty one.
pub(super) fn is_absent(path: &Path) -> Result<bool, MaintenanceError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(MaintenanceError::file(path, &error)),
    }
}

/// Makes a directory for this user only, if there is none.
pub(super) fn make_private(dir: &Path) -> Result<(), MaintenanceError> {
    if dir.is_dir() {
        return Ok(());
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| MaintenanceError::file(dir, &error))
}

/// Removes what an earlier run of the same tool left unfinished.
pub(super) fn remove_unfinished(path: &Path) -> Result<(), MaintenanceError> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(MaintenanceError::file(path, &error)),
    }
}

/// Syncs the files of a directory, the directory and its parent.
pub(super) fn sync_tree(path: &Path) -> Result<(), MaintenanceError> {
    let failed = |error: std::io::Error| MaintenanceError::file(path, &error);
    for entry in fs::read_dir(path).map_err(failed)? {
        sync(&entry.map_err(failed)?.path())?;
    }
    sync(path)?;
    sync_parent(path)
}

/// Syncs the directory that a path lies in.
pub(super) fn sync_parent(path: &Path) -> Result<(), MaintenanceError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync(parent),
        Some(_) => sync(Path::new(".")),
        None => Ok(()),
    }
}

fn sync(path: &Path) -> Result<(), MaintenanceError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| MaintenanceError::file(path, &error))
}

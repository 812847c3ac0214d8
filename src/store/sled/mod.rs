//! The embedded engine: `sled`, used by the rules that make it keep what it acknowledged.
//!
//! Owns one directory: sled's files and the reserve. The composition root opens it, behind the lock of the state
//! directory; others see only [`Store`]. It never answers `Ok` before its own sync of the log file, and never goes on
//! after an error of the engine without a [`Store::reopen`].

mod engine;
mod fault;
mod files;
mod layout;
mod open;
mod records;
mod reserve;
#[cfg(test)]
mod tests;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use self::fault::caught;
use self::open::Handle;
use self::reserve::Reserve;
use super::error::{OpenError, ReadError};

#[cfg(doc)]
use super::Store;

/// The page cache. sled takes more than it is told (about 1.5 times), and a gigabyte if it is told nothing.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// The reserve: enough for the outcomes of some ten thousand operations that were begun before the disk was full.
const RESERVE_BYTES: u64 = 64 * 1024 * 1024;
/// Below this, new proposals are refused: as much again as the reserve, so that the reserve is rarely needed.
const LOW_SPACE_BYTES: u64 = 128 * 1024 * 1024;
/// What must be left on the file system after a commit. sled dies of a full disk, so it must never meet one: besides
/// the batch it writes consolidated pages, the rest of a segment and rewritten pages of old segments.
const HEADROOM_BYTES: u64 = 8 * 1024 * 1024;

/// Where the store is, and its limits.
#[derive(Debug, Clone)]
pub struct Options {
    /// The store's own directory; its parent must exist. Made if missing.
    pub path: PathBuf,
    /// Size of the page cache.
    pub cache_bytes: u64,
    /// Size of the reserve file; 0 for none.
    pub reserve_bytes: u64,
    /// Free space below which [`Store::low_space`] says so.
    pub low_space_bytes: u64,
    /// Free space that every commit leaves; one that would not is refused. 0 switches this off, for file systems that
    /// do not tell their free space truly; a full disk then ends the handle.
    pub headroom_bytes: u64,
}

impl Options {
    /// The defaults for a store in this directory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Options {
        Options {
            path: path.into(),
            cache_bytes: CACHE_BYTES,
            reserve_bytes: RESERVE_BYTES,
            low_space_bytes: LOW_SPACE_BYTES,
            headroom_bytes: HEADROOM_BYTES,
        }
    }
}

/// The sled engine.
pub struct SledStore {
    options: Options,
    state: RwLock<State>,
    /// One commit at a time: expectations are checked and written as one step.
    writer: Mutex<()>,
    /// Held for writing while a batch is applied (not while it is synced), so that a reader never sees a new head
    /// with old parts.
    applying: RwLock<()>,
    reserve: Reserve,
    commits: AtomicU64,
    syncs: AtomicU64,
    log_bytes: AtomicU64,
}

enum State {
    Open(Handle),
    Dead(String),
}

impl SledStore {
    /// Opens the store, or makes an empty one if the directory is missing or empty.
    ///
    /// # Errors
    /// Nothing of the data was changed.
    pub fn open(options: Options) -> Result<SledStore, OpenError> {
        let handle = open::open(&options)?;
        let reserve = Reserve::new(&options.path, options.reserve_bytes);
        // A missing reserve is no reason not to start: `low_space` says so, and proposals are refused.
        let _ = reserve.restore(options.headroom_bytes);
        Ok(SledStore {
            options,
            state: RwLock::new(State::Open(handle)),
            writer: Mutex::new(()),
            applying: RwLock::new(()),
            reserve,
            commits: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            log_bytes: AtomicU64::new(0),
        })
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the handle: after an error sled's memory and its files may disagree for good.
    fn kill(&self, what: &str) {
        let old = {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::Dead(_)) {
                return;
            }
            std::mem::replace(&mut *state, State::Dead(what.to_owned()))
        };
        tracing::error!(what, "the store is closed after an error");
        // Outside the lock: closing waits for sled's threads.
        close(old);
    }
}

/// Closing sled flushes, and may panic on what it then meets.
fn close(state: State) {
    let _ = caught(move || {
        drop(state);
        Ok(())
    });
}

impl Drop for SledStore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        close(std::mem::replace(state, State::Dead("closed".to_owned())));
    }
}

impl std::fmt::Debug for SledStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SledStore").field("path", &self.options.path).finish_non_exhaustive()
    }
}

fn dead(what: &str) -> ReadError {
    ReadError::Dead { what: what.to_owned() }
}

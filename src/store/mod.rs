//! Records in a store: a thin, fallible, versioned key-value trait, its engines, and one suite that all of them pass.
//!
//! Owns: keys, batches, errors that say what happened to the store, the frame around every value, the single-daemon
//! lock. The typed layer (operations, journal) and the composition root may call it. It never looks inside a payload,
//! never repairs or deletes damaged data by itself, and never answers `Ok` to a commit that is not synced.

pub mod append;
mod batch;
pub mod codec;
#[cfg(test)]
pub(crate) mod conformance;
mod error;
pub mod faulty;
mod frame;
mod key;
pub mod lock;
pub mod maintenance;
pub mod records;
pub mod sled;
#[cfg(test)]
pub(crate) mod testing;

pub use batch::{Batch, Record, VersionMismatch};
pub use error::{CommitError, Damage, OpenError, ReadError, Written};
pub use key::{Key, KeyTooLong, MAX_KEY_BYTES, Range};

/// The largest payload of one record. Larger things (files that arguments point to) do not belong into the store.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// The store's directory inside the state directory.
pub const STORE_DIR: &str = "store";

/// The room that a store has and takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Space {
    /// What the file system still gives to this process, in bytes.
    pub free_bytes: u64,
    /// What the store's files occupy, in bytes, the reserve included.
    pub store_bytes: u64,
}

/// What a store did since it was opened; for benchmarks and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Batches that were committed.
    pub commits: u64,
    /// Device syncs that commits waited for.
    pub syncs: u64,
    /// Bytes that commits appended to the store's log.
    pub log_bytes: u64,
}

/// A row of a scan: the key, and its record or why that one cannot be read.
pub type Row = (Key, Result<Record, Damage>);

/// What every engine offers. All calls block; the caller decides on which thread.
///
/// A read that runs beside a commit may see its writes before they are synced. Whoever answers others must hold back
/// what has not been published; an answer from a read that began after `commit` returned is durable.
pub trait Store: Send + Sync {
    /// The record of a key, or `None`.
    ///
    /// # Errors
    /// The record is there but cannot be read, the store answers with an error, or it is dead.
    fn get(&self, key: &Key) -> Result<Option<Record>, ReadError>;

    /// The records of a range in byte order of their keys (descending if the range says so), at most `limit`. One
    /// unreadable record is a row of its own and hides no other.
    ///
    /// # Errors
    /// The store cannot be read at all, or it is dead.
    fn scan(&self, range: &Range, limit: usize) -> Result<Vec<Row>, ReadError>;

    /// The last key that starts with the bytes of `prefix`; its record is not read.
    ///
    /// # Errors
    /// As [`Store::scan`].
    fn last_key(&self, prefix: &Key) -> Result<Option<Key>, ReadError>;

    /// Writes the whole batch or nothing of it. When it returns `Ok`, all of it is synced.
    ///
    /// # Errors
    /// Each variant says what happened to the store; see [`CommitError`].
    fn commit(&self, batch: &Batch) -> Result<(), CommitError>;

    /// Free and used bytes.
    ///
    /// # Errors
    /// The file system does not tell.
    fn space(&self) -> Result<Space, ReadError>;

    /// What was done since the store was opened.
    fn counters(&self) -> Counters;

    /// Whether new proposals must be refused so that outcomes stay storable: little space is left, or the reserve is
    /// gone. Space that cannot be told is low.
    fn low_space(&self) -> bool;

    /// Gives the reserve's space to the next commits. True if there was a reserve.
    ///
    /// # Errors
    /// The reserve is there and cannot be removed.
    fn release_reserve(&self) -> Result<bool, ReadError>;

    /// Makes the reserve again if there is space for it. True if it stands afterwards.
    ///
    /// # Errors
    /// The reserve could neither be made nor its absence be told.
    fn restore_reserve(&self) -> Result<bool, ReadError>;

    /// Closes what is open and opens the store again; the only way on after [`CommitError::Dead`] and friends. The
    /// caller then reads back what it was not sure of.
    ///
    /// # Errors
    /// The store stays dead.
    fn reopen(&self) -> Result<(), OpenError>;
}

//! What can go wrong with a store. Every error says what the store holds now, as far as that is known.

use std::path::PathBuf;

use super::batch::VersionMismatch;
use super::key::Key;

/// Why one record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The bytes do not begin as a record does.
    #[error("not a record of this store")]
    NotARecord,
    /// Fewer or more bytes than the record says it has.
    #[error("the record has another length than it says")]
    Length,
    /// The content is not what was written, or was written under another key.
    #[error("the checksum of the record does not match")]
    Checksum,
    /// A longer record lacks this part.
    #[error("part {0} of the record is missing")]
    MissingPart(usize),
    /// The engine handed out a key that cannot have been written.
    #[error("not a key of this store")]
    NotAKey,
    /// The record was written by a newer release.
    #[error("the record has format {found}; this release reads formats up to {known}")]
    NewerFormat {
        /// The format of the record.
        found: u8,
        /// The newest format that is known here.
        known: u8,
    },
}

/// A read was not answered. The store is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The record is damaged; others may be fine.
    #[error("the record at {key} is damaged: {what}")]
    Damaged {
        /// Its key.
        key: Key,
        /// What is wrong with it.
        what: Damage,
    },
    /// The record was written by a newer release; a newer release reads it.
    #[error("the record at {key} has format {found}; this release reads formats up to {known}")]
    NewerFormat {
        /// Its key.
        key: Key,
        /// Its format.
        found: u8,
        /// The newest format that is known here.
        known: u8,
    },
    /// A page of the store cannot be read. Other pages may be fine, so the store is not dead.
    #[error("a page of the store is damaged: {what}")]
    Page {
        /// What the engine says.
        what: String,
    },
    /// The engine or the file system answered with an error; the store is dead now.
    #[error("the store cannot be read: {what}")]
    Io {
        /// What the engine or the system says.
        what: String,
    },
    /// An earlier error ended this handle; reopen the store.
    #[error("the store is closed after an earlier error: {what}")]
    Dead {
        /// The earlier error.
        what: String,
    },
}

impl ReadError {
    pub(crate) fn of_record(key: &Key, what: Damage) -> ReadError {
        match what {
            Damage::NewerFormat { found, known } => ReadError::NewerFormat { key: key.clone(), found, known },
            Damage::NotARecord
            | Damage::Length
            | Damage::Checksum
            | Damage::MissingPart(_)
            | Damage::NotAKey => ReadError::Damaged { key: key.clone(), what },
        }
    }
}

/// What a failed commit left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing of the batch is in the store, now or after a restart.
    Nothing,
    /// The whole batch may be there after the store is reopened, or nothing of it. Read it back.
    Unknown,
}

/// A commit did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A key has another version than expected. Nothing was written; the store goes on.
    #[error(transparent)]
    VersionConflict(#[from] VersionMismatch),
    /// No space. With [`Written::Nothing`] the store goes on and reads are fine; otherwise it is dead.
    #[error("no space left for the store ({free_bytes} bytes free)")]
    Full {
        /// What is left on the file system.
        free_bytes: u64,
        /// What became of the batch.
        written: Written,
    },
    /// Nothing was written; the store goes on.
    #[error("nothing was written: {what}")]
    NotWritten {
        /// Why.
        what: String,
    },
    /// The batch may be there after the store is reopened, whole or not at all. The store is dead now.
    #[error("it is unknown whether the batch was written: {what}")]
    MayBeWritten {
        /// Why.
        what: String,
    },
    /// An earlier error ended this handle; nothing was written. Reopen the store.
    #[error("nothing was written, the store is closed after an earlier error: {what}")]
    Dead {
        /// The earlier error.
        what: String,
    },
}

impl CommitError {
    /// What became of the batch.
    #[must_use]
    pub fn written(&self) -> Written {
        match self {
            CommitError::MayBeWritten { .. } => Written::Unknown,
            CommitError::Full { written, .. } => *written,
            CommitError::VersionConflict(_) | CommitError::NotWritten { .. } | CommitError::Dead { .. } => {
                Written::Nothing
            }
        }
    }

    /// Whether the store must be reopened before it answers again.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        matches!(self, CommitError::Dead { .. }) || self.written() == Written::Unknown
    }
}

/// A store could not be opened. Its data was not touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The files are damaged. Never deleted or repaired by the daemon.
    #[error(
        "the store in {path} is damaged: {what}. Keep a copy of the directory, then run `writd recover`, or import \
         the last export into an empty state directory with `writd import`"
    )]
    Damaged {
        /// The directory of the store.
        path: PathBuf,
        /// What the engine says.
        what: String,
    },
    /// Another process has it open.
    #[error("the store in {path} is open in another process")]
    InUse {
        /// The directory of the store.
        path: PathBuf,
    },
    /// Made by another release of the engine, or with other settings.
    #[error("the store in {path} cannot be opened by this release: {what}")]
    Unsupported {
        /// The directory of the store.
        path: PathBuf,
        /// What the engine says.
        what: String,
    },
    /// No space for what opening writes.
    #[error("no space left to open the store in {path}: free some and start again")]
    Full {
        /// The directory of the store.
        path: PathBuf,
    },
    /// The file system answered with an error.
    #[error("the store in {path} cannot be opened: {what}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
}

//! Why an offline tool could not do what it was asked to. Each says what was left behind.

use std::io;
use std::path::{Path, PathBuf};

use super::verify::acks::AckError;
use crate::domain::Code;
use crate::store::codec::NotDecoded;
use crate::store::lock::LockError;
use crate::store::records::RecordError;
use crate::store::{CommitError, OpenError, ReadError, VersionMismatch};

/// An offline tool stopped. Unless the variant says otherwise, the store is as it was.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// Somebody else has the state directory.
    #[error("{0}. Stop the daemon first: this works on a store that nobody uses")]
    Lock(#[from] LockError),
    /// There is no store.
    #[error("there is no store at {path}: is this the state directory?")]
    NoStore {
        /// Where it would be.
        path: PathBuf,
    },
    /// The store does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store cannot be read at all any more.
    #[error("the store cannot be read: {0}")]
    Read(#[from] ReadError),
    /// A record cannot be read where one is needed.
    #[error("a record cannot be read: {0}. Run `writd verify`, then `writd recover`")]
    Record(#[from] RecordError),
    /// What was built aside could not be stored.
    #[error("the store that is built aside cannot be written: {0}")]
    Commit(#[from] CommitError),
    /// A record cannot be encoded: a mistake of ours.
    #[error("a record cannot be encoded: {0}")]
    Encode(#[from] NotDecoded),
    /// A file.
    #[error("{path}: {what}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
    /// The facts to hold the store against.
    #[error(transparent)]
    Acks(#[from] AckError),
    /// It would overwrite or mix something.
    #[error("refused: {0}")]
    Refused(String),
    /// Not a whole, unchanged export.
    #[error("{path} is not a whole, unchanged export: {why}. Nothing was imported")]
    NotAnExport {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl From<VersionMismatch> for MaintenanceError {
    fn from(error: VersionMismatch) -> MaintenanceError {
        MaintenanceError::Commit(error.into())
    }
}

impl MaintenanceError {
    pub(super) fn file(path: &Path, error: &io::Error) -> MaintenanceError {
        MaintenanceError::File { path: path.to_owned(), what: error.to_string() }
    }

    /// The code whose category says how a command ends.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            MaintenanceError::Lock(_) | MaintenanceError::Open(OpenError::InUse { .. }) => Code::Conflict,
            MaintenanceError::NoStore { .. } => Code::NotFound,
            MaintenanceError::Open(OpenError::Full { .. })
            | MaintenanceError::Commit(CommitError::Full { .. }) => Code::StorageFull,
            MaintenanceError::Open(
                OpenError::Damaged { .. } | OpenError::Unsupported { .. } | OpenError::Io { .. },
            )
            | MaintenanceError::Read(_)
            | MaintenanceError::Record(_) => Code::StoreDamaged,
            MaintenanceError::Commit(
                CommitError::VersionConflict(_)
                | CommitError::NotWritten { .. }
                | CommitError::MayBeWritten { .. }
                | CommitError::Dead { .. },
            )
            | MaintenanceError::Encode(_) => Code::Internal,
            MaintenanceError::File { .. }
            | MaintenanceError::Acks(_)
            | MaintenanceError::NotAnExport { .. } => Code::InvalidArgument,
            MaintenanceError::Refused(_) => Code::PreconditionFailed,
        }
    }
}

//! An answer that claimed success and was not fit to be a receipt, kept for the operator who has to find out what it
//! means. It is evidence for a person and proves nothing to the daemon.

use serde::{Deserialize, Serialize};

use crate::domain::ids::AttemptId;
use crate::domain::{Digest, Time};

/// How much of it is kept.
pub const RAW_ANSWER_KEPT: usize = 64 * 1024;

/// The last such answer of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RawAnswer {
    /// The attempt that it answered.
    pub attempt: AttemptId,
    /// When it came.
    pub at: Time,
    /// Its status.
    pub status: u16,
    /// Its bytes, at most [`RAW_ANSWER_KEPT`] of them.
    pub bytes: Vec<u8>,
    /// How long it was.
    pub size: u64,
    /// SHA-256 of all of it.
    pub sha256: Digest,
}

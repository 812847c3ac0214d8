//! An operation with everything that a person or program is shown of it, from stored data only.

use std::sync::Arc;

use super::handle::Handle;
use crate::domain::Code;
use crate::domain::ids::OperationId;
use crate::domain::journal::{Entry, Fact};
use crate::domain::operation::Body;
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::store::codec;
use crate::store::records::Stored;

/// An operation and the bodies of its proposal.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The operation.
    pub stored: Arc<Stored>,
    /// The bodies.
    pub body: Body,
}

/// Everything that is shown of an operation.
///
/// # Errors
/// As [`Handle::operation`].
pub fn detail(handle: &Handle, id: OperationId, by: &Principal) -> Result<Detail, Box<Problem>> {
    let stored = handle.operation(id, by)?;
    let body = handle.body(id)?;
    Ok(Detail { stored, body })
}

/// What an entry says; none when it was erased.
///
/// # Errors
/// INTERNAL when its payload cannot be read.
pub fn fact_of(entry: &Entry) -> Result<Option<Fact>, Box<Problem>> {
    if entry.is_erased() {
        return Ok(None);
    }
    codec::decode(&entry.payload).map(Some).map_err(|error| {
        tracing::error!(seq = entry.seq, %error, "a journal entry cannot be read");
        Box::new(Problem::new(Code::Internal, "a journal entry cannot be read; run `writd verify`"))
    })
}

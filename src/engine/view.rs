//! An operation with everything that a person or program is shown of it, from stored data only.

use std::sync::Arc;

use super::handle::Handle;
use crate::domain::ids::OperationId;
use crate::domain::operation::Body;
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
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

//! What the policy table in force says, and why: about a stored operation, or about a write that nobody has proposed yet.
//! Nothing is stored and nothing but the reads of a preview is sent.

use std::sync::Arc;

use super::handle::Handle;
use super::propose::{ProposeRequest, check_based_on};
use crate::domain::Time;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::Proposal;
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::ports::Explained;
use crate::store::records::Stored;

/// What is explained of a stored operation.
#[derive(Clone, Debug)]
pub struct ExplainedOperation {
    /// The operation.
    pub stored: Arc<Stored>,
    /// When the table was asked.
    pub at: Time,
    /// What it says.
    pub explained: Explained,
}

/// What is explained of a write that is not proposed.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// As it would be proposed; its id is of nothing.
    pub proposal: Box<Proposal>,
    /// What the table says.
    pub explained: Explained,
}

impl Handle {
    /// What the table in force says about an operation, on the facts that are stored with it, as at a claim.
    ///
    /// # Errors
    /// NOT_FOUND, or INTERNAL when its record cannot be read.
    pub fn explain(&self, id: OperationId, by: &Principal) -> Result<ExplainedOperation, Box<Problem>> {
        let stored = self.operation(id, by)?;
        let body = self.body(id)?;
        let at = self.parts.clock.now();
        let explained = self.parts.policy.explain(&stored.operation.proposal, &body, at);
        Ok(ExplainedOperation { stored, at, explained })
    }

    /// The way of a proposal up to the table, with the same checks and the same reads. A version that it is based on is
    /// compared where one is given.
    ///
    /// # Errors
    /// As [`Handle::propose`], but for the table's own refusal, which is part of the answer.
    pub async fn dry_run(
        &self,
        run: RunId,
        by: &Principal,
        request: ProposeRequest,
    ) -> Result<DryRun, Box<Problem>> {
        let run = self.open_run_of(run, by)?;
        let admitted = self.admitted(&run, by, &request).await?;
        let based_on = request.based_on.clone();
        let draft = self.prepared(&run, by, admitted, request).await?;
        if based_on.is_some() {
            check_based_on(&draft.proposal, based_on.as_ref())?;
        }
        let explained = self.parts.policy.explain(&draft.proposal, &draft.body, draft.proposal.created);
        Ok(DryRun { proposal: Box::new(draft.proposal), explained })
    }
}

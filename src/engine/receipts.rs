//! What people bring and read to settle an outcome: receipts, and answers that were not fit to be one.

use serde_json::Value;

use super::handle::{Handle, unreadable};
use super::readback::read_back;
use crate::domain::Code;
use crate::domain::ids::OperationId;
use crate::domain::operation::{Proposal, RawAnswer, Readback};
use crate::domain::principal::{Principal, PrincipalKind, Role};
use crate::domain::problem::Problem;
use crate::ports::{Audience, Tool};

impl Handle {
    /// What an independent read sees after a success that the status protocol told of.
    pub async fn read_back(
        &self,
        proposal: &Proposal,
        tool: &dyn Tool,
        arguments: &str,
        receipt: &str,
    ) -> Option<Readback> {
        read_back(&self.parts, tool, proposal, arguments, receipt).await
    }

    /// The canonical text of a receipt that an operator brings, checked by the contract that the operation was proposed
    /// under.
    ///
    /// # Errors
    /// INVALID_ARGUMENT where it does not fit; UNSUPPORTED_TOOL where the contract cannot be had any more.
    pub fn admit_receipt(
        &self,
        id: OperationId,
        receipt: &Value,
        by: &Principal,
    ) -> Result<String, Box<Problem>> {
        let stored = self.operation(id, by)?;
        let proposal = &stored.operation.proposal;
        let tool = self.tool_of(proposal).map_err(|error| {
            tracing::error!(operation = %id, error, "the contract of an operation cannot be had");
            let detail = "its contract cannot be read any more, so a receipt cannot be checked: leave it out and say in the note what you know";
            Box::new(Problem::new(Code::UnsupportedTool, detail))
        })?;
        tool.admit_receipt(proposal, &self.body(id)?.request, receipt)
    }

    /// The last answer of an operation that claimed success and was not fit to be a receipt; for operators.
    ///
    /// # Errors
    /// NOT_FOUND, PERMISSION_DENIED, or INTERNAL when the record cannot be read.
    pub fn raw_answer(&self, id: OperationId, by: &Principal) -> Result<RawAnswer, Box<Problem>> {
        let stored = self.operation(id, by)?;
        let person = match by.kind {
            PrincipalKind::User | PrincipalKind::Operator => true,
            PrincipalKind::Agent | PrincipalKind::Service => false,
        };
        if !person || !by.has(Role::Operator) {
            let detail =
                "an answer that is not fit to be a receipt is shown to persons with the role `operator` only";
            return Err(Box::new(Problem::new(Code::PermissionDenied, detail)));
        }
        let raw = self.records().raw(id).map_err(|error| unreadable(&error))?;
        let mut raw =
            raw.ok_or_else(|| Box::new(Problem::new(Code::NotFound, "no answer of this operation is kept")))?;
        // It does not have its form, so nobody knows where in it the things are that operators are not to see.
        let tool = self.tool_of(&stored.operation.proposal);
        if tool.map_or(true, |tool| tool.redacts(Audience::Operator)) {
            raw.bytes.clear();
        }
        Ok(raw)
    }
}

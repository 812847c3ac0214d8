//! Denied for good: the same arguments for the same target are refused from then on, whoever asks and under whatever
//! key. Remembered where the keys of our own API are, under a name that no client can choose.

use super::Writer;
use crate::domain::json::Canonical;
use crate::domain::operation::{Operation, Proposal};
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest};
use crate::engine::group::internal;
use crate::store::records::{Created, IdempotencyRecord, Stored};

/// What is denied: tenant, tool, arguments and target. A key of a client has a tenant, a principal, a run and a text.
fn scope(proposal: &Proposal) -> Result<Digest, Box<Problem>> {
    let named = serde_json::json!([
        "denied for good",
        proposal.tenant,
        proposal.tool,
        proposal.arguments_sha256,
        proposal.target.kind,
        proposal.target.id,
    ]);
    Canonical::of(&named).map(|canonical| canonical.digest()).map_err(|error| Box::new(Problem::from(&error)))
}

impl Writer {
    /// Remembers it with the denial, in the same commit.
    pub(super) fn remember_denial(&mut self, stored: &Stored) -> Result<(), Box<Problem>> {
        let proposal = stored.operation.proposal.as_ref();
        let record = IdempotencyRecord {
            request: proposal.proposal_sha256,
            arguments: proposal.arguments_sha256,
            created: Created::Denial(proposal.id),
            at: self.now(),
        };
        self.group.put_idempotency(scope(proposal)?, record).map_err(|error| internal(&error))
    }

    /// Whether the same was denied for good.
    pub(super) fn refuse_denied(&mut self, proposal: &Proposal) -> Result<(), Box<Problem>> {
        let Some(record) = self.remembered(scope(proposal)?)? else { return Ok(()) };
        let Created::Denial(id) = record.created else { return Ok(()) };
        let reason = self.load(id).ok().and_then(|denied| reason_of(&denied.operation));
        let detail = format!(
            "the same write was denied for good: {}",
            reason.as_deref().unwrap_or("its reason cannot be read")
        );
        Err(Box::new(Problem::new(Code::Denied, detail)))
    }
}

fn reason_of(operation: &Operation) -> Option<String> {
    operation.outcome.as_ref().and_then(|outcome| outcome.detail.clone())
}

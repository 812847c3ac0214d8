//! What a principal may use: its own grants, those of whom it acts for, and for agents what the catalog shows to them.
//! Asked when a run is opened, at every call and proposal, and again at the claim.

use super::Parts;
use crate::domain::Code;
use crate::domain::operation::Proposal;
use crate::domain::principal::{Principal, PrincipalKind};
use crate::domain::problem::Problem;

/// Whether it may use this tool, `name.vMAJOR`. Whether the tool exists is not said to who may not use it.
pub(super) fn may_use(
    parts: &Parts,
    by: &Principal,
    on_behalf_of: Option<&str>,
    tool: &str,
) -> Result<(), Box<Problem>> {
    let granted = parts.directory.may_use(&by.name, on_behalf_of, &by.tenant, tool);
    if granted && shown_to(parts, by.kind, tool) {
        return Ok(());
    }
    Err(Box::new(Problem::new(Code::PermissionDenied, "you may not use this tool")))
}

/// Whether the requester of a write, and the person for whom it asked, may still have it executed.
pub(super) fn may_execute(parts: &Parts, proposal: &Proposal) -> bool {
    let (by, tool) = (&proposal.requester, proposal.tool_ref());
    let person = proposal.on_behalf_of.as_deref();
    parts.directory.may_write(by, person, &proposal.tenant, &tool)
        && person.is_none_or(|person| parts.directory.may_be_acted_for(person, &proposal.tenant))
        && shown_to(parts, by.kind, &tool)
}

fn shown_to(parts: &Parts, kind: PrincipalKind, tool: &str) -> bool {
    match kind {
        PrincipalKind::Agent => parts.tools.agents_see(tool),
        PrincipalKind::User | PrincipalKind::Operator | PrincipalKind::Service => true,
    }
}

//! The independent read after a success: made while the target is still held, so that no later write is taken for a
//! difference. The receipt is stored before. What it sees proves nothing against the receipt; a difference is for a person to look at.

use serde_json::Value;

use super::{Parts, call};
use crate::domain::operation::{Proposal, Readback};
use crate::ports::Tool;

/// None where the contract wants no such read.
pub(super) async fn read_back(
    parts: &Parts,
    tool: &dyn Tool,
    proposal: &Proposal,
    arguments: &str,
    receipt: &str,
) -> Option<Readback> {
    let (Ok(arguments), Ok(receipt)) = (serde_json::from_str(arguments), serde_json::from_str(receipt))
    else {
        return Some(Readback::Unavailable("the stored arguments or the receipt cannot be read".to_owned()));
    };
    look(parts, tool, proposal, &arguments, &receipt).await
}

async fn look(
    parts: &Parts,
    tool: &dyn Tool,
    proposal: &Proposal,
    arguments: &Value,
    receipt: &Value,
) -> Option<Readback> {
    let unavailable = |problem: &crate::domain::problem::Problem| {
        Readback::Unavailable(format!("{}: {}", problem.code, problem.detail))
    };
    let wanted = match tool.readback(arguments, receipt) {
        Ok(None) => return None,
        Ok(Some(wanted)) => wanted,
        Err(problem) => return Some(unavailable(&problem)),
    };
    let seen = call::by_reference(parts, &wanted, &call::AskedBy::proposer(proposal)).await;
    let differences = seen.and_then(|seen| tool.differences(arguments, receipt, &seen));
    Some(match differences {
        Ok(differences) if differences.is_empty() => Readback::Agrees,
        Ok(differences) => Readback::Differs(differences),
        Err(problem) => unavailable(&problem),
    })
}

//! What a proposal takes of budgets, and what was taken before the daemon was started.

use serde_json::Value;

use super::Parts;
use super::memory::Memory;
use crate::domain::budget::{Budget, Per, Spend};
use crate::domain::operation::{Body, Proposal};
use crate::domain::pattern::matches_pattern;
use crate::domain::problem::Problem;
use crate::domain::{Code, Time};
use crate::store::Range;
use crate::store::records::{RecordError, Stored, decode_row, keys};

/// Ended operations that are read at a time.
const PAGE: usize = 1024;

/// The amounts of a proposal. One that no budget could ever hold is refused at once, and so is one that cannot be counted.
pub(super) fn spends(
    budgets: &[Budget],
    proposal: &Proposal,
    body: &Body,
) -> Result<Vec<Spend>, Box<Problem>> {
    let tool = proposal.tool_ref();
    // Canonical, with everything filled in: what is sent.
    let arguments: Value = serde_json::from_str(&body.arguments).unwrap_or(Value::Null);
    let mut spends = Vec::new();
    for budget in budgets.iter().filter(|budget| matches_pattern(&budget.tool, &tool)) {
        let amount = match &budget.argument {
            None => 1,
            Some(pointer) => match arguments.pointer(pointer) {
                None => 0,
                Some(value) => value.as_u64().ok_or_else(|| {
                    let detail = format!(
                        "the budget {} sums this argument, which is not a whole number of at least zero here",
                        budget.name
                    );
                    refused(Code::InvalidArgument, pointer, detail)
                })?,
            },
        };
        if amount > budget.max {
            let pointer = budget.argument.as_deref().unwrap_or_default();
            let detail = format!("it is more than the whole budget {} allows at any time", budget.name);
            return Err(refused(Code::BudgetExhausted, pointer, detail));
        }
        let key = match budget.per {
            Per::Tenant => proposal.tenant.clone(),
            Per::Requester => format!("{}/{}", proposal.tenant, proposal.requester.name),
            Per::Run => proposal.run.to_string(),
        };
        spends.push(Spend { budget: budget.name.clone(), key, amount });
    }
    Ok(spends)
}

fn refused(code: Code, argument: &str, detail: String) -> Box<Problem> {
    let mut problem = Problem::new(code, detail);
    problem.pointer = Some(format!("/arguments{argument}"));
    Box::new(problem)
}

/// Ended writes whose claim may lie in the window of a budget: none was claimed later than its clocks allow after it was
/// proposed, so the newest of them are enough.
pub(super) fn recall(parts: &Parts, memory: &mut Memory, now: Time) -> Result<(), RecordError> {
    let budgets = parts.directory.budgets();
    let Some(window) = budgets.iter().map(|budget| budget.window).max() else { return Ok(()) };
    let (decide, execute) = parts.directory.clock_bounds();
    let before = now.minus(window).minus(decide).minus(execute);
    let mut range = Range::prefix(&keys::space(b'o')).reversed();
    loop {
        let rows = parts.store.scan(&range, PAGE)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        range = range.after(last);
        let whole = rows.len() == PAGE;
        for (key, record) in rows {
            // One that cannot be read is quarantined elsewhere; it has ended, and nobody knows what it took.
            let Ok(stored) = decode_row::<Stored>(&key, record) else { continue };
            if stored.operation.proposal.created < before {
                return Ok(());
            }
            if !stored.operation.proposal.spends.is_empty() {
                memory.spent.hear(&stored.operation);
            }
        }
        if !whole {
            return Ok(());
        }
    }
}

//! Whether another attempt may run after a proof that the last one had no effect: only with the same key, and only
//! while class, attempts, budget, approval and everybody involved allow it.

use crate::domain::Millis;
use crate::domain::Time;
use crate::domain::operation::command::{Facts, backoff};
use crate::domain::operation::{Operation, RetryClass};

/// When the next attempt may run, or why there is none.
pub(super) fn next_attempt(
    op: &Operation,
    facts: &Facts<'_>,
    retry_after: Option<Millis>,
) -> Result<Time, &'static str> {
    let rules = &op.proposal.rules;
    match rules.retry {
        RetryClass::Idempotent => {}
        RetryClass::Never | RetryClass::SafeRead => return Err("its contract allows one attempt"),
    }
    if op.no_more_attempts {
        return Err("somebody asked to stop");
    }
    let made = u32::try_from(op.attempts.len()).unwrap_or(u32::MAX);
    if made >= rules.max_attempts {
        return Err("its attempts are used up");
    }
    let wait = backoff(rules, made + 1, facts.jitter).max(retry_after.unwrap_or_default());
    let at = facts.now.plus(wait);
    let first = op.attempts.first().map_or(facts.now, |attempt| attempt.started);
    if at.since(first) > rules.budget {
        return Err("its retry budget is used up");
    }
    match op.execute_by {
        Some(execute_by) if at < execute_by => {}
        Some(_) => return Err("its approval expires before the next attempt"),
        None => return Err("its approval is void"),
    }
    if !op.is_approved() {
        return Err("its approval is void");
    }
    Ok(at)
}

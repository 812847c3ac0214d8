//! Compensation: an operation of its own, linked; this side only follows it.

use super::Applied;
use crate::domain::ids::OperationId;
use crate::domain::operation::evidence::NamedEffect;
use crate::domain::operation::record::Outcome;
use crate::domain::operation::{Effect, Operation, State};

pub(super) fn started(op: &mut Operation, operation: OperationId) -> Applied {
    if op.effect == Effect::None {
        return Err("there is no effect to undo");
    }
    op.before_compensation = Some(op.state);
    op.compensation = Some(operation);
    op.state = State::Compensating;
    Ok(())
}

pub(super) fn withdrawn(op: &mut Operation) -> Applied {
    op.state = op.before_compensation.take().ok_or("the state before is not recorded")?;
    Ok(())
}

pub(super) fn succeeded(op: &mut Operation) -> Applied {
    op.before_compensation = None;
    op.state = State::Compensated;
    op.effect = Effect::None;
    Ok(())
}

pub(super) fn failed(op: &mut Operation, residual: &[String]) -> Applied {
    op.before_compensation = None;
    op.state = State::CompensationFailed;
    let effect = op.effect;
    let parts = residual.iter().map(|name| NamedEffect { name: name.clone(), state: effect, receipt: None });
    let outcome = op.outcome.get_or_insert(Outcome {
        code: None,
        detail: None,
        receipt: None,
        new_version: None,
        current_version: None,
        effects: Vec::new(),
        evidence: None,
        readback: None,
    });
    if !residual.is_empty() {
        outcome.effects = parts.collect();
    }
    Ok(())
}

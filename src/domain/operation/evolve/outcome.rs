//! How an operation ends, and what comes after the end.

use super::Applied;
use super::attempt::end_attempt;
use crate::domain::operation::evidence::{Evidence, NamedEffect, Readback, StatusSummary};
use crate::domain::operation::record::{AttemptResult, LATE_ANSWERS_KEPT, Late, Outcome};
use crate::domain::operation::{Effect, Operation, State};
use crate::domain::{Code, Time};

pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) detail: Option<String>,
    pub(super) effect: Effect,
    pub(super) effects: Vec<NamedEffect>,
    pub(super) current_version: Option<String>,
    pub(super) evidence: Evidence,
}

pub(super) fn precondition_failed(op: &mut Operation, code: Code, current: Option<String>) -> Applied {
    op.state = State::Failed;
    op.wait = None;
    op.outcome = Some(Outcome {
        code: Some(code),
        detail: None,
        receipt: None,
        new_version: None,
        current_version: current,
        effects: Vec::new(),
        evidence: None,
        readback: None,
    });
    Ok(())
}

pub(super) fn succeeded(
    op: &mut Operation,
    at: Time,
    receipt: Option<String>,
    new_version: Option<String>,
    evidence: Evidence,
) -> Applied {
    if receipt.is_none() && evidence != Evidence::Operator {
        return Err("success needs a receipt, or an operator's word");
    }
    end_attempt(op, at, AttemptResult::Final);
    op.state = State::Succeeded;
    op.effect = Effect::Applied;
    op.doubt = None;
    op.outcome = Some(Outcome {
        code: None,
        detail: None,
        receipt,
        new_version,
        current_version: None,
        effects: Vec::new(),
        evidence: Some(evidence),
        readback: None,
    });
    Ok(())
}

/// Kept beside the outcome: the receipt proves the effect, whatever an independent read sees.
pub(super) fn read_back(op: &mut Operation, found: &Readback) -> Applied {
    let outcome = op.outcome.as_mut().ok_or("there is no outcome to compare with")?;
    outcome.readback = Some(found.clone());
    Ok(())
}

pub(super) fn failed(op: &mut Operation, at: Time, failure: Failure) -> Applied {
    if failure.effect == Effect::Partial && failure.effects.is_empty() {
        return Err("a partial effect names its parts");
    }
    let result = match failure.effect {
        Effect::None => AttemptResult::NoEffect(failure.code),
        Effect::Applied | Effect::Partial | Effect::Unknown => AttemptResult::Final,
    };
    end_attempt(op, at, result);
    op.state = State::Failed;
    op.effect = failure.effect;
    op.doubt = None;
    op.outcome = Some(Outcome {
        code: Some(failure.code),
        detail: failure.detail,
        receipt: None,
        new_version: None,
        current_version: failure.current_version,
        effects: failure.effects,
        evidence: Some(failure.evidence),
        readback: None,
    });
    Ok(())
}

pub(super) fn abandoned(op: &mut Operation, reason: &str) -> Applied {
    op.state = State::Abandoned;
    op.doubt = None;
    op.outcome = Some(Outcome {
        code: Some(Code::OutcomeUnknown),
        detail: Some(reason.to_owned()),
        receipt: None,
        new_version: None,
        current_version: None,
        effects: Vec::new(),
        evidence: Some(Evidence::Operator),
        readback: None,
    });
    Ok(())
}

pub(super) fn late_answer(
    op: &mut Operation,
    at: Time,
    answer: &StatusSummary,
    effect: Option<Effect>,
) -> Applied {
    if op.attempts.is_empty() {
        return Err("without an attempt there is no late answer");
    }
    // A receipt is never dropped: it is what a later decision has to know.
    let receipt = matches!(answer, StatusSummary::Succeeded(_)) && op.late_receipt().is_none();
    if receipt || op.late.len() < LATE_ANSWERS_KEPT {
        op.late.push(Late { at, answer: answer.clone() });
    }
    if let Some(effect) = effect {
        op.effect = effect;
    }
    Ok(())
}

//! Record an attempt's answer. Ambiguous is the default; on a later attempt a conflict, precondition or not-found
//! answer is ambiguous too, because an earlier attempt may have landed.

use super::Decided;
use super::record_status::{late, no_effect};
use super::retry::next_attempt;
use crate::domain::Code;
use crate::domain::ids::AttemptId;
use crate::domain::operation::command::{AttemptAnswer, Facts};
use crate::domain::operation::evidence::{Evidence, Loss, NamedEffect, StatusSummary};
use crate::domain::operation::record::AttemptResult;
use crate::domain::operation::{Effect, Event, Operation, State};

pub(super) fn decide(
    op: &Operation,
    attempt: AttemptId,
    answer: &AttemptAnswer,
    facts: &Facts<'_>,
) -> Decided {
    let Some(known) = op.attempts.iter().find(|known| known.id == attempt) else {
        return Decided::refused(Code::NotFound, "there is no such attempt");
    };
    let current = op.attempts.last().is_some_and(|last| last.id == attempt);
    match op.state {
        State::Executing if current && known.result == AttemptResult::Running => running(op, answer, facts),
        State::Executing if current => late_while_open(op, answer, facts),
        State::Unknown => match answer {
            // Every attempt carries the same key: a receipt of any of them proves the effect.
            AttemptAnswer::Receipt { .. } => late_while_open(op, answer, facts),
            AttemptAnswer::Failed { .. }
            | AttemptAnswer::Partial { .. }
            | AttemptAnswer::NoEffect { .. }
            | AttemptAnswer::Accepted { .. }
            | AttemptAnswer::Ambiguous { .. } => {
                if current {
                    late_while_open(op, answer, facts)
                } else {
                    kept(op, answer)
                }
            }
        },
        State::Executing
        | State::Proposed
        | State::Approved
        | State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Denied
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => kept(op, answer),
    }
}

fn kept(op: &Operation, answer: &AttemptAnswer) -> Decided {
    match summary(answer) {
        Some(summary) => late(op, summary),
        None => Decided::done(Vec::new()),
    }
}

/// The outcome of the running attempt is lost; unless the receipt of an earlier one has come meanwhile.
pub(super) fn lost(op: &Operation, cause: Loss) -> Event {
    match op.late_receipt() {
        Some(receipt) => Event::Succeeded {
            receipt: Some(receipt.to_owned()),
            new_version: None,
            evidence: Evidence::LateAnswer,
        },
        None => Event::OutcomeLost { cause },
    }
}

fn running(op: &Operation, answer: &AttemptAnswer, facts: &Facts<'_>) -> Decided {
    let event = match answer {
        AttemptAnswer::Receipt { receipt, new_version } => Event::Succeeded {
            receipt: Some(receipt.clone()),
            new_version: new_version.clone(),
            evidence: Evidence::Answer,
        },
        AttemptAnswer::Failed { code, .. } if op.attempts.len() > 1 && doubtful_on_repeat(*code) => {
            lost(op, Loss::EarlierAttempt(code.as_str().to_owned()))
        }
        AttemptAnswer::NoEffect { code, evidence, .. }
            if op.attempts.len() > 1 && doubtful_on_repeat(*code) && *evidence != Evidence::NothingSent =>
        {
            lost(op, Loss::EarlierAttempt(code.as_str().to_owned()))
        }
        // A failure that does not say what took effect, or names no part of it, proves nothing about the world.
        AttemptAnswer::Failed { effect: Effect::Unknown | Effect::Partial, code, .. } => {
            lost(op, Loss::Undeclared(code.as_str().to_owned()))
        }
        AttemptAnswer::Partial { effects } if effects.is_empty() => {
            lost(op, Loss::OutputInvalid("a partial result that names no part".to_owned()))
        }
        AttemptAnswer::Failed { effect: Effect::None, .. } | AttemptAnswer::NoEffect { .. }
            if op.late_receipt().is_some() =>
        {
            lost(op, Loss::EarlierAttempt("a receipt".to_owned()))
        }
        AttemptAnswer::Failed { code, detail, effect, current_version } => Event::Failed {
            code: *code,
            detail: detail.clone(),
            effect: *effect,
            effects: Vec::new(),
            current_version: current_version.clone(),
            evidence: Evidence::Answer,
        },
        AttemptAnswer::Partial { effects } => partial(effects, Evidence::Answer),
        AttemptAnswer::NoEffect { code, retry_after, evidence } => {
            match next_attempt(op, facts, *retry_after) {
                Ok(retry_at) => Event::AttemptHadNoEffect { code: *code, retry_at },
                Err(why) => Event::Failed {
                    code: *code,
                    detail: Some(format!("it had no effect, and is not tried again: {why}")),
                    effect: Effect::None,
                    effects: Vec::new(),
                    current_version: None,
                    evidence: *evidence,
                },
            }
        }
        AttemptAnswer::Accepted { remote } => Event::RemoteAccepted { remote: remote.clone() },
        AttemptAnswer::Ambiguous { cause } => lost(op, cause.clone()),
    };
    Decided::done(vec![event])
}

fn partial(effects: &[NamedEffect], evidence: Evidence) -> Event {
    Event::Failed {
        code: Code::PartialEffect,
        detail: None,
        effect: Effect::Partial,
        effects: effects.to_vec(),
        current_version: None,
        evidence,
    }
}

/// The answer came after its attempt counted as lost. A receipt or the named parts of an effect settle it; a definite
/// failure, or a proof of no effect, only where no earlier attempt can have landed, and the latter not after escalation.
fn late_while_open(op: &Operation, answer: &AttemptAnswer, facts: &Facts<'_>) -> Decided {
    let only = op.attempts.len() == 1 && op.state == State::Unknown;
    match answer {
        AttemptAnswer::Receipt { receipt, new_version } => Decided::done(vec![Event::Succeeded {
            receipt: Some(receipt.clone()),
            new_version: new_version.clone(),
            evidence: Evidence::LateAnswer,
        }]),
        AttemptAnswer::Failed { code, detail, effect, current_version }
            if only && matches!(effect, Effect::None | Effect::Applied) =>
        {
            Decided::done(vec![Event::Failed {
                code: *code,
                detail: detail.clone(),
                effect: *effect,
                effects: Vec::new(),
                current_version: current_version.clone(),
                evidence: Evidence::LateAnswer,
            }])
        }
        AttemptAnswer::Partial { effects } if !effects.is_empty() => {
            Decided::done(vec![partial(effects, Evidence::LateAnswer)])
        }
        AttemptAnswer::NoEffect { .. } if only && op.doubt.as_ref().is_some_and(|d| d.paused.is_none()) => {
            no_effect(op, facts, Evidence::LateAnswer)
        }
        AttemptAnswer::Failed { .. }
        | AttemptAnswer::Partial { .. }
        | AttemptAnswer::NoEffect { .. }
        | AttemptAnswer::Accepted { .. }
        | AttemptAnswer::Ambiguous { .. } => kept(op, answer),
    }
}

fn doubtful_on_repeat(code: Code) -> bool {
    code == Code::Conflict
        || code == Code::VersionConflict
        || code == Code::PreconditionFailed
        || code == Code::NotFound
        || code == Code::IdempotencyConflict
}

fn summary(answer: &AttemptAnswer) -> Option<StatusSummary> {
    match answer {
        AttemptAnswer::Receipt { receipt, .. } => Some(StatusSummary::Succeeded(receipt.clone())),
        AttemptAnswer::Failed { code, .. } | AttemptAnswer::NoEffect { code, .. } => {
            Some(StatusSummary::Failed(code.as_str().to_owned()))
        }
        AttemptAnswer::Partial { .. } => Some(StatusSummary::Inconclusive("partial effect".to_owned())),
        AttemptAnswer::Accepted { .. } => Some(StatusSummary::InProgress),
        AttemptAnswer::Ambiguous { .. } => None,
    }
}

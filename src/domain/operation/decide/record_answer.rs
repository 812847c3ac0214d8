//! Record an attempt's answer. Ambiguous is the default; on a later attempt a conflict, precondition or not-found
//! answer is ambiguous too, because an earlier attempt may have landed.

use super::Decided;
use super::record_status::late;
use super::retry::next_attempt;
use crate::domain::Code;
use crate::domain::ids::AttemptId;
use crate::domain::operation::command::{AttemptAnswer, Facts};
use crate::domain::operation::evidence::{Evidence, Loss, StatusSummary};
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
        State::Unknown if current => late_while_unknown(op, answer),
        State::Executing
        | State::Unknown
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
        | State::CompensationFailed => match summary(answer) {
            Some(summary) => late(op, summary),
            None => Decided::done(Vec::new()),
        },
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
            Event::OutcomeLost { cause: Loss::EarlierAttempt(code.as_str().to_owned()) }
        }
        AttemptAnswer::Failed { effect: Effect::Unknown, code, .. } => {
            Event::OutcomeLost { cause: Loss::Undeclared(code.as_str().to_owned()) }
        }
        AttemptAnswer::Failed { code, detail, effect, current_version } => Event::Failed {
            code: *code,
            detail: detail.clone(),
            effect: *effect,
            effects: Vec::new(),
            current_version: current_version.clone(),
            evidence: Evidence::Answer,
        },
        AttemptAnswer::Partial { effects } => Event::Failed {
            code: Code::PartialEffect,
            detail: None,
            effect: Effect::Partial,
            effects: effects.clone(),
            current_version: None,
            evidence: Evidence::Answer,
        },
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
        AttemptAnswer::Ambiguous { cause } => Event::OutcomeLost { cause: cause.clone() },
    };
    Decided::done(vec![event])
}

/// The answer came after its deadline, while nobody knew. A receipt settles it; a definite failure only where no
/// earlier attempt can have landed.
fn late_while_unknown(op: &Operation, answer: &AttemptAnswer) -> Decided {
    match answer {
        AttemptAnswer::Receipt { receipt, new_version } => Decided::done(vec![Event::Succeeded {
            receipt: Some(receipt.clone()),
            new_version: new_version.clone(),
            evidence: Evidence::LateAnswer,
        }]),
        AttemptAnswer::Failed { code, detail, effect, current_version }
            if op.attempts.len() == 1 && *effect != Effect::Unknown =>
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
        AttemptAnswer::Failed { .. }
        | AttemptAnswer::Partial { .. }
        | AttemptAnswer::NoEffect { .. }
        | AttemptAnswer::Accepted { .. }
        | AttemptAnswer::Ambiguous { .. } => match summary(answer) {
            Some(summary) => late(op, summary),
            None => Decided::done(Vec::new()),
        },
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

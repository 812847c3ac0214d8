//! Record what the status protocol says. It settles by evidence only; after escalation, evidence of no effect waits
//! for an operator.

use super::Decided;
use super::retry::next_attempt;
use crate::domain::operation::command::{Facts, StatusAnswer};
use crate::domain::operation::evidence::{Evidence, Loss, StatusSummary};
use crate::domain::operation::{Effect, Event, Operation, State};
use crate::domain::{Code, Millis};

pub(super) fn decide(op: &Operation, answer: &StatusAnswer, facts: &Facts<'_>) -> Decided {
    match op.state {
        State::Unknown => unknown(op, answer, facts),
        State::Executing if op.remote.is_some() => remote(op, answer, facts),
        State::Succeeded
        | State::Failed
        | State::Abandoned
        | State::Expired
        | State::Cancelled
        | State::Denied
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => late(op, summary(answer)),
        // The question was asked before the operation moved on: what it proves is kept, the rest is old.
        State::Executing | State::Proposed | State::Approved => match answer {
            StatusAnswer::Succeeded { .. } | StatusAnswer::Failed { .. } => late(op, summary(answer)),
            StatusAnswer::InProgress { .. }
            | StatusAnswer::NotFound { .. }
            | StatusAnswer::Inconclusive { .. } => Decided::done(Vec::new()),
        },
    }
}

fn unknown(op: &Operation, answer: &StatusAnswer, facts: &Facts<'_>) -> Decided {
    let paused = op.doubt.as_ref().is_some_and(|doubt| doubt.paused.is_some());
    match answer {
        StatusAnswer::Failed { code, effect: Effect::Unknown | Effect::Partial } => {
            new_only(op, StatusSummary::Inconclusive(undecided(*code)))
        }
        StatusAnswer::Succeeded { .. } | StatusAnswer::Failed { .. } => settled(answer),
        StatusAnswer::InProgress { remote: Some(remote) } => {
            Decided::done(vec![Event::RemoteAccepted { remote: remote.clone() }])
        }
        StatusAnswer::NotFound { proven: true } if !paused => no_effect(op, facts, Evidence::Status),
        StatusAnswer::InProgress { remote: None }
        | StatusAnswer::NotFound { .. }
        | StatusAnswer::Inconclusive { .. } => new_only(op, summary(answer)),
    }
}

/// Proven no effect: another attempt, or the end without effect.
pub(super) fn no_effect(op: &Operation, facts: &Facts<'_>, evidence: Evidence) -> Decided {
    let event = match next_attempt(op, facts, None) {
        Ok(retry_at) => Event::NoEffectProven { evidence, retry_at },
        Err(why) => Event::Failed {
            code: Code::Unavailable,
            detail: Some(format!("it had no effect, and is not tried again: {why}")),
            effect: Effect::None,
            effects: Vec::new(),
            current_version: None,
            evidence,
        },
    };
    Decided::done(vec![event])
}

/// A failure whose effect is unknown, or partial without naming its parts, does not say what the world looks like.
fn undecided(code: Code) -> String {
    format!("it failed with {code}, and does not say what took effect")
}

fn remote(op: &Operation, answer: &StatusAnswer, facts: &Facts<'_>) -> Decided {
    match answer {
        StatusAnswer::Failed { code, effect: Effect::Unknown | Effect::Partial } => {
            Decided::done(vec![Event::OutcomeLost { cause: Loss::Undeclared(undecided(*code)) }])
        }
        StatusAnswer::Succeeded { .. } | StatusAnswer::Failed { .. } => settled(answer),
        // A sign of life, recorded so seldom that a long run does not fill the journal: its age counts from here.
        StatusAnswer::InProgress { .. } => {
            let half = Millis(op.proposal.rules.escalate_after.0 / 2);
            if facts.now < op.changed.plus(half) {
                return Decided::done(Vec::new());
            }
            Decided::done(vec![Event::StatusChecked { answer: StatusSummary::InProgress }])
        }
        // Elapsed time and a status that does not know it yet prove nothing about a remote operation.
        StatusAnswer::NotFound { .. } | StatusAnswer::Inconclusive { .. } => Decided::done(Vec::new()),
    }
}

fn settled(answer: &StatusAnswer) -> Decided {
    match answer {
        StatusAnswer::Succeeded { receipt, new_version } => Decided::done(vec![Event::Succeeded {
            receipt: Some(receipt.clone()),
            new_version: new_version.clone(),
            evidence: Evidence::Status,
        }]),
        StatusAnswer::Failed { code, effect } => Decided::done(vec![Event::Failed {
            code: *code,
            detail: None,
            effect: *effect,
            effects: Vec::new(),
            current_version: None,
            evidence: Evidence::Status,
        }]),
        StatusAnswer::InProgress { .. }
        | StatusAnswer::NotFound { .. }
        | StatusAnswer::Inconclusive { .. } => Decided::done(Vec::new()),
    }
}

/// The journal keeps what says something new, not every time that nothing was learned.
fn new_only(op: &Operation, summary: StatusSummary) -> Decided {
    let known = op.doubt.as_ref().and_then(|doubt| doubt.status.as_ref()).map(|(_, last)| last);
    if known == Some(&summary) {
        return Decided::done(Vec::new());
    }
    Decided::done(vec![Event::StatusChecked { answer: summary }])
}

fn summary(answer: &StatusAnswer) -> StatusSummary {
    match answer {
        StatusAnswer::Succeeded { receipt, .. } => StatusSummary::Succeeded(receipt.clone()),
        StatusAnswer::Failed { code, .. } => StatusSummary::Failed(code.as_str().to_owned()),
        StatusAnswer::InProgress { .. } => StatusSummary::InProgress,
        StatusAnswer::NotFound { proven: false } => StatusSummary::NotFound,
        StatusAnswer::NotFound { proven: true } => StatusSummary::NotFoundProven,
        StatusAnswer::Inconclusive { cause } => StatusSummary::Inconclusive(cause.clone()),
    }
}

/// Whether this is the very answer that ended it, told again: after a commit that was in doubt, or by both the attempt and
/// the status protocol. It says nothing new.
fn ended_by(op: &Operation, answer: &StatusSummary) -> bool {
    let Some(outcome) = &op.outcome else { return false };
    match answer {
        StatusSummary::Succeeded(receipt) => outcome.receipt.as_ref() == Some(receipt),
        StatusSummary::Failed(code) => {
            op.state == State::Failed && outcome.code.is_some_and(|known| known.as_str() == code)
        }
        StatusSummary::InProgress
        | StatusSummary::NotFound
        | StatusSummary::NotFoundProven
        | StatusSummary::Inconclusive(_) => false,
    }
}

/// An answer outside its time: evidence that flips no state. A receipt after `failed, none` means that the effect is
/// there after all; the effect says so and a ticket is open. The same before the end: what waits for another attempt does
/// not get it.
pub(super) fn late(op: &Operation, answer: StatusSummary) -> Decided {
    if op.attempts.is_empty() || op.late.iter().any(|known| known.answer == answer) || ended_by(op, &answer) {
        return Decided::done(Vec::new());
    }
    let happened = matches!(answer, StatusSummary::Succeeded(_));
    let effect = match (op.state, op.effect) {
        (
            State::Proposed
            | State::Approved
            | State::Failed
            | State::Denied
            | State::Expired
            | State::Cancelled,
            Effect::None | Effect::Unknown,
        ) if happened => Some(Effect::Applied),
        (State::Abandoned, Effect::Unknown) if happened => Some(Effect::Applied),
        (_, Effect::None | Effect::Applied | Effect::Partial | Effect::Unknown) => None,
    };
    if !happened && effect.is_none() && op.state == State::Succeeded {
        return Decided::done(Vec::new());
    }
    Decided::done(vec![Event::LateAnswer { answer, effect }])
}

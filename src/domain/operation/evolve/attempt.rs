//! Attempts: intents, losses, proofs that nothing happened, the wait in between.

use super::Applied;
use crate::domain::ids::AttemptId;
use crate::domain::operation::evidence::{Loss, StatusSummary, Wait};
use crate::domain::operation::record::{Attempt, AttemptResult, Doubt, Waiting};
use crate::domain::operation::{Effect, Operation, State};
use crate::domain::{Code, Time};

pub(super) fn deferred(op: &mut Operation, wait: Wait, until: Option<Time>) -> Applied {
    op.wait = Some(Waiting { wait, until });
    Ok(())
}

pub(super) fn started(op: &mut Operation, at: Time, id: AttemptId, deadline: Time) -> Applied {
    if op.no_more_attempts {
        return Err("somebody asked to stop");
    }
    if op.effect != Effect::None {
        return Err("an earlier attempt may have had an effect");
    }
    if op.attempts.iter().any(|known| known.id == id) {
        return Err("this attempt exists already");
    }
    op.attempts.push(Attempt { id, started: at, deadline, ended: None, result: AttemptResult::Running });
    op.state = State::Executing;
    op.effect = Effect::Unknown;
    op.wait = None;
    Ok(())
}

pub(super) fn remote_accepted(op: &mut Operation, remote: &str) -> Applied {
    op.remote = Some(remote.to_owned());
    op.state = State::Executing;
    op.doubt = None;
    Ok(())
}

pub(super) fn end_attempt(op: &mut Operation, at: Time, result: AttemptResult) {
    if let Some(attempt) = op.attempts.last_mut() {
        attempt.ended = attempt.ended.or(Some(at));
        attempt.result = result;
    }
}

pub(super) fn had_no_effect(op: &mut Operation, at: Time, code: Code, retry_at: Time) -> Applied {
    end_attempt(op, at, AttemptResult::NoEffect(code));
    wait_for_retry(op, retry_at)
}

pub(super) fn no_effect_proven(op: &mut Operation, retry_at: Time) -> Applied {
    wait_for_retry(op, retry_at)
}

fn wait_for_retry(op: &mut Operation, retry_at: Time) -> Applied {
    if op.no_more_attempts {
        return Err("somebody asked to stop");
    }
    if op.execute_by.is_none() {
        return Err("its approval is void");
    }
    op.state = State::Approved;
    op.effect = Effect::None;
    op.doubt = None;
    op.remote = None;
    if op.requirement().survive_transient {
        op.wait = Some(Waiting { wait: Wait::Backoff, until: Some(retry_at) });
    } else {
        super::governance::ask_again(op);
    }
    Ok(())
}

pub(super) fn lost(op: &mut Operation, at: Time, cause: &Loss) -> Applied {
    end_attempt(op, at, AttemptResult::Lost(cause.clone()));
    op.state = State::Unknown;
    op.effect = Effect::Unknown;
    op.doubt = Some(Doubt { since: at, cause: cause.clone(), paused: None, status: None, answers: 0 });
    Ok(())
}

pub(super) fn no_more(op: &mut Operation) -> Applied {
    op.no_more_attempts = true;
    Ok(())
}

pub(super) fn status_checked(op: &mut Operation, at: Time, answer: &StatusSummary) -> Applied {
    if let Some(doubt) = &mut op.doubt {
        doubt.status = Some((at, answer.clone()));
        doubt.answers = doubt.answers.saturating_add(1);
    }
    Ok(())
}

pub(super) fn escalated(op: &mut Operation, at: Time) -> Applied {
    let doubt = op.doubt.as_mut().ok_or("nothing is in doubt")?;
    doubt.paused = Some(at);
    Ok(())
}

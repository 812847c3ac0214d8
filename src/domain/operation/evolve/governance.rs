//! Decisions, clocks, withdrawal, import.

use super::Applied;
use crate::domain::operation::evidence::Loss;
use crate::domain::operation::record::{AttemptResult, Decision, Doubt, Outcome};
use crate::domain::operation::{Actor, Clock, Effect, Operation, Recorded, Requirement, State, Verdict};
use crate::domain::principal::{Assurance, PrincipalKind};
use crate::domain::{Code, Digest, Time};

pub(super) fn approval(
    op: &mut Operation,
    recorded: &Recorded,
    digest: Digest,
    (note, groups): (&Option<String>, &[String]),
    execute_by: Option<Time>,
) -> Applied {
    if digest != op.proposal.proposal_sha256 {
        return Err("the decision carries another digest");
    }
    let requirement = op.requirement().clone();
    let of_person = |known: &Decision| {
        known.by.person == recorded.by.person && known.verdict == Verdict::Approve && !known.void
    };
    if op.decisions.iter().any(|known| of_person(known) && requirement.counts_decision(known)) {
        return Err("this person has approved already");
    }
    // One that does not count any more makes room for a new one: each person stands here once.
    for known in op.decisions.iter_mut().filter(|known| of_person(known)) {
        known.void = true;
    }
    op.decisions.push(Decision {
        by: recorded.by.clone(),
        at: recorded.at,
        groups: groups.to_vec(),
        verdict: Verdict::Approve,
        digest: Some(digest),
        note: note.clone(),
        void: false,
    });
    if execute_by.is_some() && !op.is_approved() {
        return Err("approvals are missing");
    }
    if let Some(execute_by) = execute_by {
        op.state = State::Approved;
        op.execute_by = Some(execute_by);
        op.wait = None;
    }
    Ok(())
}

/// The rules that allow it are kept as a decision of the table that they stand in.
pub(super) fn admitted(op: &mut Operation, recorded: &Recorded, execute_by: Time) -> Applied {
    if op.requirement().asks_somebody() {
        return Err("approvals are missing");
    }
    let table = format!("policy:{}", op.proposal.policy);
    let rules: Vec<&str> = op.proposal.matched.iter().map(|matched| matched.rule.as_str()).collect();
    op.decisions.push(Decision {
        by: Actor {
            name: table.clone(),
            kind: PrincipalKind::Service,
            person: table,
            assurance: Assurance::Daemon,
        },
        at: recorded.at,
        groups: Vec::new(),
        verdict: Verdict::Approve,
        digest: Some(op.proposal.proposal_sha256),
        note: Some(rules.join(", ")),
        void: false,
    });
    op.state = State::Approved;
    op.execute_by = Some(execute_by);
    Ok(())
}

pub(super) fn denied(op: &mut Operation, recorded: &Recorded, reason: &str) -> Applied {
    op.decisions.push(Decision {
        by: recorded.by.clone(),
        at: recorded.at,
        groups: Vec::new(),
        verdict: Verdict::Deny,
        digest: None,
        note: Some(reason.to_owned()),
        void: false,
    });
    end(op, State::Denied, Code::Denied, Some(reason.to_owned()));
    Ok(())
}

pub(super) fn late_decision(
    op: &mut Operation,
    recorded: &Recorded,
    verdict: Verdict,
    note: Option<String>,
) -> Applied {
    op.decisions.push(Decision {
        by: recorded.by.clone(),
        at: recorded.at,
        groups: Vec::new(),
        verdict,
        digest: None,
        note,
        void: true,
    });
    Ok(())
}

pub(super) fn revoked(op: &mut Operation, approver: &str) -> Applied {
    let decision = op
        .decisions
        .iter_mut()
        .find(|known| known.verdict == Verdict::Approve && !known.void && known.by.name == approver)
        .ok_or("there is no such approval")?;
    decision.void = true;
    back_to_proposed(op);
    Ok(())
}

pub(super) fn tightened(op: &mut Operation, requirement: &Requirement) -> Applied {
    op.tightened = Some(Box::new(requirement.clone()));
    for decision in op.decisions.iter_mut().filter(|decision| decision.is_by_policy()) {
        decision.void = true;
    }
    back_to_proposed(op);
    Ok(())
}

/// The approvals were good for one attempt, and that one had no effect.
pub(super) fn ask_again(op: &mut Operation) {
    for decision in &mut op.decisions {
        decision.void |= decision.verdict == Verdict::Approve;
    }
    back_to_proposed(op);
}

fn back_to_proposed(op: &mut Operation) {
    op.state = State::Proposed;
    op.execute_by = None;
    op.wait = None;
}

pub(super) fn expired(op: &mut Operation, clock: Clock) -> Applied {
    let code = match (clock, op.state) {
        (Clock::DecideBy, State::Proposed) => Code::ProposalExpired,
        (Clock::ExecuteBy, State::Approved) => Code::ApprovalExpired,
        (Clock::DecideBy | Clock::ExecuteBy, _) => return Err("this clock does not run in this state"),
    };
    end(op, State::Expired, code, None);
    Ok(())
}

pub(super) fn cancelled(
    op: &mut Operation,
    recorded: &Recorded,
    reason: Option<String>,
    effect: Effect,
) -> Applied {
    if let Some(attempt) = op.attempts.last_mut().filter(|a| a.result == AttemptResult::Running) {
        attempt.result = AttemptResult::Final;
        attempt.ended = Some(recorded.at);
    } else if effect != op.effect {
        return Err("without a running attempt the effect is the one that is known");
    }
    end(op, State::Cancelled, Code::Cancelled, reason);
    op.effect = effect;
    Ok(())
}

fn end(op: &mut Operation, state: State, code: Code, detail: Option<String>) {
    op.state = state;
    op.wait = None;
    op.outcome = Some(Outcome {
        code: Some(code),
        detail,
        receipt: None,
        new_version: None,
        current_version: None,
        effects: Vec::new(),
        evidence: None,
        readback: None,
    });
}

pub(super) fn restored(op: &mut Operation, at: Time, epoch: u64) -> Applied {
    for decision in &mut op.decisions {
        decision.void = true;
    }
    if let Some(attempt) = op.attempts.last_mut().filter(|a| a.result == AttemptResult::Running) {
        attempt.result = AttemptResult::Lost(Loss::Restarted);
        attempt.ended = Some(at);
    }
    op.epoch = epoch;
    op.execute_by = None;
    op.wait = None;
    op.effect = Effect::Unknown;
    op.state = State::Unknown;
    op.doubt = Some(Doubt { since: at, cause: Loss::Restarted, paused: None, status: None, answers: 0 });
    Ok(())
}

//! What is true of every operation, whatever happened to it. Who may call it: `writd verify` and tests, after every
//! step. It only looks; an operation that violates something was stored by a mistake or changed by hand.

use std::collections::BTreeSet;

use super::effect::Effect;
use super::event::Verdict;
use super::evidence::Evidence;
use super::record::{AttemptResult, Operation};
use super::state::State;
use crate::domain::{Code, Time};

/// Something that must be true and is not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, thiserror::Error)]
pub enum Violation {
    /// It has not ended, is not compensating, and nothing will ever look at it again.
    #[error("it has not ended and is never due again")]
    NeverDue,
    /// It has ended, or its compensation drives it, and it is due all the same.
    #[error("it is due although nothing can happen to it by time")]
    DueWithoutClock,
    /// The effect is not one that the state can have.
    #[error("its effect does not agree with its state")]
    EffectDisagrees,
    /// Two attempts run, or one that is not the last.
    #[error("more than one attempt runs, or one that is not the last")]
    TwoAttempts,
    /// An attempt runs although the operation is not executing.
    #[error("an attempt runs although it is not executing")]
    AttemptOutsideExecuting,
    /// It is executing, and neither an attempt runs nor the downstream has named its own operation.
    #[error("it is executing without a running attempt or a remote operation")]
    ExecutingWithoutAttempt,
    /// Two attempts have one id.
    #[error("two attempts have one id")]
    AttemptTwice,
    /// More attempts than the rules allow.
    #[error("it has more attempts than its rules allow")]
    TooManyAttempts,
    /// An attempt ends before it starts, or has ended without a result, or the other way round.
    #[error("an attempt is ended without a result, or has a result without an end")]
    AttemptEnd,
    /// An approval that counts carries another digest than the proposal.
    #[error("an approval carries another digest than the proposal's")]
    ForeignApproval,
    /// One person approved twice.
    #[error("one person counts twice among its approvals")]
    SamePersonTwice,
    /// The requester, its owner or its beneficiary approved.
    #[error("somebody approved who has a part in the request")]
    ApprovedByRequester,
    /// It is approved, and approvals are missing.
    #[error("it is approved with fewer approvals than are needed")]
    ApprovalsMissing,
    /// It is approved without a time by which it is executed, or waits for decisions with one.
    #[error("the time by which it is executed does not agree with its state")]
    ExecuteBy,
    /// It succeeded without a receipt and without an operator's word.
    #[error("it succeeded without a receipt or an operator's word")]
    SuccessWithoutEvidence,
    /// An ended operation has no outcome, or an open one has one.
    #[error("its outcome does not agree with its state")]
    Outcome,
    /// A partial effect that names no part.
    #[error("its effect is partial and no part is named")]
    PartsMissing,
    /// It is paused in doubt and no ticket is open.
    #[error("it is paused and nobody is told")]
    TicketMissing,
    /// It waits, and is not approved.
    #[error("it waits for its turn although it is not approved")]
    WaitOutsideApproved,
    /// It is unknown without a doubt, or in doubt without being unknown.
    #[error("it is in doubt although it is not unknown, or the other way round")]
    DoubtOutsideUnknown,
    /// Compensating without a linked operation, or not compensating with a state to go back to.
    #[error("its compensation does not agree with its state")]
    Compensation,
    /// It was changed before it was proposed, or after now.
    #[error("its last change is not between its proposal and now")]
    Changed,
}

/// Every violation that can be seen on this operation alone, sorted. `now` is left out where the clock is not to be
/// trusted: a clock that was put back is not a mistake of the operation.
#[must_use]
pub fn check(op: &Operation, now: Option<Time>) -> Vec<Violation> {
    let mut found = Vec::new();
    clocks(op, now, &mut found);
    world(op, &mut found);
    attempts(op, &mut found);
    approvals(op, &mut found);
    sides(op, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn clocks(op: &Operation, now: Option<Time>, found: &mut Vec<Violation>) {
    let driven_by_time = !op.state.is_ended() && op.state != State::Compensating;
    match (driven_by_time, op.next_due().is_some()) {
        (true, false) => found.push(Violation::NeverDue),
        (false, true) => found.push(Violation::DueWithoutClock),
        (true, true) | (false, false) => {}
    }
    if now.is_some_and(|now| op.changed > now) {
        found.push(Violation::Changed);
    }
    // Only a first approval sets the clock, and losing it stops the clock.
    let running = op.execute_by.is_some();
    let agrees = match op.state {
        State::Approved => running,
        State::Proposed | State::Denied => !running,
        State::Executing => running || op.epoch > 0,
        State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Expired
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => true,
    };
    // Nothing is executed on a promise that does not hold any more.
    let promised = op.proposal.expires.is_none_or(|expires| {
        op.proposal.decide_by <= expires && op.execute_by.is_none_or(|execute_by| execute_by <= expires)
    });
    if !agrees || !promised {
        found.push(Violation::ExecuteBy);
    }
}

/// The effect beside the state. Before and after attempts without effect it is `none`; a late receipt makes it
/// `applied` where nothing was to happen.
fn world(op: &Operation, found: &mut Vec<Violation>) {
    let shown_late = op.effect == Effect::Applied && op.late_receipt().is_some();
    let agrees = match op.state {
        State::Proposed | State::Approved | State::Denied | State::Expired => {
            op.effect == Effect::None || shown_late
        }
        State::Cancelled => op.effect == Effect::None || shown_late || !op.attempts.is_empty(),
        State::Executing | State::Unknown => op.effect == Effect::Unknown,
        State::Succeeded => op.effect == Effect::Applied,
        State::Failed => op.effect != Effect::Unknown,
        State::Abandoned => op.effect == Effect::Unknown || shown_late,
        State::Compensating | State::CompensationFailed => op.effect != Effect::None,
        State::Compensated => op.effect == Effect::None,
    };
    if !agrees {
        found.push(Violation::EffectDisagrees);
    }
    let parts = op.outcome.as_ref().map_or(0, |outcome| outcome.effects.len());
    if op.effect == Effect::Partial && parts == 0 {
        found.push(Violation::PartsMissing);
    }
    if op.outcome.is_some() != (op.state.is_ended() || op.state == State::Compensating) {
        found.push(Violation::Outcome);
    }
    if let Some(outcome) = op.outcome.as_ref().filter(|_| op.state == State::Succeeded) {
        if outcome.receipt.is_none() && outcome.evidence != Some(Evidence::Operator) {
            found.push(Violation::SuccessWithoutEvidence);
        }
        if outcome.code.is_some() {
            found.push(Violation::Outcome);
        }
    }
    if let Some(outcome) = op.outcome.as_ref().filter(|_| op.state == State::Failed)
        && outcome.code.is_none_or(|code| code == Code::OutcomeUnknown)
    {
        found.push(Violation::Outcome);
    }
}

fn attempts(op: &Operation, found: &mut Vec<Violation>) {
    let running = op.attempts.iter().filter(|attempt| attempt.result == AttemptResult::Running).count();
    let last_runs = op.running_attempt().is_some();
    if running > 1 || (running == 1 && !last_runs) {
        found.push(Violation::TwoAttempts);
    }
    if running > 0 && op.state != State::Executing {
        found.push(Violation::AttemptOutsideExecuting);
    }
    if op.state == State::Executing && !last_runs && op.remote.is_none() {
        found.push(Violation::ExecutingWithoutAttempt);
    }
    let ids: BTreeSet<_> = op.attempts.iter().map(|attempt| attempt.id).collect();
    if ids.len() != op.attempts.len() {
        found.push(Violation::AttemptTwice);
    }
    if op.attempts.len() > op.proposal.rules.max_attempts.max(1) as usize {
        found.push(Violation::TooManyAttempts);
    }
    if op.attempts.iter().any(|a| a.ended.is_none() != (a.result == AttemptResult::Running)) {
        found.push(Violation::AttemptEnd);
    }
}

fn approvals(op: &Operation, found: &mut Vec<Violation>) {
    let proposal = &op.proposal;
    let given = || op.decisions.iter().filter(|known| known.verdict == Verdict::Approve);
    if op.approvals().any(|known| known.digest != Some(proposal.proposal_sha256)) {
        found.push(Violation::ForeignApproval);
    }
    let persons: BTreeSet<&str> = op.approvals().map(|known| known.by.person.as_str()).collect();
    if persons.len() != op.approvals().count() {
        found.push(Violation::SamePersonTwice);
    }
    // Late ones do not count, and neither do they become right by being late: no digest was accepted with them.
    let involved = |name: &str, person: &str| {
        let is = |who: &str| who == name || who == person;
        name == proposal.requester.name
            || person == proposal.requester.person
            || proposal.owner.as_deref().is_some_and(is)
            || proposal.on_behalf_of.as_deref().is_some_and(is)
    };
    if given().any(|known| known.digest.is_some() && involved(&known.by.name, &known.by.person)) {
        found.push(Violation::ApprovedByRequester);
    }
    if op.state == State::Approved && !op.is_approved() {
        found.push(Violation::ApprovalsMissing);
    }
}

fn sides(op: &Operation, found: &mut Vec<Violation>) {
    if op.wait.is_some() && op.state != State::Approved {
        found.push(Violation::WaitOutsideApproved);
    }
    if op.doubt.is_some() != (op.state == State::Unknown) {
        found.push(Violation::DoubtOutsideUnknown);
    }
    let paused = op.doubt.as_ref().is_some_and(|doubt| doubt.paused.is_some());
    if paused && !op.needs_operator() {
        found.push(Violation::TicketMissing);
    }
    let compensating = op.state == State::Compensating;
    let linked = op.compensation.is_some();
    let compensated = matches!(op.state, State::Compensated | State::CompensationFailed);
    if compensating != op.before_compensation.is_some() || ((compensating || compensated) && !linked) {
        found.push(Violation::Compensation);
    }
}

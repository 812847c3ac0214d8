//! Commit: every precondition in its order, then the durable intent. A wait is a wait, a conflict consumes nothing.

use super::Decided;
use super::approve::expiry_code;
use super::change_policy;
use crate::domain::Code;
use crate::domain::budget::UsedUp;
use crate::domain::operation::command::{Facts, Preconditions, RunStanding, VersionCheck};
use crate::domain::operation::record::Decision;
use crate::domain::operation::{Clock, CommitMode, Effect, Event, Operation, State, Wait};

pub(super) fn decide(op: &Operation, facts_of: &Preconditions, facts: &Facts<'_>) -> Decided {
    match op.state {
        State::Approved => approved(op, facts_of, facts),
        State::Executing => Decided::already("it is being executed"),
        State::Succeeded => Decided::already("it has succeeded; this is the stored result"),
        State::Proposed => Decided::refused(Code::ApprovalRequired, "it is not approved"),
        State::Unknown => Decided::refused(
            Code::OutcomeUnknown,
            "an attempt may have happened: its outcome is settled first, do not propose it again",
        ),
        State::Expired => {
            Decided::refused(expiry_code(op), "its time ran out before this; nothing was executed by it")
        }
        State::Failed
        | State::Abandoned
        | State::Denied
        | State::Cancelled
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::invalid(op, "be executed"),
    }
}

fn approved(op: &Operation, facts_of: &Preconditions, facts: &Facts<'_>) -> Decided {
    let first = op.attempts.is_empty();
    if !facts_of.entitled {
        return Decided::refused(Code::PermissionDenied, "its requester may not write any more");
    }
    if let Some(ended) = run_ended(op, facts_of) {
        return ended;
    }
    // One that waits was asked for: it goes on by itself when what it waits for is there.
    let asked = facts_of.explicit || !first || op.wait.is_some();
    if !asked && op.proposal.rules.commit == CommitMode::Explicit {
        return Decided::done(Vec::new());
    }
    if op.no_more_attempts {
        return Decided::refused(Code::Cancelled, "somebody asked to stop: no further attempt starts");
    }
    if op.effect != Effect::None {
        return Decided::refused(
            Code::OutcomeUnknown,
            "an answer that came late says that it has happened already: nothing more is sent",
        );
    }
    // Before every other wait: another reason to wait would take the place of the back-off and end it early.
    if let Some(until) = op.wait.as_ref().filter(|w| w.wait == Wait::Backoff).and_then(|w| w.until)
        && facts.now < until
    {
        return Decided::already(format!("{}; it is tried again after {until}", Wait::Backoff));
    }
    if facts_of.run == RunStanding::Unreadable && op.proposal.compensation_of.is_none() {
        return wait(op, Wait::Paused("its run cannot be read".to_owned()), facts_of, Code::Unavailable);
    }
    if let Some(why) = &facts_of.paused {
        return wait(op, Wait::Paused(why.clone()), facts_of, Code::Paused);
    }
    if let Some(stopped) = governance(op, facts_of, facts) {
        return stopped;
    }
    if !facts_of.digests_equal {
        return Decided::refused(
            Code::ProposalChanged,
            "the stored bytes are not those that were approved: nothing is sent. Run `writd verify`",
        );
    }
    if let Some(blocker) = facts_of.target_busy {
        return wait(op, Wait::TargetBusy(blocker), facts_of, Code::TargetBusy);
    }
    if !facts_of.capacity {
        return wait(op, Wait::Limit, facts_of, Code::RateLimited);
    }
    if let Some(used_up) = &facts_of.budget {
        return no_room(op, used_up, facts_of);
    }
    match &facts_of.version {
        VersionCheck::ByService => start(op, facts_of, facts),
        VersionCheck::Asked => Decided::done(asked_for(op)),
        VersionCheck::Unavailable => wait(op, Wait::VersionUnavailable, facts_of, Code::Unavailable),
        VersionCheck::Read(version) if *version == op.proposal.target.version => start(op, facts_of, facts),
        // Before a first attempt a moved version is a conflict; after one it may be our own effect.
        VersionCheck::Read(version) if first => Decided::done(vec![Event::PreconditionFailed {
            code: Code::VersionConflict,
            current_version: version.clone(),
        }]),
        VersionCheck::Read(_) => wait(op, Wait::VersionUnavailable, facts_of, Code::VersionConflict),
    }
}

/// Enough distinct persons approved, each still may, and the table in force does not ask for more than was satisfied.
/// What does not hold any more sends it back to be decided again; nothing is consumed by that.
fn governance(op: &Operation, facts_of: &Preconditions, facts: &Facts<'_>) -> Option<Decided> {
    let (asked, standing) = (op.requirement(), standing(op, facts_of));
    if asked.asks_somebody() && !asked.is_satisfied(standing.iter()) {
        // One whose author has left a group counts for less than it did: it is asked for again as a whole.
        let stands = |known: &Decision| {
            let same = |now: &&Decision| now.by == known.by && now.groups == known.groups;
            standing.iter().find(same).is_some_and(|now| asked.counts_decision(now))
        };
        let lost = op.approvals().filter(|known| !stands(known));
        let mut decided = Decided::refused(
            Code::ApprovalRevoked,
            "who approved it may not approve it any more: it waits for another approval",
        );
        decided.events =
            lost.map(|known| Event::ApprovalRevoked { approver: known.by.name.clone() }).collect();
        return Some(decided);
    }
    let policy = &facts_of.policy;
    if change_policy::is_stricter(op, &policy.requirement, standing.iter()) {
        let requirement = Box::new(policy.requirement.clone());
        let mut decided = Decided::refused(
            Code::PolicyChanged,
            "the policy has become stricter than what was satisfied: it waits for the approvals that are missing",
        );
        decided.events = vec![Event::PolicyTightened { requirement, policy: policy.version }];
        return Some(decided);
    }
    let first = op.first_approval()?;
    if facts.now >= first.plus(policy.execute_within) {
        let mut decided = Decided::refused(
            Code::ApprovalExpired,
            "by the policy in force its approval is too old: nothing is executed by it",
        );
        decided.events = vec![Event::Expired { clock: Clock::ExecuteBy }];
        return Some(decided);
    }
    None
}

/// The approvals whose authors still may approve, with the groups that they are in now.
fn standing(op: &Operation, facts_of: &Preconditions) -> Vec<Decision> {
    let now = |name: &str| {
        facts_of.approvers.iter().find(|(known, _)| known == name).and_then(|(_, groups)| groups.clone())
    };
    op.approvals()
        .filter_map(|known| {
            let groups = now(&known.by.name)?;
            let groups = known.groups.iter().filter(|group| groups.contains(group)).cloned().collect();
            Some(Decision { groups, ..known.clone() })
        })
        .collect()
}

/// A budget has no room: it waits, and says until when.
fn no_room(op: &Operation, used_up: &UsedUp, facts_of: &Preconditions) -> Decided {
    let mut decided = wait(op, Wait::Budget(used_up.budget.clone()), facts_of, Code::BudgetExhausted);
    for event in &mut decided.events {
        if let Event::Deferred { until, .. } = event {
            *until = used_up.until;
        }
    }
    decided
}

/// Nothing stands in its way but the version, which is read next. That its commit was asked for is not forgotten.
fn asked_for(op: &Operation) -> Vec<Event> {
    if op.wait.is_some() {
        return Vec::new();
    }
    vec![Event::Deferred { wait: Wait::VersionUnavailable, until: None }]
}

/// Nothing starts in a run that has ended; a compensation outlives the run of what it undoes.
fn run_ended(op: &Operation, facts_of: &Preconditions) -> Option<Decided> {
    if op.proposal.compensation_of.is_some() {
        return None;
    }
    let (code, why) = match facts_of.run {
        RunStanding::Open | RunStanding::Unreadable => return None,
        RunStanding::Cancelled => (Code::Cancelled, "its run was cancelled"),
        RunStanding::DeadlinePassed => (Code::DeadlineExceeded, "the deadline of its run has passed"),
    };
    let mut decided = Decided::refused(code, format!("{why}: it is cancelled, nothing is executed by it"));
    decided.events.push(Event::Cancelled { reason: Some(why.to_owned()), effect: op.effect });
    Some(decided)
}

fn start(op: &Operation, facts_of: &Preconditions, facts: &Facts<'_>) -> Decided {
    let deadline = facts.now.plus(op.proposal.rules.timeout);
    Decided::done(vec![Event::ExecutionStarted { attempt: facts_of.attempt, deadline }])
}

/// The daemon waits and says so once; a caller who commits explicitly is told.
fn wait(op: &Operation, reason: Wait, facts_of: &Preconditions, code: Code) -> Decided {
    // Who holds the target is said by who knows whether the caller may see it.
    let detail = match &reason {
        Wait::TargetBusy(_) => "another write on its target is open".to_owned(),
        Wait::Backoff | Wait::Limit | Wait::Paused(_) | Wait::VersionUnavailable | Wait::Budget(_) => {
            reason.to_string()
        }
    };
    let known = op.wait.as_ref().is_some_and(|waiting| same_wait(&waiting.wait, &reason));
    let events = if known { Vec::new() } else { vec![Event::Deferred { wait: reason, until: None }] };
    if facts_of.explicit {
        let mut decided = Decided::refused(code, format!("{detail}; it stays approved and is tried again"));
        decided.events = events;
        return decided;
    }
    Decided::done(events)
}

/// It waits for its target whoever holds it: the history of a long queue is not told again at each change of its head.
fn same_wait(known: &Wait, now: &Wait) -> bool {
    match (known, now) {
        (Wait::TargetBusy(_), Wait::TargetBusy(_)) => true,
        (
            Wait::TargetBusy(_)
            | Wait::Backoff
            | Wait::Limit
            | Wait::Paused(_)
            | Wait::VersionUnavailable
            | Wait::Budget(_),
            now,
        ) => known == now,
    }
}

//! The preconditions of a commit in their order: of two that do not hold, the earlier one is told, and nothing of the later
//! one happens.

use super::approvals::{approved_of_one, code, commit};
use crate::domain::Code;
use crate::domain::budget::UsedUp;
use crate::domain::operation::command::{Preconditions, RunStanding, VersionCheck};
use crate::domain::operation::samples::{Person, operation, principal, time};
use crate::domain::operation::{EventKind, Facts, Requirement, State, decide};

/// What is wrong, the code that is told, and what is recorded.
type Wrong = (&'static str, fn(&mut Preconditions), Code, Option<EventKind>);

/// In the order of the design.
const ORDER: &[Wrong] = &[
    ("entitled", |f| f.entitled = false, Code::PermissionDenied, None),
    ("run", |f| f.run = RunStanding::Cancelled, Code::Cancelled, Some(EventKind::Cancelled)),
    ("paused", |f| f.paused = Some("by hand".into()), Code::Paused, Some(EventKind::Deferred)),
    ("approvers", |f| f.approvers.clear(), Code::ApprovalRevoked, Some(EventKind::ApprovalRevoked)),
    (
        "policy",
        |f| f.policy.requirement = Requirement::of(2),
        Code::PolicyChanged,
        Some(EventKind::PolicyTightened),
    ),
    ("digests", |f| f.digests_equal = false, Code::ProposalChanged, None),
    ("target", |f| f.target_busy = Some(operation(9)), Code::TargetBusy, Some(EventKind::Deferred)),
    ("place", |f| f.capacity = false, Code::RateLimited, Some(EventKind::Deferred)),
    (
        "budget",
        |f| f.budget = Some(UsedUp { budget: "refunds".into(), until: None }),
        Code::BudgetExhausted,
        Some(EventKind::Deferred),
    ),
    (
        "version not there",
        |f| f.version = VersionCheck::Unavailable,
        Code::Unavailable,
        Some(EventKind::Deferred),
    ),
];

#[test]
fn of_two_that_do_not_hold_the_earlier_one_is_told() {
    let by = principal(Person::Planner);
    for (first, (name, wrong, told, recorded)) in ORDER.iter().enumerate() {
        for (other, also, ..) in &ORDER[first..] {
            let op = approved_of_one();
            let command = commit(&op, |facts| {
                also(facts);
                wrong(facts);
                facts.explicit = true;
            });
            let decided = decide(&op, &command, &Facts { now: time(20), by: &by, jitter: 0 });
            assert_eq!(code(&decided.answer), Some(*told), "{name} before {other}");
            let kinds: Vec<EventKind> =
                decided.events.iter().map(crate::domain::operation::Event::kind).collect();
            assert_eq!(kinds, Vec::from_iter(*recorded), "{name} before {other}");
        }
    }
}

#[test]
fn the_version_is_the_last_and_a_conflict_consumes_nothing() {
    let by = principal(Person::Planner);
    let moved: fn(&mut Preconditions) = |facts| facts.version = VersionCheck::Read(Some("9".into()));
    for (name, wrong, told, _) in ORDER.iter().take(ORDER.len() - 1) {
        let op = approved_of_one();
        let command = commit(&op, |facts| {
            moved(facts);
            wrong(facts);
            facts.explicit = true;
        });
        let decided = decide(&op, &command, &Facts { now: time(20), by: &by, jitter: 0 });
        assert_eq!(code(&decided.answer), Some(*told), "{name} before a conflict");
    }
    let op = approved_of_one();
    let decided = decide(&op, &commit(&op, moved), &Facts { now: time(20), by: &by, jitter: 0 });
    let kinds: Vec<EventKind> = decided.events.iter().map(crate::domain::operation::Event::kind).collect();
    assert_eq!(kinds, [EventKind::PreconditionFailed]);
    assert_eq!((op.state, op.attempts.len()), (State::Approved, 0));
}

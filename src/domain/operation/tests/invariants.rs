//! No sample violates anything, and every violation is seen on an operation that was changed by hand.

use std::collections::BTreeSet;

use crate::domain::operation::evidence::{Evidence, Wait};
use crate::domain::operation::invariants::{Violation, check};
use crate::domain::operation::record::{AttemptResult, Waiting};
use crate::domain::operation::samples::{Person, actor, all, time};
use crate::domain::operation::{Effect, Operation, State};
use crate::domain::{Digest, Millis};

fn sample(name: &str) -> Operation {
    all().into_iter().find(|sample| sample.name == name).unwrap().story.operation
}

#[test]
fn no_sample_violates_anything() {
    for sample in all() {
        let op = &sample.story.operation;
        assert_eq!(check(op, Some(op.changed)), [], "{}", sample.name);
    }
}

type Change = fn(&mut Operation);

#[rustfmt::skip]
const BROKEN: &[(Violation, &str, Change)] = &[
    (Violation::NeverDue, "unknown", |op| op.doubt = None),
    (Violation::EffectDisagrees, "succeeded", |op| op.effect = Effect::Unknown),
    (Violation::EffectDisagrees, "denied", |op| op.effect = Effect::Applied),
    (Violation::EffectDisagrees, "expired, nobody decided", |op| op.effect = Effect::Applied),
    (Violation::EffectDisagrees, "executing", |op| op.effect = Effect::None),
    (Violation::EffectDisagrees, "unknown", |op| op.effect = Effect::None),
    (Violation::EffectDisagrees, "failed, none", |op| op.effect = Effect::Unknown),
    (Violation::EffectDisagrees, "compensated", |op| op.effect = Effect::Applied),
    (Violation::TwoAttempts, "executing, second attempt", |op| {
        op.attempts[0].result = AttemptResult::Running;
        op.attempts[0].ended = None;
    }),
    (Violation::AttemptOutsideExecuting, "executing", |op| op.state = State::Unknown),
    (Violation::ExecutingWithoutAttempt, "executing", |op| op.attempts.clear()),
    (Violation::AttemptTwice, "executing, second attempt", |op| op.attempts[1].id = op.attempts[0].id),
    (Violation::TooManyAttempts, "executing, second attempt", |op| {
        for n in 0..3 {
            let mut one = op.attempts[0].clone();
            one.id = crate::domain::operation::samples::attempt(20 + n);
            op.attempts.insert(0, one);
        }
    }),
    (Violation::AttemptEnd, "executing", |op| op.attempts[0].ended = Some(op.changed)),
    (Violation::ForeignApproval, "approved", |op| op.decisions[0].digest = Some(Digest::ZERO)),
    (Violation::SamePersonTwice, "approved", |op| op.decisions.push(op.decisions[0].clone())),
    (Violation::ApprovedByRequester, "approved", |op| op.decisions[0].by = actor(Person::Planner)),
    (Violation::ApprovedByRequester, "approved", |op| op.decisions[0].by = actor(Person::Otto)),
    (Violation::ApprovedByRequester, "approved", |op| op.decisions[0].by = actor(Person::Carla)),
    (Violation::ApprovalsMissing, "approved", |op| op.decisions[0].void = true),
    (Violation::ExecuteBy, "approved", |op| op.execute_by = None),
    (Violation::ExecuteBy, "approved", |op| {
        let mut proposal = op.proposal.as_ref().clone();
        proposal.expires = Some(proposal.decide_by);
        op.proposal = proposal.into();
    }),
    (Violation::ExecuteBy, "proposed", |op| op.execute_by = Some(time(1))),
    (Violation::SuccessWithoutEvidence, "succeeded", |op| {
        let outcome = op.outcome.as_mut().unwrap();
        outcome.receipt = None;
        outcome.evidence = Some(Evidence::Status);
    }),
    (Violation::Outcome, "failed, none", |op| op.outcome = None),
    (Violation::Outcome, "approved", |op| op.outcome = sample("denied").outcome),
    (Violation::PartsMissing, "failed, partial", |op| op.outcome.as_mut().unwrap().effects.clear()),
    (Violation::WaitOutsideApproved, "proposed", |op| op.wait = Some(Waiting { wait: Wait::Limit, until: None })),
    (Violation::DoubtOutsideUnknown, "succeeded", |op| op.doubt = sample("unknown").doubt),
    (Violation::TicketMissing, "succeeded", |op| op.doubt = sample("unknown, paused").doubt),
    (Violation::Compensation, "compensating", |op| op.before_compensation = None),
    (Violation::Compensation, "compensated", |op| op.compensation = None),
];

#[test]
fn every_violation_is_seen() {
    for (violation, name, change) in BROKEN {
        let mut op = sample(name);
        change(&mut op);
        let found = check(&op, Some(op.changed));
        assert!(found.contains(violation), "{name}: {violation:?} not in {found:?}");
    }
    let op = sample("proposed");
    let early = crate::domain::Time::from_millis(op.changed.as_millis() - 1);
    assert_eq!(check(&op, Some(early)), [Violation::Changed]);
    assert_eq!(check(&op, Some(op.changed.plus(Millis(1)))), []);
    // `DueWithoutClock` needs a mistake in `next_due`, not in an operation.
    let seen: BTreeSet<Violation> = BROKEN.iter().map(|(violation, ..)| *violation).collect();
    assert_eq!(seen.len(), 20);
}

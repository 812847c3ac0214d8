//! Random walks through the machine, each step held against evolve, the invariants, the model and a replay.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::model::Model;
use crate::domain::operation::Requirement;
use crate::domain::operation::command::CommandKind;
use crate::domain::operation::invariants::check;
use crate::domain::operation::record::Operation;
use crate::domain::operation::samples::{
    Asked, Person, Story, actor, attempt, commands_of, operation, principal, rules,
};
use crate::domain::operation::{
    Answer, Command, CommitMode, Decided, Event, EventKind, Facts, Recorded, RetryClass, Rules, State,
    decide, evolve,
};
use crate::domain::{Millis, Time};
use crate::store::codec::{decode, encode};

const STEPS: std::ops::Range<usize> = 1..60;

static SAMPLES: LazyLock<Vec<Vec<Asked>>> =
    LazyLock::new(|| CommandKind::ALL.iter().map(|kind| commands_of(*kind)).collect());

/// One step: a sample of a command, changed to fit the operation at hand.
#[derive(Clone, Debug)]
struct Step {
    kind: CommandKind,
    variant: prop::sample::Index,
    /// Somebody else than in the sample.
    by: Option<Person>,
    /// Since the step before; clocks also go back.
    passed: i64,
    jitter: u32,
    /// Which attempt an answer belongs to, from the newest; mostly the newest.
    back: usize,
    /// The digest and the approver as they are, or as the sample has them.
    right: bool,
    /// The command that leads on from the state at hand, so that walks are long.
    onward: bool,
}

fn kinds() -> impl Strategy<Value = CommandKind> {
    prop_oneof![
        6 => Just(CommandKind::Approve),
        8 => Just(CommandKind::Commit),
        10 => Just(CommandKind::RecordAnswer),
        8 => Just(CommandKind::RecordStatus),
        5 => Just(CommandKind::Tick),
        3 => Just(CommandKind::Resolve),
        12 => Just(CommandKind::Abandon),
        3 => Just(CommandKind::StartCompensation),
        3 => Just(CommandKind::SettleCompensation),
        2 => Just(CommandKind::RecordReadback),
        2 => Just(CommandKind::Cancel),
        6 => prop::sample::select(CommandKind::ALL),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let passed = prop_oneof![
        20 => 0i64..2_000,
        2 => 3_000i64..20_000,
        1 => Just(300_000i64),
        1 => -100_000i64..0,
        1 => 600_000i64..100_000_000,
    ];
    let by = prop::option::weighted(0.15, prop::sample::select(&Person::ALL[..]));
    let back = prop_oneof![6 => Just(0usize), 2 => 0usize..3];
    let flags = (prop::bool::weighted(0.9), prop::bool::weighted(0.5));
    let step = (kinds(), any::<prop::sample::Index>(), by, passed, 0u32..=1000, back, flags);
    let step = step.prop_map(|(kind, variant, by, passed, jitter, back, (right, onward))| Step {
        kind,
        variant,
        by,
        passed,
        jitter,
        back,
        right,
        onward,
    });
    prop::collection::vec(step, STEPS)
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let retry = prop_oneof![4 => Just(RetryClass::Idempotent), 1 => Just(RetryClass::Never)];
    let commit = prop_oneof![3 => Just(CommitMode::OnApproval), 1 => Just(CommitMode::Explicit)];
    let approvals = prop_oneof![1 => Just(0u32), 4 => 1u32..=2];
    (approvals, retry, commit, 1u32..=4, 0u64..700).prop_map(
        |(approvals, retry, commit, max_attempts, budget)| Rules {
            approval: Requirement::of(approvals),
            retry,
            commit,
            max_attempts,
            budget: Millis::secs(budget),
            ..rules()
        },
    )
}

fn onward(state: State) -> Option<CommandKind> {
    match state {
        State::Proposed => Some(CommandKind::Approve),
        State::Approved => Some(CommandKind::Commit),
        State::Executing => Some(CommandKind::RecordAnswer),
        State::Unknown => Some(CommandKind::RecordStatus),
        State::Compensating => Some(CommandKind::SettleCompensation),
        State::Succeeded | State::Failed | State::Abandoned | State::CompensationFailed => {
            Some(CommandKind::StartCompensation)
        }
        State::Denied | State::Expired | State::Cancelled | State::Compensated => None,
    }
}

/// The sample, with the ids of this walk.
fn command(step: &Step, op: &Operation, n: usize) -> (Person, Command) {
    let kind = if step.onward { onward(op.state).unwrap_or(step.kind) } else { step.kind };
    let place = CommandKind::ALL.iter().position(|known| *known == kind).unwrap();
    let asked = step.variant.get(&SAMPLES[place]);
    let mut command = asked.command.clone();
    if let Command::Approve { digest, .. } = &mut command
        && step.right
    {
        *digest = op.proposal.proposal_sha256;
    }
    let mut by = step.by.unwrap_or(asked.by);
    if let Command::Revoke { approver } = &mut command
        && let Some(known) = op.approvals().next().filter(|_| step.right)
    {
        match approver {
            Some(name) => name.clone_from(&known.by.name),
            None => by = Person::ALL.into_iter().find(|one| actor(*one) == known.by).unwrap(),
        }
    }
    if let Command::Commit(facts) = &mut command {
        facts.attempt = attempt(1_000 + n as u128);
    }
    if let Command::RecordAnswer { attempt, .. } = &mut command
        && let Some(known) = op.attempts.iter().rev().nth(step.back)
    {
        *attempt = known.id;
    }
    if let Command::StartCompensation { operation: linked } = &mut command {
        *linked = operation(1_000 + n as u128);
    }
    (by, command)
}

fn is_late(op: &Operation, now: Time) -> bool {
    (op.state == State::Proposed && now >= op.proposal.decide_by)
        || (op.state == State::Approved && op.execute_by.is_some_and(|end| now >= end))
}

/// What no list of events may contain, whatever the state.
fn plausible(before: &Operation, kind: CommandKind, decided: &Decided) -> Result<(), TestCaseError> {
    let kinds: Vec<EventKind> = decided.events.iter().map(Event::kind).collect();
    let starts = kinds.iter().filter(|kind| **kind == EventKind::ExecutionStarted).count();
    prop_assert!(starts <= 1, "two intents in one decision");
    if matches!(decided.answer, Answer::Refused(_)) {
        let harmless = [EventKind::Expired, EventKind::LateDecision, EventKind::Deferred];
        // Committed in a run that has ended.
        let run_ended = kind == CommandKind::Commit && kinds == [EventKind::Cancelled];
        // Committed on approvals that are not enough any more.
        let again = [EventKind::PolicyTightened, EventKind::ApprovalRevoked];
        let asked_again = kind == CommandKind::Commit && kinds.iter().all(|kind| again.contains(kind));
        prop_assert!(
            run_ended || asked_again || kinds.iter().all(|kind| harmless.contains(kind)),
            "a refusal changed something: {kinds:?}"
        );
    }
    if before.state.is_ended() {
        let after_end = [
            EventKind::LateDecision,
            EventKind::LateAnswer,
            EventKind::CompensationStarted,
            EventKind::ReadBack,
        ];
        prop_assert!(
            kinds.iter().all(|kind| after_end.contains(kind)),
            "{} went on: {kinds:?}",
            before.state
        );
    }
    Ok(())
}

/// What one step may do to an operation that has ended (INV2).
fn ends_stay(before: &Operation, after: &Operation) -> Result<(), TestCaseError> {
    if before.state.is_ended() {
        let kept = after.state == before.state || after.state == State::Compensating;
        prop_assert!(kept, "{} became {}", before.state, after.state);
        prop_assert_eq!(&after.attempts, &before.attempts);
        let (mut outcome, mut was) = (after.outcome.clone(), before.outcome.clone());
        if let (Some(outcome), Some(was)) = (&mut outcome, &mut was) {
            // What an independent read saw is added once, and changes nothing else.
            prop_assert!(was.readback.is_none() || outcome.readback == was.readback, "read back twice");
            (outcome.readback, was.readback) = (None, None);
        }
        prop_assert_eq!(outcome, was, "a recorded outcome changed");
    }
    if before.state == State::Compensating {
        let back = before.before_compensation == Some(after.state);
        let settled =
            matches!(after.state, State::Compensating | State::Compensated | State::CompensationFailed);
        prop_assert!(back || settled, "compensating became {}", after.state);
    }
    Ok(())
}

/// What the walks have seen.
#[derive(Default)]
struct Seen {
    states: BTreeSet<State>,
    events: BTreeSet<EventKind>,
}

fn walk(rules: Rules, steps: &[Step], seen: &RefCell<Seen>) -> Result<(), TestCaseError> {
    let mut model = Model::new(rules.approval.persons());
    let story = Story::with(rules);
    let (mut op, mut recorded) = (story.operation, story.recorded);
    seen.borrow_mut().events.extend(recorded.iter().map(|one| one.event.kind()));
    let mut now = op.changed;
    for (n, step) in steps.iter().enumerate() {
        now = Time::from_millis(now.as_millis().saturating_add(step.passed));
        let (by, command) = command(step, &op, n);
        let who = principal(by);
        let decided = decide(&op, &command, &Facts { now, by: &who, jitter: step.jitter });
        plausible(&op, command.kind(), &decided)?;
        let allowed = model.allowed(command.kind(), is_late(&op, now));
        let before = op.clone();
        for event in decided.events {
            let one = Recorded { at: now, by: actor(by), event };
            op = match evolve(Some(&op), &one) {
                Ok(after) => after,
                Err(error) => {
                    return Err(TestCaseError::fail(format!(
                        "decide and evolve disagree: {error}; {command:?}"
                    )));
                }
            };
            model.follow(&one.event, &one.by, op.state).map_err(TestCaseError::fail)?;
            seen.borrow_mut().events.insert(one.event.kind());
            recorded.push(one);
        }
        prop_assert!(allowed.contains(&op.state), "{} -> {} by {command:?}", before.state, op.state);
        prop_assert_eq!(check(&op, None), vec![], "{} -> {} by {:?}", before.state, op.state, command);
        ends_stay(&before, &op)?;
        seen.borrow_mut().states.insert(op.state);
    }
    replays(&op, &recorded)
}

/// Live is replay, and both survive the store.
fn replays(op: &Operation, recorded: &[Recorded]) -> Result<(), TestCaseError> {
    let stored: Vec<Recorded> = decode(&encode(&recorded).unwrap()).unwrap();
    prop_assert_eq!(&stored[..], recorded);
    let mut again: Option<Operation> = None;
    for one in &stored {
        again = Some(evolve(again.as_ref(), one).unwrap());
    }
    prop_assert_eq!(again.as_ref(), Some(op));
    prop_assert_eq!(&decode::<Operation>(&encode(op).unwrap()).unwrap(), op);
    prop_assert_eq!(op.events as usize, recorded.len());
    Ok(())
}

fn run(runner: &mut TestRunner) -> Seen {
    let seen = RefCell::new(Seen::default());
    let result = runner.run(&(any_rules(), steps()), |(rules, steps)| walk(rules, &steps, &seen));
    if let Err(failure) = result {
        panic!("{failure}");
    }
    seen.into_inner()
}

#[test]
fn random_walks_hold_every_property() {
    run(&mut TestRunner::new(Config { failure_persistence: None, ..Config::default() }));
}

/// The same with a fixed seed, so that what the walks reach is known: all of it.
#[test]
fn the_walks_reach_every_state_and_event() {
    let config = Config { cases: 3_000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let seen = run(&mut TestRunner::new_with_rng(config, rng));
    assert_eq!(seen.states, State::ALL.into_iter().collect());
    assert_eq!(seen.events, EventKind::ALL.into_iter().collect());
}

#[test]
fn the_lists_of_names_are_complete() {
    assert!(EventKind::ALL.iter().enumerate().all(|(place, kind)| *kind as usize == place));
    assert!(State::ALL.iter().enumerate().all(|(place, state)| *state as usize == place));
    assert_eq!(EventKind::ALL.len(), EventKind::ReadBack as usize + 1);
    assert_eq!(State::ALL.len(), State::CompensationFailed as usize + 1);
}

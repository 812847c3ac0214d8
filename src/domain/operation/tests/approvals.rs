//! Who has to approve, and when what was given does not count any more.

use crate::domain::operation::command::{PolicyNow, Preconditions};
use crate::domain::operation::samples::{Person, attempt, preconditions, principal, proposal, rules, time};
use crate::domain::operation::{
    Actor, Answer, Command, Decided, Facts, Needed, Operation, Recorded, Requirement, State, decide, evolve,
    propose,
};
use crate::domain::principal::{Assurance, Principal};
use crate::domain::{Code, Digest, Millis};

fn in_groups(person: Person, groups: &[&str]) -> Principal {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    Principal { groups, ..principal(person) }
}

fn begun(requirement: Requirement) -> Operation {
    let of = proposal(crate::domain::operation::Rules { approval: requirement, ..rules() });
    let mut made = None;
    for event in propose(of, time(0)) {
        let recorded = Recorded { at: time(0), by: Actor::from(&principal(Person::Planner)), event };
        made = Some(evolve(made.as_ref(), &recorded).unwrap());
    }
    made.unwrap()
}

/// Approved by one person, as it was asked for.
pub(super) fn approved_of_one() -> Operation {
    let mut op = begun(Requirement::of(1));
    approves(&mut op, 10, &principal(Person::Ada), None);
    op
}

/// Decides and applies what happened.
fn does(op: &mut Operation, ms: i64, by: &Principal, command: &Command) -> Answer {
    let decided = decide(op, command, &Facts { now: time(ms), by, jitter: 0 });
    apply(op, ms, by, &decided);
    decided.answer
}

fn apply(op: &mut Operation, ms: i64, by: &Principal, decided: &Decided) {
    for event in &decided.events {
        let recorded = Recorded { at: time(ms), by: Actor::from(by), event: event.clone() };
        *op = evolve(Some(op), &recorded).unwrap();
    }
}

fn approves(op: &mut Operation, ms: i64, by: &Principal, note: Option<&str>) -> Answer {
    let digest = op.proposal.proposal_sha256;
    does(op, ms, by, &Command::Approve { digest, note: note.map(str::to_owned) })
}

pub(super) fn code(answer: &Answer) -> Option<Code> {
    match answer {
        Answer::Refused(refusal) => Some(refusal.code),
        Answer::Done | Answer::Already(_) => None,
    }
}

pub(super) fn commit(op: &Operation, change: impl FnOnce(&mut Preconditions)) -> Command {
    let approvers = op.approvals().map(|known| (known.by.name.clone(), Some(known.groups.clone()))).collect();
    let policy = PolicyNow {
        version: Digest::of(b"now"),
        requirement: op.proposal.rules.approval.clone(),
        execute_within: op.proposal.rules.execute_within,
    };
    let mut facts = Preconditions { attempt: attempt(1), approvers, policy, ..preconditions() };
    change(&mut facts);
    Command::Commit(Box::new(facts))
}

fn of_groups(needed: &[(&str, u32)]) -> Requirement {
    let needed = needed
        .iter()
        .map(|(group, count)| Needed { group: Some((*group).to_owned()), count: *count })
        .collect();
    Requirement { needed, ..Requirement::of(1) }
}

#[test]
fn each_group_is_asked_and_a_person_counts_once_in_each_of_theirs() {
    let mut op = begun(of_groups(&[("crm", 2), ("money", 1)]));
    let ada = in_groups(Person::Ada, &["crm", "money"]);
    assert_eq!(approves(&mut op, 10, &ada, None), Answer::Done);
    assert_eq!(op.state, State::Proposed);
    assert_eq!(op.requirement().missing(op.approvals())[0].to_string(), "1 of crm");
    // The same person under another name, and somebody of another group.
    let too = in_groups(Person::AdaToo, &["crm"]);
    assert!(matches!(approves(&mut op, 11, &too, None), Answer::Already(_)));
    let stranger = in_groups(Person::Bob, &["sales"]);
    assert_eq!(code(&approves(&mut op, 12, &stranger, None)), Some(Code::ApproverNotAuthorized));
    let bob = in_groups(Person::Bob, &["crm"]);
    assert_eq!(approves(&mut op, 13, &bob, None), Answer::Done);
    assert_eq!((op.state, op.execute_by), (State::Approved, Some(time(10).plus(rules().execute_within))));
}

#[test]
fn who_is_excluded_in_no_group_or_not_surely_known_cannot_approve() {
    let asks = Requirement {
        exclude: vec!["bob".into()],
        assurance: Assurance::Token,
        reason_required: true,
        ..of_groups(&[("crm", 1)])
    };
    let mut op = begun(asks);
    let bob = in_groups(Person::Bob, &["crm"]);
    let unsure = Principal { assurance: Assurance::LocalUid, ..in_groups(Person::Ada, &["crm"]) };
    let ada = in_groups(Person::Ada, &["crm"]);
    assert_eq!(code(&approves(&mut op, 10, &bob, Some("so"))), Some(Code::ApproverNotAuthorized));
    assert_eq!(code(&approves(&mut op, 10, &unsure, Some("so"))), Some(Code::ApproverNotAuthorized));
    for empty in [None, Some(""), Some("  ")] {
        assert_eq!(code(&approves(&mut op, 10, &ada, empty)), Some(Code::InvalidArgument), "{empty:?}");
    }
    assert_eq!(op.events, 1, "nothing of that was recorded");
    assert_eq!(approves(&mut op, 10, &ada, Some("so")), Answer::Done);
    assert_eq!(op.state, State::Approved);
    // A no needs no token, but a person who is asked.
    let deny = Command::Deny { reason: "no".into(), last: false };
    assert_eq!(code(&does(&mut op, 11, &bob, &deny)), Some(Code::ApproverNotAuthorized));
    let mut other = begun(op.proposal.rules.approval.clone());
    assert_eq!(does(&mut other, 11, &unsure, &deny), Answer::Done);
    assert_eq!(other.state, State::Denied);
}

#[test]
fn a_policy_that_became_stricter_asks_for_what_is_missing() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(1));
    approves(&mut op, 10, &in_groups(Person::Ada, &[]), None);
    let stricter = commit(&op, |facts| facts.policy.requirement = Requirement::of(2));
    assert_eq!(code(&does(&mut op, 20, &daemon, &stricter)), Some(Code::PolicyChanged));
    assert_eq!((op.state, op.attempts.len(), op.approvals().count()), (State::Proposed, 0, 1));
    approves(&mut op, 30, &in_groups(Person::Bob, &[]), None);
    let again = commit(&op, |facts| facts.policy.requirement = Requirement::of(2));
    assert_eq!(does(&mut op, 40, &daemon, &again), Answer::Done);
    assert_eq!(op.state, State::Executing);
}

#[test]
fn a_policy_that_changes_no_verdict_voids_nothing() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(2));
    approves(&mut op, 10, &in_groups(Person::Ada, &["crm"]), None);
    approves(&mut op, 11, &in_groups(Person::Bob, &[]), None);
    let other = commit(&op, |facts| facts.policy.requirement = of_groups(&[("crm", 1)]));
    assert_eq!(does(&mut op, 20, &daemon, &other), Answer::Done);
    assert_eq!(op.state, State::Executing);
}

#[test]
fn a_yes_that_does_not_count_any_more_is_given_again_by_the_same_person() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(1));
    let unsure = Principal { assurance: Assurance::LocalUid, ..principal(Person::Ada) };
    approves(&mut op, 10, &unsure, None);
    let surer = Requirement { assurance: Assurance::Token, ..Requirement::of(1) };
    let stricter = commit(&op, |facts| facts.policy.requirement = surer.clone());
    assert_eq!(code(&does(&mut op, 20, &daemon, &stricter)), Some(Code::PolicyChanged));
    assert_eq!(code(&approves(&mut op, 30, &unsure, None)), Some(Code::ApproverNotAuthorized));
    assert_eq!(approves(&mut op, 31, &principal(Person::Ada), None), Answer::Done);
    assert_eq!((op.state, op.approvals().count()), (State::Approved, 1));
    assert_eq!(
        op.execute_by,
        Some(time(31).plus(rules().execute_within)),
        "only what counts starts the clock"
    );
}

#[test]
fn a_write_that_was_allowed_is_asked_about_when_the_policy_asks_now() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(0));
    assert_eq!((op.state, op.approvals().count(), op.decisions.len()), (State::Approved, 0, 1));
    let stricter = commit(&op, |facts| facts.policy.requirement = Requirement::of(1));
    assert_eq!(code(&does(&mut op, 20, &daemon, &stricter)), Some(Code::PolicyChanged));
    assert_eq!(op.state, State::Proposed);
    assert_eq!(approves(&mut op, 30, &principal(Person::Ada), None), Answer::Done);
    assert_eq!(op.state, State::Approved);
}

#[test]
fn a_write_that_the_policy_forbids_now_is_approved_by_nobody() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(1));
    approves(&mut op, 10, &principal(Person::Ada), None);
    let denies = Requirement { denied: Some("never".into()), ..Requirement::of(1) };
    let denied = commit(&op, |facts| facts.policy.requirement = denies.clone());
    assert_eq!(code(&does(&mut op, 20, &daemon, &denied)), Some(Code::PolicyChanged));
    assert_eq!(code(&approves(&mut op, 30, &principal(Person::Bob), None)), Some(Code::PolicyChanged));
    assert_eq!(op.state, State::Proposed);
}

#[test]
fn who_may_not_approve_any_more_has_not_approved() {
    let daemon = principal(Person::Daemon);
    let changes: [fn(&mut Preconditions); 2] =
        [|facts| facts.approvers[0].1 = None, |facts| facts.approvers[0].1 = Some(vec!["sales".into()])];
    for change in changes {
        let mut op = begun(of_groups(&[("crm", 1)]));
        approves(&mut op, 10, &in_groups(Person::Ada, &["crm"]), None);
        let gone = commit(&op, change);
        assert_eq!(code(&does(&mut op, 20, &daemon, &gone)), Some(Code::ApprovalRevoked));
        assert_eq!((op.state, op.approvals().count()), (State::Proposed, 0));
    }
    // Who has left one of two groups is asked again, and somebody else for the other one.
    let mut op = begun(of_groups(&[("crm", 1), ("money", 1)]));
    approves(&mut op, 10, &in_groups(Person::Ada, &["crm", "money"]), None);
    let left = commit(&op, |facts| facts.approvers[0].1 = Some(vec!["crm".into()]));
    assert_eq!(code(&does(&mut op, 20, &daemon, &left)), Some(Code::ApprovalRevoked));
    assert_eq!((op.state, op.approvals().count()), (State::Proposed, 0));
    // One too many is no reason to ask again.
    let mut op = begun(Requirement::of(1));
    approves(&mut op, 10, &principal(Person::Ada), None);
    let stays = commit(&op, |facts| facts.approvers.push(("bob".into(), None)));
    assert_eq!(does(&mut op, 20, &daemon, &stays), Answer::Done);
}

#[test]
fn an_approval_for_one_attempt_ends_with_that_attempt() {
    use crate::domain::operation::Evidence;
    use crate::domain::operation::command::AttemptAnswer;
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement { survive_transient: false, ..Requirement::of(1) });
    approves(&mut op, 10, &principal(Person::Ada), None);
    let first = commit(&op, |_| {});
    does(&mut op, 20, &daemon, &first);
    let answer =
        AttemptAnswer::NoEffect { code: Code::RateLimited, retry_after: None, evidence: Evidence::Answer };
    does(&mut op, 30, &daemon, &Command::RecordAnswer { attempt: attempt(1), answer });
    assert_eq!((op.state, op.approvals().count()), (State::Proposed, 0));
    assert_eq!(approves(&mut op, 40, &principal(Person::Ada), None), Answer::Done);
    let second = commit(&op, |facts| facts.attempt = attempt(2));
    does(&mut op, 50, &daemon, &second);
    assert_eq!((op.state, op.attempts.len()), (State::Executing, 2));
}

#[test]
fn a_shorter_time_to_execute_holds_for_what_is_approved_already() {
    let daemon = principal(Person::Daemon);
    let mut op = begun(Requirement::of(1));
    approves(&mut op, 10, &principal(Person::Ada), None);
    let late = commit(&op, |facts| facts.policy.execute_within = Millis(1_000));
    assert_eq!(code(&does(&mut op, 1_010, &daemon, &late)), Some(Code::ApprovalExpired));
    assert_eq!(op.state, State::Expired);
    assert!(!matches!(op.outcome.map(|outcome| outcome.code), Some(None)));
}

//! Expiry races a click (to the millisecond), and clocks that jump bring nothing back to life.

use crate::domain::operation::record::Operation;
use crate::domain::operation::samples::{self, Person, Story, actor, principal, rules, time};
use crate::domain::operation::{
    Answer, Command, Decided, Event, Facts, Recorded, Requirement, State, Verdict, decide, evolve,
    proposal_digest, propose,
};
use crate::domain::{Code, Time};

fn ask(op: &Operation, by: Person, now: Time, command: &Command) -> (Operation, Decided) {
    let who = principal(by);
    let decided = decide(op, command, &Facts { now, by: &who, jitter: 1000 });
    let mut after = op.clone();
    for event in &decided.events {
        let recorded = Recorded { at: now, by: actor(by), event: event.clone() };
        after = evolve(Some(&after), &recorded).unwrap();
    }
    (after, decided)
}

fn proposed() -> Operation {
    Story::with(rules()).operation
}

fn approve() -> Command {
    Command::Approve { digest: proposed().proposal.proposal_sha256, note: Some("yes".into()) }
}

fn deny() -> Command {
    Command::Deny { reason: "the wrong customer".into(), last: false }
}

fn refusal(decided: &Decided) -> Option<Code> {
    match &decided.answer {
        Answer::Refused(refusal) => Some(refusal.code),
        Answer::Done | Answer::Already(_) => None,
    }
}

#[test]
fn the_last_millisecond_counts_and_the_next_does_not() {
    let (after, decided) = ask(&proposed(), Person::Ada, time(59_999), &approve());
    assert_eq!((after.state, decided.answer), (State::Approved, Answer::Done));
    for late in [60_000, 60_001] {
        let (after, decided) = ask(&proposed(), Person::Ada, time(late), &approve());
        assert_eq!(after.state, State::Expired);
        assert_eq!(refusal(&decided), Some(Code::ProposalExpired));
        assert_eq!(after.approvals().count(), 0, "a late approval never counts");
        let kept = &after.decisions[0];
        assert_eq!((kept.verdict, kept.void, kept.note.as_deref()), (Verdict::Approve, true, Some("yes")));
        assert_eq!(after.outcome.unwrap().code, Some(Code::ProposalExpired));
    }
}

#[test]
fn a_late_denial_is_kept_as_a_denial() {
    for expired_before in [false, true] {
        let mut op = proposed();
        if expired_before {
            op = ask(&op, Person::Daemon, time(60_000), &Command::Tick).0;
        }
        let (after, decided) = ask(&op, Person::Ada, time(61_000), &deny());
        assert_eq!(after.state, State::Expired, "one terminal state");
        assert!(matches!(decided.answer, Answer::Already(_)));
        assert_eq!(after.decisions.len(), 1);
        assert_eq!(after.decisions[0].verdict, Verdict::Deny);
        assert_eq!(after.decisions[0].note.as_deref(), Some("the wrong customer"));
    }
}

#[test]
fn a_late_decision_of_somebody_who_may_not_decide_is_no_decision() {
    for by in [Person::Planner, Person::Otto, Person::Carla, Person::Nobody, Person::Olga] {
        for command in [approve(), deny()] {
            let (after, decided) = ask(&proposed(), by, time(61_000), &command);
            assert_eq!(after.state, State::Expired);
            assert_eq!(refusal(&decided), Some(Code::ApproverNotAuthorized), "{by:?}");
            assert!(after.decisions.is_empty());
        }
    }
}

#[test]
fn sweeper_and_click_give_one_end_in_either_order() {
    for click in [approve(), deny()] {
        let swept = ask(&proposed(), Person::Daemon, time(60_000), &Command::Tick).0;
        let (one, _) = ask(&swept, Person::Ada, time(60_000), &click);
        let clicked = ask(&proposed(), Person::Ada, time(60_000), &click).0;
        let (other, last) = ask(&clicked, Person::Daemon, time(60_000), &Command::Tick);
        assert_eq!(last.events, [], "the sweeper finds it ended");
        assert_eq!(one.state, State::Expired);
        assert_eq!((one.state, one.decisions, one.outcome), (other.state, other.decisions, other.outcome));
    }
}

#[test]
fn an_expired_operation_stays_expired_when_the_clock_goes_back() {
    let day = 86_400_000;
    let approved = ask(&proposed(), Person::Ada, time(1_000), &approve()).0;
    for (op, code) in [(proposed(), Code::ProposalExpired), (approved, Code::ApprovalExpired)] {
        for jump in [day, 3_650 * day] {
            let gone = ask(&op, Person::Daemon, time(jump), &Command::Tick).0;
            assert_eq!(gone.state, State::Expired);
            for back in [1_000, 0, -day] {
                let (after, decided) = ask(&gone, Person::Bob, time(back), &approve());
                assert_eq!(after.state, State::Expired);
                assert_eq!(refusal(&decided), Some(code));
                assert_eq!(ask(&gone, Person::Daemon, time(back), &Command::Tick).0, gone);
            }
        }
    }
}

#[test]
fn a_clock_that_goes_back_lengthens_no_approval() {
    let rules =
        crate::domain::operation::Rules { approval: crate::domain::operation::Requirement::of(2), ..rules() };
    let op = Story::with(rules).operation;
    let yes = Command::Approve { digest: op.proposal.proposal_sha256, note: None };
    let first = ask(&op, Person::Ada, time(30_000), &yes).0;
    let both = ask(&first, Person::Bob, time(5_000), &yes).0;
    assert_eq!(both.state, State::Approved);
    assert_eq!(both.execute_by, Some(time(930_000)), "the first counted approval starts the clock");
    let (late, decided) = ask(&both, Person::Daemon, time(930_000), &Command::Tick);
    assert_eq!(late.state, State::Expired);
    assert!(matches!(decided.events[..], [Event::Expired { .. }]));
}

#[test]
fn nothing_is_executed_after_what_its_preview_promised() {
    let expires = time(40_000);
    let mut proposal = samples::proposal(rules());
    (proposal.expires, proposal.decide_by) = (Some(expires), expires);
    proposal.proposal_sha256 = proposal_digest(&proposal, &samples::body());
    let event = propose(proposal.clone(), time(0)).remove(0);
    let recorded = Recorded { at: time(0), by: samples::actor(Person::Planner), event };
    let op = evolve(None, &recorded).unwrap();
    let yes = Command::Approve { digest: op.proposal.proposal_sha256, note: None };
    let approved = ask(&op, Person::Ada, time(39_999), &yes).0;
    assert_eq!((approved.state, approved.execute_by), (State::Approved, Some(expires)));
    let late = ask(&approved, Person::Daemon, expires, &Command::Tick).0;
    assert_eq!(late.state, State::Expired);
    // One that nobody decides about is bound by it, too.
    proposal.rules.approval = Requirement::of(0);
    let admitted = propose(proposal, time(1));
    assert!(matches!(admitted[1], Event::Admitted { execute_by } if execute_by == expires));
}

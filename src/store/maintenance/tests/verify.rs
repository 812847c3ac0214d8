//! What `verify` counts, the head that was kept elsewhere, erased contents, facts that clients were told, the lock.

use std::collections::BTreeSet;

use super::made::{KEY, Made, ended_run_id, later, nth, run_id, samples_in};
use crate::domain::Digest;
use crate::domain::journal::Entry;
use crate::domain::operation::State;
use crate::domain::operation::samples;
use crate::store::codec::encode;
use crate::store::lock::StateLock;
use crate::store::maintenance::{
    FindingCode, HeadClaim, MaintenanceError, VerifyOptions, VerifyReport, verify,
};
use crate::store::records::{Records, keys};
use crate::store::{Batch, Record};

fn with(made: &Made, options: &VerifyOptions) -> VerifyReport {
    verify(made.path(), options, later()).unwrap()
}

fn codes(report: &VerifyReport) -> BTreeSet<FindingCode> {
    report.findings.listed.iter().map(|finding| finding.code).collect()
}

fn told(made: &Made, facts: &str) -> VerifyOptions {
    let path = made.file("acks");
    std::fs::write(&path, facts).unwrap();
    VerifyOptions { acks: Some(path), head: None }
}

#[test]
fn a_whole_store_is_clean_and_counted() {
    let made = Made::all();
    let report = with(&made, &VerifyOptions::default());
    assert!(report.clean, "{:#?}", report.findings);
    for state in State::ALL {
        assert_eq!(report.counts.by_state.get(state.as_str()).copied(), Some(samples_in(state)), "{state}");
    }
    assert_eq!(report.counts.operations, samples::all().len() as u64);
    assert_eq!(report.counts.bodies, report.counts.operations);
    assert_eq!((report.counts.runs, report.counts.contracts, report.counts.idempotency), (2, 1, 1));
    assert_eq!(report.counts.entries, report.head.seq);
    assert_eq!((report.epoch, report.held), (0, false));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["findings"]["total"], 0);
    assert_eq!(json["clean"], true);
}

#[test]
fn a_kept_head_is_held_against_the_chain() {
    let made = Made::of(&[samples::Story::with(samples::rules())]);
    let head = with(&made, &VerifyOptions::default()).head_claim();
    let text = head.to_string();
    assert_eq!(text.parse(), Ok(head));
    assert_eq!(format!("{}:{}", head.seq, head.digest).parse(), Ok(head));
    for wrong in ["", ":", "7", "7:8", &format!("{}:x", head.digest), &format!("{}", head.digest)] {
        assert!(wrong.parse::<HeadClaim>().is_err(), "{wrong}");
    }
    let held = |head| with(&made, &VerifyOptions { head: Some(head), acks: None });
    assert!(held(head).clean);
    for other in [
        HeadClaim { seq: head.seq + 1, ..head },
        HeadClaim { seq: head.seq - 1, ..head },
        HeadClaim { digest: Digest::of(b"other"), ..head },
    ] {
        assert_eq!(codes(&held(other)), BTreeSet::from([FindingCode::HeadNotOnChain]));
    }
    assert!(held(HeadClaim { seq: 0, digest: Digest::ZERO }).clean, "everything continues the empty journal");
}

#[test]
fn erased_contents_are_reported_and_are_no_finding() {
    let made = Made::all();
    let id = nth(samples::all().iter().position(|s| s.story.operation.state == State::Succeeded).unwrap());
    made.tamper(|store| {
        let history = Records(store).operation(id).unwrap().unwrap().history;
        history.into_iter().fold(Batch::new().delete(keys::body(id)), |batch, seq| {
            let entry = Entry { payload: Vec::new(), ..Records(store).entry(seq).unwrap().unwrap() };
            batch.put(keys::page(seq), Record { version: 1, payload: encode(&vec![entry]).unwrap() })
        })
    });
    let report = with(&made, &VerifyOptions::default());
    assert!(report.clean, "{:#?}", report.findings);
    assert_eq!((report.counts.erased_operations, report.counts.erased_entries), (1, 4));
}

#[test]
fn what_clients_were_told_must_be_there() {
    let made = Made::all();
    let place = |state| nth(samples::all().iter().position(|s| s.story.operation.state == state).unwrap());
    let succeeded = place(State::Succeeded);
    let planner = samples::actor(samples::Person::Planner).name;
    let right = format!(
        "# what was told\n\nop {succeeded} proposed 1\nop {succeeded} approved 2\nop {succeeded} approved 1\n\
         op {succeeded} succeeded 4\nrun {}\nrun {}\nkey acme {planner} {} {KEY}\n",
        run_id(),
        ended_run_id(),
        run_id(),
    );
    let report = with(&made, &told(&made, &right));
    assert!(report.clean, "{:#?}", report.findings);
    assert_eq!(report.counts.acknowledged, 6, "approved with 1 is covered by approved with 2");
    for (fact, code) in [
        (format!("op {succeeded} succeeded 5"), FindingCode::AckBehind),
        (format!("op {succeeded} denied 1"), FindingCode::AckState),
        (format!("op {succeeded} approved 3"), FindingCode::AckState),
        (format!("op {} proposed 1", nth(900)), FindingCode::AckMissing),
        (format!("run run_{}", "0".repeat(26)), FindingCode::AckMissing),
        (format!("key acme {planner} run {KEY}"), FindingCode::AckMissing),
    ] {
        assert_eq!(codes(&with(&made, &told(&made, &fact))), BTreeSet::from([code]), "{fact}");
    }
}

#[test]
fn facts_that_are_not_understood_are_errors() {
    let made = Made::of(&[samples::Story::with(samples::rules())]);
    let id = nth(0);
    for wrong in [
        "xyz",
        "op",
        &format!("op {id} proposed"),
        &format!("op {id} proposed 1 2"),
        &format!("op {id} flying 1"),
        &format!("op {id} proposed -1"),
        "op op_1 proposed 1",
        "run x",
        "key acme planner run",
    ] {
        let options = told(&made, &format!("op {id} proposed 1\n{wrong}\n"));
        let refused = verify(made.path(), &options, later()).unwrap_err();
        let MaintenanceError::Acks(error) = refused else { panic!("{wrong}: {refused}") };
        assert_eq!(error.line, 2, "{wrong}");
    }
}

#[test]
fn nothing_is_verified_without_a_store_or_the_lock() {
    let nothing = Made::nothing();
    let refused = verify(nothing.path(), &VerifyOptions::default(), later());
    assert!(matches!(refused, Err(MaintenanceError::NoStore { .. })), "{refused:?}");
    assert!(!nothing.file("store").exists(), "and none was made");
    let made = Made::of(&[]);
    let lock = StateLock::acquire(made.path(), later()).unwrap();
    let refused = verify(made.path(), &VerifyOptions::default(), later());
    assert!(matches!(refused, Err(MaintenanceError::Lock(_))), "{refused:?}");
    drop(lock);
    assert!(verify(made.path(), &VerifyOptions::default(), later()).is_ok());
}

//! Recovery: what is readable is kept, what the journal knows is made anew, what is lost is named, nothing is deleted.

use std::collections::BTreeSet;
use std::fs;

use super::made::{CONTRACT, Made, ended_run_id, later, nth, run_id, scope};
use crate::domain::Digest;
use crate::domain::ids::OperationId;
use crate::domain::operation::State;
use crate::domain::operation::samples;
use crate::store::maintenance::{
    FindingCode, MaintenanceError, RecoverReport, VerifyOptions, VerifyReport, recover, verify,
};
use crate::store::records::{Records, keys};
use crate::store::{Batch, Key, Record};

fn of(state: State) -> OperationId {
    nth(samples::all().iter().position(|sample| sample.story.operation.state == state).unwrap())
}

fn damage(batch: Batch, key: Key) -> Batch {
    batch.put(key, Record { version: 7, payload: vec![1, 2, 3] })
}

fn applied(made: &Made) -> (RecoverReport, VerifyReport) {
    let report = recover(made.path(), true, later()).unwrap();
    (report, verify(made.path(), &VerifyOptions::default(), later()).unwrap())
}

fn codes(report: &VerifyReport) -> BTreeSet<FindingCode> {
    report.findings.listed.iter().map(|finding| finding.code).collect()
}

#[test]
fn damaged_records_are_made_anew_from_the_journal() {
    let made = Made::all();
    let (ended, open) = (of(State::Succeeded), of(State::Executing));
    let before = Records(&made.open()).operation(ended).unwrap().unwrap();
    made.tamper(|_| {
        let batch = damage(Batch::new(), keys::ended(ended));
        let batch = damage(damage(batch, keys::open(open)), keys::meta());
        damage(batch.delete(keys::run(ended_run_id())), keys::run(run_id()))
    });
    let (report, verified) = applied(&made);
    assert!(verified.clean, "{:#?}", verified.findings);
    assert_eq!((report.epoch, verified.epoch, verified.held), (1, 1, true));
    let rebuilt: BTreeSet<String> = report.rebuilt.iter().cloned().collect();
    let expected = [ended.to_string(), open.to_string(), run_id().to_string(), ended_run_id().to_string()];
    assert_eq!(rebuilt, BTreeSet::from(expected));
    assert!(report.quarantined.is_empty());
    assert_eq!(report.lost.len(), 1, "the daemon's own record: {:?}", report.lost);
    let store = made.open();
    assert_eq!(Records(&store).operation(ended).unwrap().unwrap(), before);
    assert_eq!(Records(&store).operation(open).unwrap().unwrap().operation.state, State::Unknown);
    let kept = report.kept.unwrap();
    assert!(kept.join("db").exists(), "the damaged store is kept");
}

#[test]
fn without_apply_both_lie_side_by_side() {
    let made = Made::of(&[samples::Story::with(samples::rules())]);
    made.tamper(|_| damage(Batch::new(), keys::open(nth(0))));
    let report = recover(made.path(), false, later()).unwrap();
    assert_eq!(report.kept, None);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.recovered.join("db").exists());
    let still = verify(made.path(), &VerifyOptions::default(), later()).unwrap();
    assert_eq!(codes(&still), BTreeSet::from([FindingCode::RecordUnreadable]));
    let names: Vec<_> = fs::read_dir(made.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "lock, store, store.recovered-…: {names:?}");
}

#[test]
fn what_is_lost_is_named_and_an_operation_without_its_events_stays_in_quarantine() {
    let made = Made::all();
    let id = of(State::Executing);
    let approved = of(State::Approved);
    made.tamper(|store| {
        let history = Records(store).operation(id).unwrap().unwrap().history;
        let of_approved = Records(store).operation(approved).unwrap().unwrap().history;
        let batch = damage(damage(Batch::new(), keys::open(id)), keys::page(history[1]));
        let batch = damage(batch, keys::page(*of_approved.last().unwrap()));
        let batch = damage(batch, keys::idempotency(scope()));
        damage(damage(batch, keys::body(approved)), keys::contract(Digest::of(CONTRACT)))
    });
    let (report, verified) = applied(&made);
    assert_eq!(report.quarantined, [id]);
    let lost: Vec<&str> = report.lost.iter().map(|lost| lost.what.as_str()).collect();
    for part in ["bodies of", "contract", "Idempotency-Key", "page of the journal", "entries", "op_"] {
        assert!(lost.iter().any(|what| what.contains(part)), "{part}: {lost:?}");
    }
    assert!(codes(&verified).contains(&FindingCode::RecordUnreadable), "the daemon quarantines it too");
    assert!(codes(&verified).contains(&FindingCode::JournalGap));
    let store = made.open();
    // Its record was whole: it went on, and is unknown now like everything open.
    let went_on = Records(&store).operation(approved).unwrap().unwrap();
    assert_eq!(went_on.operation.state, State::Unknown);
}

#[test]
fn a_lost_end_of_the_journal_is_not_written_again() {
    let made = Made::all();
    let head = verify(made.path(), &VerifyOptions::default(), later()).unwrap().head;
    made.tamper(|_| damage(Batch::new(), keys::page(head.seq)));
    let (report, verified) = applied(&made);
    assert!(report.head.seq > head.seq);
    assert!(codes(&verified).contains(&FindingCode::JournalGap), "{:#?}", verified.findings);
    let store = made.open();
    assert!(Records(&store).entry(head.seq).unwrap().is_none(), "its place stays empty");
    assert_eq!(Records(&store).entry(head.seq + 1).unwrap().unwrap().name, "imported");
}

#[test]
fn a_store_that_does_not_open_is_read_without_its_snapshots_and_settings() {
    let made = Made::of(&[samples::Story::with(samples::rules())]);
    let conf = made.file("store/conf");
    fs::write(&conf, b"segment_size: 52").unwrap();
    assert!(matches!(
        verify(made.path(), &VerifyOptions::default(), later()),
        Err(MaintenanceError::Open(_))
    ));
    let (report, verified) = applied(&made);
    assert!(report.read.contains("settings of a fresh store"), "{}", report.read);
    assert!(verified.clean, "{:#?}", verified.findings);
    assert_eq!(fs::read(report.kept.unwrap().join("conf")).unwrap(), b"segment_size: 52", "never changed");
}

#[test]
fn nothing_is_recovered_from_nothing() {
    let nothing = Made::nothing();
    let refused = recover(nothing.path(), true, later());
    assert!(matches!(refused, Err(MaintenanceError::NoStore { .. })), "{refused:?}");
    let made = Made::of(&[]);
    fs::write(made.file("store/db"), b"").unwrap();
    let refused = recover(made.path(), true, later());
    assert!(matches!(refused, Err(MaintenanceError::Refused(_))), "{refused:?}");
    assert_eq!(fs::read(made.file("store/db")).unwrap(), b"");
    assert!(!made.file("store.salvage").exists() && !made.file("store.recovering").exists());
}

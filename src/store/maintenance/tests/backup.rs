//! Export → import → verify: the same content, a new epoch, and nothing in between that could be taken for a store.

use std::fs;

use super::made::{Made, later, nth};
use crate::domain::operation::samples::{self, Story};
use crate::domain::operation::{Effect, State};
use crate::store::maintenance::import::import_with;
use crate::store::maintenance::{
    ExportReport, FindingCode, MaintenanceError, VerifyOptions, export, import, verify,
};
use crate::store::records::{Records, keys};
use crate::store::testing::Child;
use crate::store::{Batch, Record, Store};

fn exported(made: &Made) -> (ExportReport, std::path::PathBuf) {
    let file = made.file("backup.ndjson.gz");
    (export(made.path(), &file, later()).unwrap(), file)
}

fn small() -> Made {
    Made::of(&samples::all().into_iter().take(3).map(|sample| sample.story).collect::<Vec<_>>())
}

#[test]
fn what_was_exported_is_imported_verified_and_held() {
    let made = Made::all();
    let (report, file) = exported(&made);
    assert!(report.findings.is_empty());
    let fresh = Made::nothing();
    let imported = import(fresh.path(), &file, later()).unwrap();
    assert_eq!((imported.epoch, imported.imported), (1, report.head));
    let verified = verify(
        fresh.path(),
        &VerifyOptions { head: Some(report.keep.parse().unwrap()), acks: None },
        later(),
    );
    let verified = verified.unwrap();
    assert!(verified.clean, "{:#?}", verified.findings);
    assert_eq!((verified.epoch, verified.held), (1, true));
    let (old, new) = (made.open(), fresh.open());
    // What a compensating one did is known; its linked operation is restored and settles it.
    let kept = |state: State| state.is_ended() || state == State::Compensating;
    let open = samples::all().iter().filter(|s| !kept(s.story.operation.state)).count() as u64;
    assert_eq!(imported.restored, open);
    assert_eq!(imported.head.seq, report.head.seq + 1 + open);
    for n in 0..samples::all().len() {
        let before = Records(&old).operation(nth(n)).unwrap().unwrap();
        let after = Records(&new).operation(nth(n)).unwrap().unwrap();
        assert_eq!(Records(&old).body(nth(n)).unwrap(), Records(&new).body(nth(n)).unwrap());
        if kept(before.operation.state) {
            assert_eq!(before, after);
        } else {
            assert_eq!((after.operation.state, after.operation.effect), (State::Unknown, Effect::Unknown));
            assert_eq!((after.operation.epoch, after.operation.approvals().count()), (1, 0));
            assert!(after.history.starts_with(&before.history));
        }
    }
    assert!(!fresh.file("store.importing").exists());
}

#[test]
fn the_same_content_is_the_same_file_and_a_second_import_is_a_second_epoch() {
    let made = small();
    let (_, file) = exported(&made);
    let again = made.file("again");
    export(made.path(), &again, later()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());
    let first = Made::nothing();
    import(first.path(), &file, later()).unwrap();
    let (report, second_file) = exported(&first);
    assert_eq!(report.epoch, 1);
    let second = Made::nothing();
    let imported = import(second.path(), &second_file, later()).unwrap();
    assert_eq!(imported.epoch, 2);
    assert!(verify(second.path(), &VerifyOptions::default(), later()).unwrap().clean);
}

#[test]
fn any_tool_reads_an_export() {
    use std::io::Read as _;
    let made = small();
    let (report, file) = exported(&made);
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "header");
    assert_eq!(lines[0]["head"]["seq"], report.head.seq);
    assert_eq!(lines.last().unwrap()["kind"], "trailer");
    let count = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((count("operation"), count("body"), count("run"), count("contract")), (3, 3, 2, 1));
    assert_eq!(count("entry") as u64, report.head.seq);
    let proposed = lines.iter().find(|line| line["name"] == "proposed").unwrap();
    assert!(proposed["fact"].to_string().contains("shipping address"), "{proposed}");
}

#[test]
fn a_byte_changed_anywhere_is_refused_and_leaves_nothing() {
    let made = small();
    let (_, file) = exported(&made);
    let whole = fs::read(&file).unwrap();
    let fresh = Made::nothing();
    let changed = fresh.file("changed");
    let mut places: Vec<usize> = (0..whole.len()).step_by(97).collect();
    // Headers, the seam between the two members, and the trailer byte for byte.
    places.extend(0..20);
    places.extend(whole.len() - 420..whole.len());
    for place in places {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(&changed, &bytes).unwrap();
        let refused = import(fresh.path(), &changed, later());
        assert!(matches!(refused, Err(MaintenanceError::NotAnExport { .. })), "byte {place}: {refused:?}");
        assert!(!fresh.file("store").exists() && !fresh.file("store.importing").exists(), "byte {place}");
    }
    for length in [0, 1, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&changed, &whole[..length]).unwrap();
        assert!(import(fresh.path(), &changed, later()).is_err(), "cut at {length}");
    }
    fs::write(&changed, [whole.as_slice(), &[0]].concat()).unwrap();
    assert!(import(fresh.path(), &changed, later()).is_err(), "something behind it");
    import(fresh.path(), &file, later()).unwrap();
}

#[test]
fn nothing_is_overwritten() {
    let made = small();
    let (_, file) = exported(&made);
    let refused = export(made.path(), &file, later());
    assert!(matches!(refused, Err(MaintenanceError::Refused(_))), "{refused:?}");
    let refused = import(made.path(), &file, later());
    assert!(matches!(refused, Err(MaintenanceError::Refused(_))), "{refused:?}");
    assert!(verify(made.path(), &VerifyOptions::default(), later()).unwrap().clean);
}

#[test]
fn bodies_that_are_no_text_and_contents_of_no_json_survive() {
    let made = Made::of(&[Story::with(samples::rules())]);
    let bytes = vec![0, 159, 146, 150];
    made.tamper(|store| {
        let mut body = Records(store).body(nth(0)).unwrap().unwrap();
        body.request.body = Some(bytes.clone());
        let payload = crate::store::codec::encode(&body).unwrap();
        Batch::new().put(keys::body(nth(0)), Record { version: 1, payload })
    });
    // The request is another one now: an export holds the store as it is, and an import finds no more than it.
    let (report, file) = exported(&made);
    assert_eq!(report.findings.listed[0].code, FindingCode::RequestChanged);
    let fresh = Made::nothing();
    import(fresh.path(), &file, later()).unwrap();
    assert_eq!(Records(&fresh.open()).body(nth(0)).unwrap().unwrap().request.body, Some(bytes));
}

#[test]
fn what_cannot_be_read_is_not_exported_and_no_file_is_left() {
    let made = small();
    made.tamper(|_| Batch::new().put(keys::body(nth(0)), Record { version: 1, payload: vec![9] }));
    let file = made.file("backup");
    let refused = export(made.path(), &file, later());
    assert!(matches!(refused, Err(MaintenanceError::Record(_))), "{refused:?}");
    let left: Vec<_> = fs::read_dir(made.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("backup")), "{left:?}");
}

const STEPS: [&str; 6] = ["build", "load", "verify", "epoch", "rename", "sync"];

#[test]
fn a_kill_at_any_step_of_an_import_leaves_no_store_or_a_whole_one() {
    let made = Made::all();
    let (_, file) = exported(&made);
    for step in STEPS {
        let fresh = Made::nothing();
        fs::copy(&file, fresh.file("backup")).unwrap();
        fs::write(fresh.file("step"), step).unwrap();
        let test = "store::maintenance::tests::backup::child_imports_until_it_is_ended";
        let mut child = Child::start(test, fresh.path());
        assert_eq!(child.line().as_deref(), Some(step), "the child came to the step");
        assert_eq!(child.line(), None, "and ended there");
        child.kill();
        let store = fresh.file("store");
        assert_eq!(store.exists(), step == "sync", "{step}");
        if !store.exists() {
            import(fresh.path(), &file, later()).unwrap();
        }
        let verified = verify(fresh.path(), &VerifyOptions::default(), later()).unwrap();
        assert!(verified.clean && verified.held, "{step}: {:#?}", verified.findings);
        assert_eq!(verified.epoch, 1, "{step}");
    }
}

#[test]
#[ignore = "the child process of a_kill_at_any_step_of_an_import_leaves_no_store_or_a_whole_one"]
fn child_imports_until_it_is_ended() {
    let Some(dir) = Child::dir() else { return };
    let last = fs::read_to_string(dir.join("step")).unwrap();
    let end = |step: &'static str| {
        if step == last {
            Child::say(step);
            // As SIGKILL: nothing is closed or flushed.
            std::process::abort();
        }
    };
    import_with(&dir, &dir.join("backup"), later(), &end).unwrap();
}

#[test]
fn an_empty_store_can_be_exported() {
    let made = Made::nothing();
    drop(made.open());
    let (report, file) = exported(&made);
    assert_eq!(report.head.seq, 0);
    let fresh = Made::nothing();
    assert_eq!(import(fresh.path(), &file, later()).unwrap().epoch, 1);
    let verified = verify(fresh.path(), &VerifyOptions::default(), later()).unwrap();
    assert!(verified.clean, "{:#?}", verified.findings);
    assert!(fresh.open().counters().commits == 0);
}

//! The planned faults do what they say.

use super::super::conformance::key;
use super::super::sled::{Options, SledStore};
use super::*;

fn store(plan: Plan) -> (tempfile::TempDir, Faulty<SledStore>) {
    let dir = tempfile::tempdir().unwrap();
    let inner =
        SledStore::open(Options { reserve_bytes: 0, ..Options::new(dir.path().join("store")) }).unwrap();
    (dir, Faulty::new(inner, plan))
}

fn batch(name: &str) -> Batch {
    Batch::new().put_if(key(name), 0, vec![1])
}

#[test]
fn faults_that_write_nothing_leave_the_store_alive() {
    let (_dir, store) = store(Plan::default().commit(1, Fault::NotWritten).commit(2, Fault::Full));
    for _ in 0..2 {
        let error = store.commit(&batch("a")).unwrap_err();
        assert_eq!((error.written(), error.is_dead()), (Written::Nothing, false));
        assert_eq!(store.get(&key("a")).unwrap(), None);
    }
    store.commit(&batch("a")).unwrap();
}

#[test]
fn faults_in_doubt_end_the_handle_and_write_what_they_say() {
    for written in [false, true] {
        for fault in [Fault::MayBeWritten { written }, Fault::FullInDoubt { written }] {
            let (_dir, store) = store(Plan::default().commit(1, fault));
            let error = store.commit(&batch("a")).unwrap_err();
            assert_eq!((error.written(), error.is_dead()), (Written::Unknown, true));
            assert!(matches!(store.get(&key("a")), Err(ReadError::Dead { .. })));
            assert!(matches!(store.commit(&batch("b")), Err(CommitError::Dead { .. })));
            store.reopen().unwrap();
            assert_eq!(store.get(&key("a")).unwrap().is_some(), written);
            assert_eq!(store.get(&key("b")).unwrap(), None);
        }
    }
}

#[test]
fn reads_and_reopens_fail_as_planned() {
    let io = ReadError::Io { what: "planned".to_owned() };
    let full = OpenError::Full { path: "x".into() };
    let (_dir, store) = store(Plan::default().read(2, io.clone()).reopen(1, full.clone()));
    assert_eq!(store.get(&key("a")), Ok(None));
    assert_eq!(store.last_key(&key("a")), Err(io));
    assert!(matches!(store.get(&key("a")), Err(ReadError::Dead { .. })));
    assert_eq!(store.reopen(), Err(full));
    assert!(matches!(store.get(&key("a")), Err(ReadError::Dead { .. })));
    store.reopen().unwrap();
    assert_eq!(store.get(&key("a")), Ok(None));
}

#[test]
fn a_planned_panic_comes_after_the_write_or_instead_of_it() {
    for written in [false, true] {
        let (_dir, store) = store(Plan::default().commit(1, Fault::Panic { written }));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.commit(&batch("a"))));
        assert!(panic.is_err());
        assert_eq!(store.get(&key("a")).unwrap().is_some(), written);
    }
}

#[test]
fn a_seed_always_draws_the_same_faults() {
    let outcomes = || {
        let (_dir, store) = store(Plan::default().seeded(7, 0.3));
        let mut outcomes = Vec::new();
        for n in 0..30 {
            outcomes.push(store.commit(&batch(&n.to_string())).map_err(|error| error.to_string()));
            store.reopen().unwrap();
        }
        outcomes
    };
    let first = outcomes();
    assert!(first.iter().any(Result::is_ok) && first.iter().any(Result::is_err));
    assert_eq!(first, outcomes());
}

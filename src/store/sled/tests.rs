//! The rules of this engine, each by a test. What every engine must do is tested by the conformance suite.

use std::path::Path;

use super::super::{Batch, Key, OpenError, Range, ReadError, Record, Store, Written};
use super::{Options, SledStore, State};

mod damage;
mod full;
mod kill;
mod speed;

fn options(dir: &Path) -> Options {
    Options { reserve_bytes: 1 << 20, ..Options::new(dir.join("store")) }
}

fn key(text: &str) -> Key {
    Key::from_bytes(text.as_bytes()).unwrap()
}

#[test]
fn what_was_committed_is_there_after_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("o1"), 0, vec![7; 20_000]).put_if(key("o2"), 0, vec![8])).unwrap();
    store.reopen().unwrap();
    assert_eq!(store.get(&key("o1")).unwrap(), Some(Record { version: 1, payload: vec![7; 20_000] }));
    let rows = store.scan(&Range::prefix(&key("o")).reversed(), 10).unwrap();
    assert_eq!(rows.iter().map(|row| row.0.to_string()).collect::<Vec<_>>(), ["o2", "o1"]);
    assert_eq!(store.last_key(&key("o")).unwrap(), Some(key("o2")));
    assert_eq!(store.counters().syncs, 1);
}

#[test]
fn conforms() {
    super::super::conformance::run(&|dir| Box::new(SledStore::open(options(dir)).unwrap()));
}

#[test]
fn conforms_inside_a_faulty_store_without_faults() {
    use super::super::faulty::{Faulty, Plan};
    super::super::conformance::run(&|dir| {
        Box::new(Faulty::new(SledStore::open(options(dir)).unwrap(), Plan::default()))
    });
}

/// A record to overwrite something with.
fn record(version: u64) -> Record {
    Record { version, payload: vec![9; 30] }
}

#[test]
fn a_half_written_snapshot_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("o1"), 0, vec![7])).unwrap();
    drop(store);
    let left = dir.path().join("store/snap.FFFFFFFFFFFFFFFF.generating");
    std::fs::write(&left, b"half").unwrap();
    let plain = ::sled::Config::new().path(dir.path().join("store")).open();
    assert!(matches!(plain, Err(::sled::Error::Corruption { .. })), "the rule is still needed");
    let store = SledStore::open(options(dir.path())).unwrap();
    assert!(!left.exists());
    assert!(store.get(&key("o1")).unwrap().is_some());
}

#[test]
fn long_records_leave_blobs_empty_and_a_filled_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    for n in 0..40u64 {
        let batch = Batch::new()
            .put_if(Key::new(b'l', &[&[b'x'; 55], &n.to_be_bytes()]).unwrap(), 0, vec![1; 200_000])
            .put_if(Key::new(b's', &[&n.to_be_bytes()]).unwrap(), 0, vec![1; 3_560]);
        store.commit(&batch).unwrap();
    }
    drop(store);
    let blobs = dir.path().join("store/blobs");
    assert_eq!(std::fs::read_dir(&blobs).unwrap().count(), 0);
    drop(SledStore::open(options(dir.path())).unwrap());
    assert_eq!(std::fs::read_dir(&blobs).unwrap().count(), 0);
    std::fs::write(blobs.join("1234"), b"x").unwrap();
    assert!(matches!(SledStore::open(options(dir.path())), Err(OpenError::Damaged { .. })));
}

#[test]
fn a_removed_or_shorter_record_leaves_no_parts() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    let values = |store: &SledStore| {
        let state = store.state();
        let State::Open(handle) = &*state else { panic!() };
        handle.db.len()
    };
    store.commit(&Batch::new().put_if(key("a"), 0, vec![1; 20_000])).unwrap();
    assert_eq!(values(&store), 6);
    store.commit(&Batch::new().put_if(key("a"), 1, vec![1; 8_000])).unwrap();
    assert_eq!(values(&store), 3);
    store.commit(&Batch::new().delete_if(key("a"), 2)).unwrap();
    assert_eq!(values(&store), 0);
}

#[test]
fn the_remains_of_a_store_are_never_taken_for_an_empty_one() {
    for gone in ["missing", "empty"] {
        let dir = tempfile::tempdir().unwrap();
        drop(SledStore::open(options(dir.path())).unwrap());
        let log = dir.path().join("store/db");
        if gone == "empty" {
            std::fs::write(&log, b"").unwrap();
        } else {
            std::fs::remove_file(&log).unwrap();
        }
        let refused = SledStore::open(options(dir.path())).unwrap_err();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{gone}: {refused:?}");
        assert!(refused.to_string().contains("writd recover"), "{refused}");
        assert_eq!(log.exists(), gone == "empty", "nothing was made in its place");
    }
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let aside = dir.path().join("store.new");
    std::fs::create_dir(&aside).unwrap();
    std::fs::write(aside.join("conf"), b"segment_size: 52").unwrap();
    std::fs::create_dir(dir.path().join("store")).unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("a"), 0, vec![])).unwrap();
    assert!(!aside.exists());
}

#[test]
fn a_store_that_another_has_open_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let _store = SledStore::open(options(dir.path())).unwrap();
    assert!(matches!(SledStore::open(options(dir.path())), Err(OpenError::InUse { .. })));
}

#[test]
fn a_dead_store_answers_dead_until_it_is_reopened() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("a"), 0, vec![1])).unwrap();
    store.kill("a test");
    assert!(matches!(store.get(&key("a")), Err(ReadError::Dead { .. })));
    assert!(matches!(store.scan(&Range::prefix(&key("a")), 1), Err(ReadError::Dead { .. })));
    assert!(matches!(store.last_key(&key("a")), Err(ReadError::Dead { .. })));
    let refused = store.commit(&Batch::new()).unwrap_err();
    assert_eq!((refused.is_dead(), refused.written()), (true, Written::Nothing));
    store.reopen().unwrap();
    assert!(store.get(&key("a")).unwrap().is_some());
}

#[test]
fn a_panic_of_the_engine_is_an_error_and_ends_the_handle() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    let broken = store.read::<()>(|_| panic!("a page is not what it says"));
    let Err(ReadError::Io { what }) = broken else { panic!("{broken:?}") };
    assert!(what.contains("a page is not what it says"), "{what}");
    assert!(matches!(store.get(&key("a")), Err(ReadError::Dead { .. })));
    store.reopen().unwrap();
    assert_eq!(store.get(&key("a")).unwrap(), None);
}

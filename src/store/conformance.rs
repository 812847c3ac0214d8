//! What every engine must do. An engine's tests call [`run`] with a way to open it on a directory.

use std::path::Path;

use super::{Batch, CommitError, Key, MAX_PAYLOAD_BYTES, Range, ReadError, Record, Store, Written};

mod model;

/// Opens the engine on a directory, making its store there if there is none. Called again after the last one was
/// dropped, it must find what was committed.
pub(crate) type Open<'a> = &'a dyn Fn(&Path) -> Box<dyn Store>;

/// The whole suite.
pub(crate) fn run(open: Open<'_>) {
    for check in [
        records_of_every_size,
        conflicts_write_nothing,
        scans,
        shorter_and_removed_records,
        oversized_records_are_refused,
        empty_batches,
        reopening,
    ] {
        let dir = tempfile::tempdir().unwrap();
        check(open, dir.path());
    }
    for seed in 1..=4 {
        let dir = tempfile::tempdir().unwrap();
        model::compare(open, dir.path(), seed);
    }
}

pub(crate) fn key(text: &str) -> Key {
    Key::from_bytes(text.as_bytes()).unwrap()
}

/// Content that depends on all arguments, so that a mix-up shows.
pub(crate) fn payload(seed: u64, bytes: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| rng.u8(..)).take(bytes).collect()
}

fn names(store: &dyn Store, range: &Range, limit: usize) -> Vec<String> {
    let rows = store.scan(range, limit).unwrap();
    rows.into_iter().map(|(key, record)| record.map(|_| key.to_string()).unwrap()).collect()
}

fn records_of_every_size(open: Open<'_>, dir: &Path) {
    let sizes = [0, 1, 100, 3_570, 3_580, 3_584, 3_600, 4_096, 7_168, 20_000, 300_000, 2_000_000];
    let store = open(dir);
    for (n, size) in (0u64..).zip(sizes) {
        store.commit(&Batch::new().put_if(key(&format!("s{n:02}")), 0, payload(n, size))).unwrap();
    }
    let check = |store: &dyn Store| {
        for (n, size) in (0u64..).zip(sizes) {
            let found = store.get(&key(&format!("s{n:02}"))).unwrap();
            assert_eq!(found, Some(Record { version: 1, payload: payload(n, size) }), "{size} bytes");
        }
        let rows = store.scan(&Range::prefix(&key("s")), usize::MAX).unwrap();
        assert_eq!(rows.len(), sizes.len());
        for ((_, record), (n, size)) in rows.into_iter().zip((0u64..).zip(sizes)) {
            assert_eq!(record.unwrap().payload, payload(n, size));
        }
    };
    check(&*store);
    drop(store);
    check(&*open(dir));
}

fn conflicts_write_nothing(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    store.commit(&Batch::new().put_if(key("a"), 0, vec![1]).put_if(key("b"), 0, vec![1])).unwrap();
    for (expected, actual, batch) in [
        (0, 1, Batch::new().put_if(key("c"), 0, vec![2]).put_if(key("a"), 0, vec![2])),
        (2, 1, Batch::new().put_if(key("c"), 0, vec![2]).delete_if(key("b"), 2)),
        (1, 0, Batch::new().put_if(key("c"), 1, vec![2]).put_if(key("a"), 1, vec![2])),
        (7, 1, Batch::new().expect(key("a"), 7).put(key("c"), Record { version: 1, payload: vec![] })),
    ] {
        let refused = store.commit(&batch).unwrap_err();
        assert_eq!(refused.written(), Written::Nothing);
        assert!(!refused.is_dead());
        let CommitError::VersionConflict(mismatch) = refused else { panic!("{refused:?}") };
        assert_eq!((mismatch.expected, mismatch.actual), (expected, actual));
        assert_eq!(store.get(&key("a")).unwrap(), Some(Record { version: 1, payload: vec![1] }));
        assert_eq!(names(&*store, &Range::prefix(&key("")), 10), ["a", "b"]);
    }
    store.commit(&Batch::new().put_if(key("a"), 1, vec![3]).delete_if(key("b"), 1)).unwrap();
    assert_eq!(store.get(&key("a")).unwrap(), Some(Record { version: 2, payload: vec![3] }));
    assert_eq!(store.get(&key("b")).unwrap(), None);
}

fn scans(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    let mut batch = Batch::new();
    for name in ["a", "a\u{1}", "a1", "a2", "a9", "b", "b1", "\u{7f}"] {
        batch = batch.put_if(key(name), 0, payload(1, 9_000));
    }
    store.commit(&batch.put_if(Key::from_bytes(b"a\xff\xff").unwrap(), 0, vec![])).unwrap();
    let a = Range::prefix(&key("a"));
    let in_order = ["a", r"a\x01", "a1", "a2", "a9", r"a\xff\xff"];
    assert_eq!(names(&*store, &a, usize::MAX), in_order);
    assert_eq!(names(&*store, &a, 2), in_order[..2]);
    assert_eq!(names(&*store, &a, 0), [""; 0]);
    let mut backwards = in_order;
    backwards.reverse();
    assert_eq!(names(&*store, &a.clone().reversed(), usize::MAX), backwards);
    assert_eq!(names(&*store, &a.clone().reversed(), 2), backwards[..2]);
    assert_eq!(names(&*store, &a.clone().after(&key("a2")), 9), in_order[4..]);
    assert_eq!(names(&*store, &a.reversed().after(&key("a2")), 9), backwards[3..]);
    assert_eq!(names(&*store, &Range::between(key("a1"), key("a9")), 9), ["a1", "a2"]);
    assert_eq!(names(&*store, &Range::between(key("a9"), key("a1")), 9), [""; 0]);
    assert_eq!(names(&*store, &Range::between(key("a9"), key("a1")).reversed(), 9), [""; 0]);
    assert_eq!(names(&*store, &Range::prefix(&key("c")), 9), [""; 0]);
    assert_eq!(names(&*store, &Range::prefix(&key("")), usize::MAX).len(), 9);
    assert_eq!(store.last_key(&key("a")).unwrap(), Some(Key::from_bytes(b"a\xff\xff").unwrap()));
    assert_eq!(store.last_key(&key("b1")).unwrap(), Some(key("b1")));
    assert_eq!(store.last_key(&key("c")).unwrap(), None);
    assert_eq!(store.last_key(&key("")).unwrap(), Some(key("\u{7f}")));
}

fn shorter_and_removed_records(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    let mut version = 0;
    for size in [50_000, 10_000, 4_000, 10, 60_000, 0, 5_000] {
        store.commit(&Batch::new().put_if(key("k"), version, payload(7, size))).unwrap();
        version += 1;
        assert_eq!(store.get(&key("k")).unwrap(), Some(Record { version, payload: payload(7, size) }));
    }
    store.commit(&Batch::new().delete_if(key("k"), version).delete(key("never there"))).unwrap();
    assert_eq!(store.get(&key("k")).unwrap(), None);
    store.commit(&Batch::new().put_if(key("k"), 0, payload(8, 5_000))).unwrap();
    drop(store);
    let store = open(dir);
    assert_eq!(store.get(&key("k")).unwrap(), Some(Record { version: 1, payload: payload(8, 5_000) }));
}

fn oversized_records_are_refused(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    let batch = Batch::new().put_if(key("a"), 0, vec![1]).put_if(key("b"), 0, vec![0; MAX_PAYLOAD_BYTES + 1]);
    assert!(matches!(store.commit(&batch), Err(CommitError::NotWritten { .. })));
    assert_eq!(store.get(&key("a")).unwrap(), None);
    let nameless = Batch::new().put_if(key(""), 0, vec![1]);
    assert!(matches!(store.commit(&nameless), Err(CommitError::NotWritten { .. })));
}

fn empty_batches(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    store.commit(&Batch::new()).unwrap();
    store.commit(&Batch::new().expect(key("a"), 0)).unwrap();
    assert!(matches!(store.commit(&Batch::new().expect(key("a"), 1)), Err(CommitError::VersionConflict(_))));
    assert_eq!(store.counters().commits, 0);
}

fn reopening(open: Open<'_>, dir: &Path) {
    let store = open(dir);
    for version in 0..5 {
        store.commit(&Batch::new().put_if(key("a"), version, payload(version, 9_000))).unwrap();
        store.reopen().unwrap();
    }
    assert_eq!(store.get(&key("a")).unwrap(), Some(Record { version: 5, payload: payload(4, 9_000) }));
    assert!(!matches!(store.get(&key("b")), Err(ReadError::Dead { .. })));
    assert!(store.space().unwrap().store_bytes > 0);
}

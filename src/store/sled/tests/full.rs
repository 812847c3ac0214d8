//! A full disk, on a small file system of its own.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::super::super::conformance::{key, payload};
use super::super::super::testing::Mount;
use super::super::super::{Batch, CommitError, Key, ReadError, Record, Store, Written};
use super::super::{Options, SledStore, reserve};

const MIB: u64 = 1024 * 1024;
/// Keys that each batch writes; all of them or none.
const GROUP: u64 = 5;

fn member(n: u64) -> Key {
    Key::new(b'm', &[&n.to_be_bytes()]).unwrap()
}

/// The group, and a record that takes space for good: space of overwritten records comes back.
fn batch(version: u64) -> Batch {
    let more = Key::new(b'n', &[&version.to_be_bytes()]).unwrap();
    (0..GROUP)
        .fold(Batch::new().put(more, Record { version: 1, payload: payload(version, 30_000) }), |batch, n| {
            batch.put_if(member(n), version, payload(version * GROUP + n, 6_000))
        })
}

/// The version that all members have.
fn version(store: &dyn Store) -> u64 {
    let versions: Vec<u64> =
        (0..GROUP).map(|n| store.get(&member(n)).unwrap().map_or(0, |record| record.version)).collect();
    assert!(versions.windows(2).all(|pair| pair[0] == pair[1]), "a batch was torn: {versions:?}");
    versions[0]
}

fn fill_up(dir: &Path, leave: u64) {
    let free = reserve::free_bytes(dir).unwrap();
    fs::write(dir.join("filler"), vec![1; usize::try_from(free - leave).unwrap()]).unwrap();
}

fn commit_until_refused(store: &dyn Store, from: u64) -> (u64, CommitError) {
    for version in from..from + 5_000 {
        if let Err(error) = store.commit(&batch(version)) {
            return (version, error);
        }
    }
    panic!("the disk never became full");
}

#[test]
fn a_commit_that_would_fill_the_disk_is_refused_and_the_store_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(40, dir.path()) else { return };
    let options = Options {
        reserve_bytes: 4 * MIB,
        low_space_bytes: 12 * MIB,
        headroom_bytes: 3 * MIB,
        ..Options::new(mount.path().join("store"))
    };
    let store = SledStore::open(options).unwrap();
    assert!(!store.low_space());
    assert!(store.space().unwrap().store_bytes >= 4 * MIB, "the reserve occupies blocks");
    fill_up(mount.path(), 5 * MIB);
    assert!(store.low_space(), "proposals are refused long before outcomes are");

    let (first, refusal) = commit_until_refused(&store, 0);
    assert!(matches!(refusal, CommitError::Full { written: Written::Nothing, .. }), "{refusal:?}");
    assert!(first > 0 && !refusal.is_dead());
    assert_eq!(version(&store), first);

    assert!(store.release_reserve().unwrap());
    assert!(store.low_space());
    store.commit(&batch(first)).expect("outcomes are storable out of the reserve");
    let (second, refusal) = commit_until_refused(&store, first + 1);
    assert!(matches!(refusal, CommitError::Full { written: Written::Nothing, .. }), "{refusal:?}");
    assert!(!store.restore_reserve().unwrap(), "there is no space for it yet");

    fs::remove_file(mount.path().join("filler")).unwrap();
    assert!(store.low_space(), "until the reserve is made again");
    assert!(store.restore_reserve().unwrap());
    assert!(!store.low_space());
    store.commit(&batch(second)).unwrap();
    store.reopen().unwrap();
    assert_eq!(version(&store), second + 1);
}

#[test]
fn a_disk_that_is_full_nevertheless_ends_the_handle_and_tears_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::tmpfs(40, dir.path()) else { return };
    let root = mount.path().to_owned();
    for round in 0..6 {
        let options = Options { reserve_bytes: 0, headroom_bytes: 0, ..Options::new(root.join("store")) };
        let store = SledStore::open(options).unwrap();
        let before = version(&store);
        // Without the check before the commit, as when another process takes the space a moment later.
        fill_up(&root, 256 * 1024 + round * 100_000);
        let (store, failed_at, error) = within_a_minute(move || {
            let (failed_at, error) = commit_until_refused(&store, before);
            (store, failed_at, error)
        });
        assert!(matches!(error, CommitError::Full { written: Written::Unknown, .. }), "{error:?}");
        assert!(matches!(store.get(&member(0)), Err(ReadError::Dead { .. })));
        assert!(matches!(store.commit(&batch(failed_at)), Err(CommitError::Dead { .. })));
        fs::remove_file(root.join("filler")).unwrap();
        store.reopen().unwrap();
        let found = version(&store);
        assert!(found == failed_at || found == failed_at + 1, "{failed_at} {found}");
        store.commit(&batch(found).put(key("x"), super::record(1))).unwrap();
    }
}

/// sled has forgotten waiters before; a test that hangs says nothing.
fn within_a_minute<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(call()));
    wait.recv_timeout(Duration::from_secs(60)).expect("the commit came back")
}

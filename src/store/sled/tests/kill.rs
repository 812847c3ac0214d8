//! SIGKILL in the middle of commits: everything that was acknowledged is there, and every batch is whole.

use super::super::super::conformance::{key, payload};
use super::super::super::testing::Child;
use super::super::super::{Batch, Key, Range, Store};
use super::super::SledStore;
use super::options;

const CYCLES: u64 = 12;

fn record_key(n: u64) -> Key {
    Key::new(b'n', &[&n.to_be_bytes()]).unwrap()
}

/// Every tenth is long, so that kills meet records of several parts.
fn content(n: u64) -> Vec<u8> {
    payload(n, if n.is_multiple_of(10) { 20_000 } else { 90 })
}

fn count(store: &SledStore) -> u64 {
    store.get(&key("count")).unwrap().map_or(0, |record| record.version)
}

#[test]
fn every_acknowledged_commit_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(20);
    let mut total = 0;
    for cycle in 0..CYCLES {
        let mut child = Child::start("store::sled::tests::kill::child_commits_until_killed", dir.path());
        let mut acknowledged = 0;
        let wanted = rng.u64(1..60);
        for _ in 0..wanted {
            acknowledged = child.line().expect("the child goes on").parse().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_micros(rng.u64(..3_000)));
        child.kill();
        while let Some(line) = child.line() {
            acknowledged = line.parse().unwrap();
        }
        let store = SledStore::open(options(dir.path())).unwrap();
        let found = count(&store);
        assert!(found >= acknowledged, "cycle {cycle}: {acknowledged} acknowledged, {found} found");
        let rows = store.scan(&Range::prefix(&Key::space(b'n')), usize::MAX).unwrap();
        assert_eq!(rows.len() as u64, found, "cycle {cycle}: a batch was torn");
        for ((at, record), n) in rows.into_iter().zip(0..) {
            assert_eq!((at, record.unwrap().payload), (record_key(n), content(n)), "cycle {cycle}");
        }
        total = found;
    }
    assert!(total >= CYCLES);
}

#[test]
#[ignore = "the child process of every_acknowledged_commit_survives_a_kill"]
fn child_commits_until_killed() {
    let Some(dir) = Child::dir() else { return };
    let store = SledStore::open(options(&dir)).unwrap();
    for n in count(&store).. {
        let batch = Batch::new().put_if(record_key(n), 0, content(n)).put_if(key("count"), n, vec![]);
        store.commit(&batch).unwrap();
        Child::say(&(n + 1).to_string());
    }
}

//! Damaged media: each read answers what was written, or an error, never something else; no panic gets out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::super::conformance::{key, payload};
use super::super::super::{Batch, CommitError, Damage, Key, OpenError, Range, ReadError, Record, Store};
use super::super::{SledStore, layout};
use super::{options, record};

const RECORDS: u64 = 150;
const VERSIONS: u64 = 3;
const COPIES: u64 = 30;

fn at(n: u64) -> Key {
    Key::new(b'd', &[&n.to_be_bytes()]).unwrap()
}

fn content(n: u64, version: u64) -> Vec<u8> {
    payload(n * 1000 + version, if n.is_multiple_of(9) { 9_000 } else { 120 })
}

fn make(dir: &Path) {
    let store = SledStore::open(options(dir)).unwrap();
    for version in 0..VERSIONS {
        for from in (0..RECORDS).step_by(10) {
            let batch = (from..from + 10)
                .fold(Batch::new(), |batch, n| batch.put_if(at(n), version, content(n, version + 1)));
            store.commit(&batch).unwrap();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.metadata().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else if entry.file_name() != "reserve" {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Right, or nothing. An older version is right as far as one record can tell: sled takes a damaged end of its log for
/// a torn one and drops it; the journal's numbers and chain notice that.
fn check(key: &Key, found: Record) {
    let n = (0..RECORDS).find(|n| at(*n) == *key).expect("a key that was written");
    assert!((1..=VERSIONS).contains(&found.version), "{key}: {}", found.version);
    assert!(found.payload == content(n, found.version), "{key}: wrong content");
}

#[test]
fn flipped_bytes_never_give_wrong_data() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..COPIES {
        let mut rng = fastrand::Rng::with_seed(seed);
        let state = dir.path().join(format!("copy{seed}"));
        fs::create_dir(&state).unwrap();
        copy(&dir.path().join("store"), &state.join("store"));
        let victim = state.join("store").join(if seed % 10 == 9 { "conf" } else { "db" });
        let mut bytes = fs::read(&victim).unwrap();
        for _ in 0..rng.usize(1..20) {
            let place = rng.usize(..bytes.len());
            bytes[place] ^= rng.u8(1..);
        }
        fs::write(&victim, bytes).unwrap();
        *outcomes.entry(use_it(&state, seed)).or_default() += 1;
        fs::remove_dir_all(&state).unwrap();
    }
    assert!(outcomes.keys().any(|outcome| *outcome != "unharmed"), "{outcomes:?}");
}

fn use_it(state: &Path, seed: u64) -> &'static str {
    let store = match SledStore::open(options(state)) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. } | OpenError::Unsupported { .. } | OpenError::Io { .. }) => {
            return "refused";
        }
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let mut outcome = "unharmed";
    for n in 0..RECORDS {
        match store.get(&at(n)) {
            Ok(Some(found)) => check(&at(n), found),
            Ok(None) => outcome = "something is gone",
            Err(ReadError::Dead { .. }) => store.reopen().unwrap_or(()),
            Err(_) => outcome = "an error",
        }
    }
    if let Ok(rows) = store.scan(&Range::prefix(&key("d")), usize::MAX) {
        for (at, row) in rows {
            if let Ok(found) = row {
                check(&at, found);
            }
        }
    }
    let _ = store.commit(&Batch::new().put(key("e"), record(1)));
    outcome
}

/// A store with two records, one of several parts, changed behind the engine's back.
fn tampered(change: impl FnOnce(&::sled::Db)) -> (tempfile::TempDir, SledStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("a"), 0, payload(1, 9_000)).put_if(key("b"), 0, vec![2])).unwrap();
    {
        let state = store.state();
        let super::super::State::Open(handle) = &*state else { panic!() };
        change(&handle.db);
    }
    (dir, store)
}

fn damage_of(store: &SledStore, name: &str) -> Damage {
    let rows = store.scan(&Range::prefix(&key("")), 9).unwrap();
    let row = rows.into_iter().find(|row| row.0 == key(name)).unwrap();
    row.1.unwrap_err()
}

#[test]
fn a_changed_part_is_damage_and_hides_no_other_record() {
    let (_dir, store) = tampered(|db| {
        let mut part = db.get(layout::part_key(&key("a"), 2)).unwrap().unwrap().to_vec();
        part[100] ^= 1;
        db.insert(layout::part_key(&key("a"), 2), part).unwrap();
    });
    assert_eq!(damage_of(&store, "a"), Damage::Checksum);
    assert_eq!(store.get(&key("a")), Err(ReadError::Damaged { key: key("a"), what: Damage::Checksum }));
    assert_eq!(store.get(&key("b")).unwrap().unwrap().payload, [2]);
    let appended = store.commit(&Batch::new().put_if(key("a"), 1, vec![]));
    assert!(matches!(appended, Err(CommitError::NotWritten { .. })), "{appended:?}");
    store.commit(&Batch::new().put(key("a"), record(2))).unwrap();
    assert_eq!(store.get(&key("a")).unwrap(), Some(record(2)), "an open-eyed overwrite mends it");
}

#[test]
fn a_missing_part_is_damage() {
    let (_dir, store) = tampered(|db| {
        db.remove(layout::part_key(&key("a"), 1)).unwrap();
    });
    assert_eq!(damage_of(&store, "a"), Damage::MissingPart(1));
}

#[test]
fn a_record_at_another_key_is_damage() {
    let (_dir, store) = tampered(|db| {
        let head = db.get(layout::head_key(&key("b"))).unwrap().unwrap();
        db.insert(layout::head_key(&key("c")), head).unwrap();
    });
    assert_eq!(damage_of(&store, "c"), Damage::Checksum);
}

#[test]
fn a_newer_format_has_an_error_of_its_own() {
    let (_dir, store) = tampered(|db| {
        let mut head = db.get(layout::head_key(&key("b"))).unwrap().unwrap().to_vec();
        head[1] = 9;
        db.insert(layout::head_key(&key("b")), head).unwrap();
    });
    let newer = ReadError::NewerFormat { key: key("b"), found: 9, known: 1 };
    assert_eq!(store.get(&key("b")), Err(newer));
}

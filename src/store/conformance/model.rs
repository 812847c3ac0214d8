//! The engine against a map in memory, step by step.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;

use super::super::{Batch, CommitError, Key, Range, Record, Store};
use super::{Open, payload};

/// Each step may sync; four seeds of these take a few seconds on a slow disk.
const STEPS: usize = 120;

type Model = BTreeMap<Key, Record>;

pub(super) fn compare(open: Open<'_>, dir: &Path, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut model = Model::new();
    let mut store = open(dir);
    for step in 0..STEPS {
        match rng.u8(..20) {
            0 => {
                drop(store);
                store = open(dir);
            }
            1 => store.reopen().unwrap(),
            2..=5 => compare_scan(&*store, &model, &mut rng, seed, step),
            _ => compare_commit(&*store, &mut model, &mut rng, seed, step),
        }
        let key = draw_key(&mut rng);
        assert_eq!(store.get(&key).unwrap(), model.get(&key).cloned(), "seed {seed}, step {step}, {key}");
    }
    let everything = store.scan(&Range::prefix(&super::key("")), usize::MAX).unwrap();
    let everything: Model = everything.into_iter().map(|(key, record)| (key, record.unwrap())).collect();
    assert!(everything == model, "seed {seed}: at the end");
}

fn draw_key(rng: &mut fastrand::Rng) -> Key {
    let length = rng.usize(1..=4);
    let mut bytes: Vec<u8> = (0..length).map(|_| rng.choice([0, b'a', b'b', 0xff]).unwrap()).collect();
    if rng.u8(..10) == 0 {
        bytes.resize(64, b'x');
    }
    Key::from_bytes(&bytes).unwrap()
}

fn draw_size(rng: &mut fastrand::Rng) -> usize {
    match rng.u8(..10) {
        0 => rng.usize(10_000..60_000),
        1..=2 => rng.usize(3_500..3_700),
        _ => rng.usize(..200),
    }
}

fn compare_commit(store: &dyn Store, model: &mut Model, rng: &mut fastrand::Rng, seed: u64, step: usize) {
    let mut batch = Batch::new();
    for _ in 0..rng.usize(1..10) {
        let key = draw_key(rng);
        let actual = model.get(&key).map_or(0, |record| record.version);
        let expected = if rng.u8(..30) == 0 { rng.u64(..4) } else { actual };
        let content = payload(rng.u64(..), draw_size(rng));
        batch = match rng.u8(..8) {
            0 => batch.delete(key),
            1 => batch.delete_if(key, expected),
            2 => batch.put(key, Record { version: rng.u64(1..9), payload: content }),
            _ => batch.put_if(key, expected, content),
        };
    }
    let version_of = |key: &Key| model.get(key).map_or(0, |record| record.version);
    let fits = batch.expects().all(|(key, expected)| version_of(key) == expected);
    match store.commit(&batch) {
        Ok(()) => {
            assert!(fits, "seed {seed}, step {step}: a conflict was not seen");
            for (key, record) in batch.writes() {
                match record {
                    Some(record) => model.insert(key.clone(), record.clone()),
                    None => model.remove(key),
                };
            }
        }
        Err(CommitError::VersionConflict(mismatch)) => {
            assert!(!fits, "seed {seed}, step {step}: {mismatch}");
            assert_eq!(mismatch.actual, version_of(&mismatch.key));
        }
        Err(error) => panic!("seed {seed}, step {step}: {error}"),
    }
}

fn compare_scan(store: &dyn Store, model: &Model, rng: &mut fastrand::Rng, seed: u64, step: usize) {
    let mut range = if rng.bool() {
        Range::prefix(&draw_key(rng))
    } else {
        let (one, other) = (draw_key(rng), draw_key(rng));
        Range::between(one.clone().min(other.clone()), one.max(other))
    };
    if rng.bool() {
        range = range.reversed();
    }
    let limit = rng.usize(..20);
    let end = range.end.clone().map_or(Bound::Unbounded, Bound::Excluded);
    let mut wanted: Vec<(Key, Record)> = if range.is_empty() {
        Vec::new()
    } else {
        let found = model.range((Bound::Included(range.start.clone()), end));
        found.map(|(key, record)| (key.clone(), record.clone())).collect()
    };
    if range.reverse {
        wanted.reverse();
    }
    wanted.truncate(limit);
    let rows = store.scan(&range, limit).unwrap();
    let rows: Vec<(Key, Record)> = rows.into_iter().map(|(key, record)| (key, record.unwrap())).collect();
    assert!(rows == wanted, "seed {seed}, step {step}: {range:?}, at most {limit}");
    let prefix = draw_key(rng);
    let last = model.keys().rfind(|key| key.as_bytes().starts_with(prefix.as_bytes())).cloned();
    assert_eq!(store.last_key(&prefix).unwrap(), last, "seed {seed}, step {step}: last of {prefix}");
}

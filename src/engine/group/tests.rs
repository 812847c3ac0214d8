//! Histories cut into groups: how the writer's queue was filled must not matter.

use std::collections::BTreeMap;

use super::*;
use crate::domain::operation::samples;

/// What a store would do with the batch.
fn commit(store: &mut BTreeMap<Key, u64>, batch: &Batch) -> Result<(), String> {
    for (key, expected) in batch.expects() {
        let actual = store.get(key).copied().unwrap_or(0);
        if actual != expected {
            return Err(format!("{key}: expected {expected}, found {actual}"));
        }
    }
    for (key, record) in batch.writes() {
        match record {
            Some(record) => store.insert(key.clone(), record.version),
            None => store.remove(key),
        };
    }
    Ok(())
}

#[test]
fn a_history_is_stored_the_same_in_one_group_in_two_and_in_many() {
    for sample in samples::all() {
        let recorded = &sample.story.recorded;
        let mut ends = Vec::new();
        // The last cut is none: everything in one group. Usize::MAX cuts after every member.
        for cut in (1..=recorded.len()).chain([usize::MAX]) {
            let (mut store, mut group, mut head) = (BTreeMap::new(), Group::default(), Head::default());
            let mut stored = None;
            for (place, event) in recorded.iter().enumerate() {
                if place == cut || cut == usize::MAX {
                    commit(&mut store, std::mem::take(&mut group).batch()).unwrap();
                }
                let stamp = Stamp { at: event.at, by: &event.by, salt: &|| [0; 16] };
                let events = vec![event.event.clone()];
                stored = Some(group.append(&mut head, stored.as_ref(), events, &stamp).unwrap());
            }
            commit(&mut store, group.batch())
                .unwrap_or_else(|why| panic!("{}, cut at {cut}: {why}", sample.name));
            assert_eq!(stored.unwrap().operation, sample.story.operation, "{}", sample.name);
            ends.push(store);
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{}: {ends:?}", sample.name);
    }
}

//! What is remembered under idempotency keys, and the counts of effects. Kept small: benchmarks make millions.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::record::Actor;

/// What is remembered under an idempotency key.
pub(crate) struct KeyRecord<O> {
    pub(crate) object: String,
    pub(crate) request_sha256: String,
    pub(crate) operation_id: Option<String>,
    /// When the outcome became true.
    pub(crate) at_ms: u64,
    pub(super) outcome: Outcome<O>,
    /// More than one means that the service broke its promise (or was told to forget keys).
    effects: u64,
}

/// What a write came to.
pub(super) enum Outcome<O> {
    Applied(O),
    Refused { status: u16, error: Value },
}

/// All keys and counts.
pub(super) struct Keys<O> {
    keys: HashMap<String, KeyRecord<O>>,
    /// Effects per object.
    objects: BTreeMap<String, u64>,
    total: u64,
    other_changes: u64,
}

/// Under which key and from whom an outcome is.
pub(super) struct Origin<'a> {
    pub(super) key: &'a str,
    pub(super) object: &'a str,
    pub(super) request_sha256: &'a str,
    pub(super) actor: &'a Actor,
    pub(super) at_ms: u64,
}

impl<O> Default for Keys<O> {
    fn default() -> Self {
        Self { keys: HashMap::new(), objects: BTreeMap::new(), total: 0, other_changes: 0 }
    }
}

impl<O> Keys<O> {
    pub(super) fn get(&self, key: &str) -> Option<&KeyRecord<O>> {
        self.keys.get(key)
    }

    /// How many effects the object has had.
    pub(super) fn count_of(&self, object: &str) -> u64 {
        self.objects.get(object).copied().unwrap_or(0)
    }

    /// An effect and what it came to.
    pub(super) fn applied(&mut self, origin: &Origin<'_>, outcome: O) {
        self.total += 1;
        match self.objects.get_mut(origin.object) {
            Some(count) => *count += 1,
            None => {
                self.objects.insert(origin.object.to_owned(), 1);
            }
        }
        self.remember(origin, Outcome::Applied(outcome)).effects += 1;
    }

    /// A refusal that is the key's answer from now on.
    pub(super) fn refused(&mut self, origin: &Origin<'_>, status: u16, error: Value) {
        self.remember(origin, Outcome::Refused { status, error });
    }

    pub(super) fn changed_by_others(&mut self) {
        self.other_changes += 1;
    }

    fn remember(&mut self, origin: &Origin<'_>, outcome: Outcome<O>) -> &mut KeyRecord<O> {
        // The first outcome stands, whatever a forgetful service does afterwards.
        self.keys.entry(origin.key.to_owned()).or_insert_with(|| KeyRecord {
            object: origin.object.to_owned(),
            request_sha256: origin.request_sha256.to_owned(),
            operation_id: origin.actor.operation_id.clone(),
            at_ms: origin.at_ms,
            outcome,
            effects: 0,
        })
    }

    /// The count of effects, by object and by key.
    pub(super) fn effects(&self) -> Value {
        let per_key: BTreeMap<&str, u64> = self
            .keys
            .iter()
            .filter(|(_, record)| record.effects > 0)
            .map(|(key, record)| (key.as_str(), record.effects))
            .collect();
        let more: Vec<&str> = per_key.iter().filter(|(_, count)| **count > 1).map(|(key, _)| *key).collect();
        json!({
            "total": self.total,
            "per_object": self.objects,
            "keys_with_more_than_one": more,
            "other_changes": self.other_changes,
            "per_key": per_key,
        })
    }
}

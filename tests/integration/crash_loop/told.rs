//! What clients were told, to be held against what the daemon says after each restart: nothing of it may be lost.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

/// States that only a compensation leads out of, and nothing here compensates.
pub(super) const ENDED: [&str; 6] = ["succeeded", "failed", "denied", "expired", "cancelled", "abandoned"];

/// One operation as it was told.
#[derive(Clone, Debug, Default)]
struct Known {
    digest: String,
    /// By the number of events: state and effect. A state is what its events make it, so one number has one state.
    states: BTreeMap<u64, (String, String)>,
    /// Digests of journal entries by number.
    entries: BTreeMap<u64, String>,
}

/// Everything that any client was told; shared by all of them.
#[derive(Debug, Default)]
pub(super) struct Told {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    operations: HashMap<String, Known>,
    /// Told since the last look.
    fresh: BTreeSet<String>,
    /// By idempotency key: path, body, and the operation that was answered.
    keys: HashMap<String, (String, Value, String)>,
    findings: Vec<String>,
    refusals: BTreeMap<String, u64>,
}

impl Told {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer that shows an operation, whoever got it. Also the look after a restart comes here: what is shown may
    /// add to what is known and never contradict it.
    pub(super) fn shown(&self, operation: &Value) {
        self.inner().shown(operation);
    }

    /// A page of the history of an operation.
    pub(super) fn history(&self, id: &str, entries: &[Value]) {
        let inner = &mut *self.inner();
        let known = inner.operations.entry(id.to_owned()).or_default();
        for entry in entries {
            let (number, digest) = (entry["number"].as_u64().unwrap_or(0), text(entry, "digest"));
            let first = known.entries.entry(number).or_insert_with(|| digest.clone());
            if *first != digest {
                inner.findings.push(format!("{id}: event {number} was {first} and is {digest}"));
            }
        }
        let least = known.entries.keys().next_back().copied().unwrap_or(0);
        if (entries.len() as u64) < least {
            inner.findings.push(format!("{id}: event {least} was shown, now there are {}", entries.len()));
        }
        inner.fresh.insert(id.to_owned());
    }

    /// A key was answered with an operation: from now on it is always this one.
    pub(super) fn key(&self, key: &str, path: &str, body: &Value, id: &str) {
        let inner = &mut *self.inner();
        let asked = (path.to_owned(), body.clone(), id.to_owned());
        let first = inner.keys.entry(key.to_owned()).or_insert(asked);
        if first.2 != id {
            inner.findings.push(format!("the key {key} was {} and is {id}", first.2));
        }
    }

    /// Something that must not be.
    pub(super) fn finding(&self, finding: String) {
        self.inner().findings.push(finding);
    }

    /// A refusal that may be; counted, so that a run shows what it met.
    pub(super) fn refused(&self, what: &str, code: &str) {
        *self.inner().refusals.entry(format!("{what} {code}")).or_default() += 1;
    }

    /// Operations that were told of since the last look, or all of them.
    pub(super) fn take(&self, all: bool) -> Vec<String> {
        let inner = &mut *self.inner();
        let fresh = std::mem::take(&mut inner.fresh);
        if all { inner.operations.keys().cloned().collect() } else { fresh.into_iter().collect() }
    }

    /// Keys with path, body and operation.
    pub(super) fn keys(&self) -> Vec<(String, (String, Value, String))> {
        self.inner().keys.iter().map(|(key, asked)| (key.clone(), asked.clone())).collect()
    }

    /// What was found so far.
    pub(super) fn findings(&self) -> Vec<String> {
        self.inner().findings.clone()
    }

    /// Counts of the refusals.
    pub(super) fn refusals(&self) -> BTreeMap<String, u64> {
        self.inner().refusals.clone()
    }
}

impl Inner {
    fn shown(&mut self, operation: &Value) {
        let (id, digest) = (text(operation, "id"), text(operation, "proposal_sha256"));
        let (state, effect) = (text(operation, "state"), text(operation, "effect"));
        let Some(events) = operation["events"].as_u64() else {
            self.findings.push(format!("{id}: no count of events in {operation}"));
            return;
        };
        let known = self.operations.entry(id.clone()).or_default();
        if known.digest.is_empty() {
            known.digest.clone_from(&digest);
        }
        if known.digest != digest {
            self.findings.push(format!("{id}: the proposal was {} and is {digest}", known.digest));
        }
        let now = (state, effect);
        let first = known.states.entry(events).or_insert_with(|| now.clone());
        if *first != now {
            self.findings.push(format!("{id}: after {events} events it was {first:?} and is {now:?}"));
        }
        let ended = known.states.range(..events).find(|(_, (state, _))| ENDED.contains(&state.as_str()));
        if let Some((at, (end, _))) = ended
            && *end != now.0
        {
            self.findings.push(format!("{id}: it ended as {end} with event {at} and is {}", now.0));
        }
        self.fresh.insert(id);
    }
}

/// What the daemon shows after a restart has at least the events that were told before it.
pub(super) fn lost(told: &Told, shown: &Value) -> Option<String> {
    let (id, events) = (text(shown, "id"), shown["events"].as_u64().unwrap_or(0));
    let inner = told.inner();
    let known = inner.operations.get(&id)?;
    let least = known.states.keys().chain(known.entries.keys()).max().copied().unwrap_or(0);
    (events < least).then(|| format!("{id}: {least} events were told, {events} are left"))
}

pub(super) fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

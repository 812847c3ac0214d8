//! The service's state and the only two ways to it: `change`/`confirm` decide what a write comes to, and
//! `evolve` makes a record true, live and when the ledger is read at start. No clock, no file, no network.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{
    customer::{Address, Customer},
    record::{Actor, Effect, Entry, OtherChange, Record, Refusal},
    request::Write,
};

/// Everything the service knows.
#[derive(Default)]
pub(super) struct World {
    /// Only customers that were changed; the others are as `Customer::original` says.
    customers: HashMap<String, Customer>,
    keys: HashMap<String, KeyRecord>,
    /// Effects per object.
    objects: BTreeMap<String, u64>,
    total: u64,
    other_changes: u64,
}

/// What is remembered under an idempotency key. Kept small: benchmarks make millions.
pub(super) struct KeyRecord {
    pub(super) object: String,
    pub(super) request_sha256: String,
    pub(super) operation_id: Option<String>,
    /// When the outcome became true.
    pub(super) at_ms: u64,
    pub(super) outcome: Outcome,
    /// More than one means that the service broke its promise (or was told to forget keys).
    effects: u64,
}

/// What a write came to. The answer is rendered from it, always to the same bytes.
pub(super) enum Outcome {
    Changed { record: u64, previous_version: u64, before: Address },
    Sent { record: u64, recipient: String },
    Refused { status: u16, error: Value },
}

/// What a write comes to, before anything is recorded.
pub(super) enum Decision {
    /// Record this and it is true.
    Record(Box<Entry>),
    /// The key has its outcome already: the same answer again.
    Replay,
    /// Refused without a trace: the same key may be used again.
    Refuse { status: u16, error: Value },
}

impl Decision {
    fn refuse(status: u16, error: Value) -> Self {
        Self::Refuse { status, error }
    }
}

impl World {
    /// The customer as it is now.
    pub(super) fn customer(&self, id: &str) -> Option<Customer> {
        self.customers.get(id).cloned().or_else(|| Customer::original(id))
    }

    /// What is known under a key.
    pub(super) fn key(&self, key: &str) -> Option<&KeyRecord> {
        self.keys.get(key)
    }

    /// Decides a change of a shipping address.
    pub(super) fn change(&self, write: &Write<'_>, ignore_key: bool) -> Decision {
        if let Some(decision) = self.known(write, ignore_key) {
            return decision;
        }
        let Some(customer) = self.customer(write.customer_id) else { return no_such_customer() };
        let Some(expected) = write.if_match else {
            return Decision::refuse(400, json!({"code": "VERSION_REQUIRED", "header": "if-match"}));
        };
        let Some(expected) = version_of(expected) else {
            return Decision::refuse(400, json!({"code": "INVALID_VERSION", "header": "if-match"}));
        };
        let address = match Address::parse(write.body) {
            Ok(address) => address,
            Err(detail) => return refuse_for_good(write, "INVALID_ADDRESS", &detail),
        };
        if expected != customer.version {
            return Decision::refuse(409, json!({"code": "STALE", "current_version": customer.version}));
        }
        let before = Some(customer.shipping_address);
        Decision::Record(Box::new(effect(write, customer.version, before, Some(address))))
    }

    /// Decides a confirmation: a mail that cannot be taken back.
    pub(super) fn confirm(&self, write: &Write<'_>, ignore_key: bool) -> Decision {
        if let Some(decision) = self.known(write, ignore_key) {
            return decision;
        }
        if self.customer(write.customer_id).is_none() {
            return no_such_customer();
        }
        match serde_json::from_slice::<Value>(write.body) {
            Ok(Value::Object(_)) => {}
            Ok(_) => return refuse_for_good(write, "INVALID_MESSAGE", "the body must be an object"),
            Err(error) => return refuse_for_good(write, "INVALID_MESSAGE", &error.to_string()),
        }
        let sent = self.objects.get(&write.object).copied().unwrap_or(0);
        Decision::Record(Box::new(effect(write, sent, None, None)))
    }

    fn known(&self, write: &Write<'_>, ignore_key: bool) -> Option<Decision> {
        if ignore_key {
            return None;
        }
        let known = self.keys.get(write.key)?;
        if known.object == write.object && known.request_sha256 == write.request_sha256 {
            return Some(Decision::Replay);
        }
        Some(Decision::refuse(422, json!({"code": "KEY_REUSED"})))
    }

    /// A change by somebody else: the next version, and nothing of the address.
    pub(super) fn bump(&self, id: &str) -> Option<Entry> {
        let version = self.customer(id)?.version;
        Some(Entry::OtherChange(OtherChange {
            object: format!("customer:{id}"),
            before_version: version,
            after_version: version + 1,
        }))
    }

    /// Makes a record true.
    pub(super) fn evolve(&mut self, record: &Record) {
        match &record.entry {
            Entry::Request(_) => {}
            Entry::Effect(effect) => self.apply(record, effect),
            Entry::Refusal(refusal) => {
                let outcome = Outcome::Refused { status: refusal.status, error: refusal.error.clone() };
                let (object, sha, actor) = (&refusal.object, &refusal.request_sha256, &refusal.actor);
                self.remember(record, &refusal.key, object, sha, actor, outcome);
            }
            Entry::OtherChange(change) => {
                self.other_changes += 1;
                if let Some(customer) = self.customer_of(&change.object) {
                    customer.version = change.after_version;
                    customer.internal_notes =
                        format!("Changed by somebody else at {}.", change.after_version);
                }
            }
        }
    }

    fn apply(&mut self, record: &Record, effect: &Effect) {
        self.total += 1;
        match self.objects.get_mut(&effect.object) {
            Some(count) => *count += 1,
            None => {
                self.objects.insert(effect.object.clone(), 1);
            }
        }
        let outcome = match (&effect.before, &effect.after) {
            (Some(before), Some(after)) => {
                if let Some(customer) = self.customer_of(&effect.object) {
                    customer.version = effect.after_version;
                    customer.shipping_address = after.clone();
                }
                let (previous_version, before) = (effect.before_version, before.clone());
                Outcome::Changed { record: record.n, previous_version, before }
            }
            _ => {
                let id = effect.object.strip_prefix("mail:").unwrap_or_default();
                let recipient = self.customer(id).map(|customer| customer.email).unwrap_or_default();
                Outcome::Sent { record: record.n, recipient }
            }
        };
        let (object, sha, actor) = (&effect.object, &effect.request_sha256, &effect.actor);
        self.remember(record, &effect.key, object, sha, actor, outcome).effects += 1;
    }

    fn remember(
        &mut self,
        record: &Record,
        key: &str,
        object: &str,
        request_sha256: &str,
        actor: &Actor,
        outcome: Outcome,
    ) -> &mut KeyRecord {
        // The first outcome stands, whatever a forgetful service does afterwards.
        self.keys.entry(key.to_owned()).or_insert_with(|| KeyRecord {
            object: object.to_owned(),
            request_sha256: request_sha256.to_owned(),
            operation_id: actor.operation_id.clone(),
            at_ms: record.at_ms,
            outcome,
            effects: 0,
        })
    }

    fn customer_of(&mut self, object: &str) -> Option<&mut Customer> {
        let id = object.strip_prefix("customer:")?;
        if !self.customers.contains_key(id) {
            self.customers.insert(id.to_owned(), Customer::original(id)?);
        }
        self.customers.get_mut(id)
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

fn no_such_customer() -> Decision {
    Decision::refuse(404, json!({"code": "NO_SUCH_CUSTOMER"}))
}

fn refuse_for_good(write: &Write<'_>, code: &str, detail: &str) -> Decision {
    Decision::Record(Box::new(Entry::Refusal(Refusal {
        connection: write.connection,
        request: write.request,
        object: write.object.clone(),
        key: write.key.to_owned(),
        actor: write.actor.clone(),
        request_sha256: write.request_sha256.clone(),
        status: 400,
        error: json!({"code": code, "detail": detail}),
    })))
}

fn effect(write: &Write<'_>, version: u64, before: Option<Address>, after: Option<Address>) -> Entry {
    Entry::Effect(Effect {
        connection: write.connection,
        request: write.request,
        object: write.object.clone(),
        key: write.key.to_owned(),
        actor: write.actor.clone(),
        before_version: version,
        after_version: version + 1,
        request_sha256: write.request_sha256.clone(),
        before,
        after,
    })
}

/// An entity tag that is a version: `"17"`, and no other spelling of it.
fn version_of(tag: &str) -> Option<u64> {
    let digits = tag.strip_prefix('"')?.strip_suffix('"')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

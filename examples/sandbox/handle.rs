//! A request's way through the service, the same for all of them: who may come in, reads, status queries, and writes
//! under their key. Runs under the service's lock and never waits.

use std::io;

use hyper::header::HeaderName;
use serde_json::{Value, json};

use super::{
    Shared, World,
    answer::Answer,
    clock,
    domain::{Change, Domain, Kind, Refused},
    keys::{KeyRecord, Origin, Outcome},
    record::{Effect, Entry, Record, Refusal},
    request::{Request, Write},
};

/// As long as any sane key, and short enough to be kept for ever.
const MAX_KEY: usize = 255;
/// Set on the answer to a key that was seen before.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

impl<D: Domain> World<D> {
    /// Milliseconds since the epoch, by this service's clock.
    pub(super) fn now_ms(&self) -> u64 {
        clock::wall_ms().saturating_add(self.ahead_ms)
    }

    /// Makes a record true, live and when the ledger is read at start.
    pub(super) fn evolve(&mut self, record: &Record<D::Snapshot>) {
        let at_ms = record.at_ms;
        match &record.entry {
            Entry::Request(_) => {}
            Entry::Effect(effect) => {
                let outcome = self.domain.apply(record.n, effect);
                let Effect { key, object, request_sha256, actor, .. } = effect;
                self.keys.applied(&Origin { key, object, request_sha256, actor, at_ms }, outcome);
            }
            Entry::Refusal(refusal) => {
                let Refusal { key, object, request_sha256, actor, status, error, .. } = refusal;
                let origin = Origin { key, object, request_sha256, actor, at_ms };
                self.keys.refused(&origin, *status, error.clone());
            }
            Entry::OtherChange(change) => {
                self.keys.changed_by_others();
                self.domain.change(change);
            }
            Entry::Clock(forward) => self.ahead_ms = forward.ahead_ms,
        }
    }
}

impl<D: Domain> Shared<D> {
    /// Puts an entry into the ledger and makes it true; the number of its record.
    ///
    /// # Errors
    /// It is not in the ledger, so it did not happen.
    pub(super) fn record(&mut self, entry: Entry<D::Snapshot>) -> io::Result<u64> {
        let record = self.ledger.append(entry, self.world.now_ms())?;
        self.world.evolve(&record);
        Ok(record.n)
    }

    /// Does what the request asks for. `ignore_key` makes the service forget that it has seen the key.
    pub(super) fn handle(&mut self, request: &Request, route: &D::Route, ignore_key: bool) -> Answer {
        if let Some(refusal) = self.world.domain.turned_away(request, route) {
            return refusal;
        }
        match (D::kind(route), D::status_key(route)) {
            (Kind::Write, _) => self.write(request, route, ignore_key),
            (_, Some(key)) => {
                let known = self.world.keys.get(key);
                match known.filter(|record| self.world.domain.shows(request, record)) {
                    Some(record) => operation::<D>(key, record),
                    None => Answer::json(404, &json!({"code": "NO_SUCH_OPERATION"})),
                }
            }
            (_, None) => self.world.domain.read(request, route, self.world.now_ms()),
        }
    }

    fn write(&mut self, request: &Request, route: &D::Route, ignore_key: bool) -> Answer {
        let key = match request.key() {
            Some(key) if (1..=MAX_KEY).contains(&key.len()) => key,
            Some(_) => {
                return Answer::json(400, &json!({"code": "INVALID_KEY", "header": "idempotency-key"}));
            }
            None => return Answer::json(400, &json!({"code": "KEY_REQUIRED", "header": "idempotency-key"})),
        };
        let mut write = Write::new(request, route, D::object(route), key);
        if let Some(known) = self.world.keys.get(key).filter(|_| !ignore_key) {
            if known.object == write.object && known.request_sha256 == write.request_sha256 {
                return self.outcome(key).with(REPLAYED.clone(), "true");
            }
            if !request.blind.reuse {
                return Answer::json(422, &json!({"code": "KEY_REUSED"}));
            }
        }
        let current = D::id(route).filter(|_| request.blind.version).and_then(|id| {
            let (_, version) = self.world.domain.version_of(&id)?;
            Some(format!("\"{version}\""))
        });
        // Whoever does not compare takes any version for the current one.
        write.if_match = current.as_deref().or(write.if_match);
        let so_far = self.world.keys.count_of(&write.object);
        let entry = match self.world.domain.decide(&write, so_far, self.world.now_ms()) {
            Err(Refused::Now { status, error }) => return Answer::json(status, &error),
            Err(Refused::ForGood { code, detail }) => refusal(write, code, &detail),
            Ok(change) => effect(write, change),
        };
        match self.record(entry) {
            Ok(_) => self.outcome(key),
            Err(_) => Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"})),
        }
    }

    /// The answer to the write that has this key.
    fn outcome(&self, key: &str) -> Answer {
        match self.world.keys.get(key) {
            Some(record) => {
                let (status, body) = parts::<D>(key, record);
                Answer::json(status, &body)
            }
            None => Answer::json(500, &json!({"code": "INTERNAL"})),
        }
    }
}

fn parts<D: Domain>(key: &str, record: &KeyRecord<D::Outcome>) -> (u16, Value) {
    match &record.outcome {
        Outcome::Applied(outcome) => D::render(key, record, outcome),
        Outcome::Refused { status, error } => (*status, error.clone()),
    }
}

/// What the status endpoint says of a key.
fn operation<D: Domain>(key: &str, record: &KeyRecord<D::Outcome>) -> Answer {
    let (_, body) = parts::<D>(key, record);
    let (status, member) = match record.outcome {
        Outcome::Refused { .. } => ("failed", "error"),
        Outcome::Applied(_) => ("succeeded", "result"),
    };
    Answer::json(
        200,
        &json!({
            "status": status,
            "operation_id": record.operation_id,
            "request_sha256": record.request_sha256,
            member: body,
        }),
    )
}

fn refusal<R, S>(write: Write<'_, R>, code: &str, detail: &str) -> Entry<S> {
    Entry::Refusal(Refusal {
        connection: write.connection,
        request: write.request,
        object: write.object,
        key: write.key.to_owned(),
        actor: write.actor,
        request_sha256: write.request_sha256,
        status: 400,
        error: json!({"code": code, "detail": detail}),
    })
}

fn effect<R, S>(write: Write<'_, R>, change: Change<S>) -> Entry<S> {
    Entry::Effect(Effect {
        connection: write.connection,
        request: write.request,
        object: write.object,
        key: write.key.to_owned(),
        actor: write.actor,
        before_version: change.before_version,
        after_version: change.after_version,
        request_sha256: write.request_sha256,
        before: change.before,
        after: change.after,
    })
}

//! The routes under `/_sandbox/`: what a test arms, and what it asks about the world. Never faulted, never in
//! the ledger.

use hyper::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared, World,
    answer::Answer,
    chaos::Chaos,
    clock::rfc3339,
    domain::Domain,
    record::{Entry, Forward, OtherChange},
    request::Request,
};

/// Further ahead, times stop being times that others can read.
const MAX_AHEAD_MS: u64 = 10 * 365 * 24 * 3600 * 1000;

/// What `POST /_sandbox/clock` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForwardBody {
    forward_ms: u64,
}

impl<D: Domain> Shared<D> {
    /// Answers a request of the sandbox's own routes.
    pub(super) fn admin(&mut self, request: &Request) -> Answer {
        let path = request.path.strip_prefix("/_sandbox/").unwrap_or_default();
        match (request.method.as_str(), path) {
            ("GET", "ledger") => self.read_ledger(request),
            ("GET", "effects") => Answer::json(200, &self.world.keys.effects()),
            ("GET", "faults") => Answer::json(200, &self.switchboard.list()),
            ("POST", "faults") => match self.switchboard.arm(&request.body) {
                Ok(id) => Answer::json(201, &json!({"id": id})),
                Err(detail) => invalid("INVALID_FAULT", &detail),
            },
            ("DELETE", "faults") => {
                self.switchboard.clear();
                done()
            }
            ("GET", "chaos") => Answer::json(200, &self.chaos.as_ref().map_or(Value::Null, Chaos::show)),
            ("POST", "chaos") => match Chaos::parse(&request.body) {
                Ok(chaos) => {
                    self.chaos = Some(chaos);
                    done()
                }
                Err(detail) => invalid("INVALID_CHAOS", &detail),
            },
            ("DELETE", "chaos") => {
                self.chaos = None;
                done()
            }
            ("GET", "clock") => self.show_clock(),
            ("POST", "clock") => self.forward(&request.body),
            ("POST", "reset") => self.reset(),
            ("POST", path) => match path.strip_prefix("bump/") {
                Some(id) => self.bump(id),
                None => no_such_route(),
            },
            ("PUT", path) => match path.strip_prefix("objects/") {
                Some(id) => self.put(id, &request.body),
                None => no_such_route(),
            },
            _ => no_such_route(),
        }
    }

    /// Somebody else changes the object.
    pub(super) fn bump(&mut self, id: &str) -> Answer {
        self.change(id, None)
    }

    /// Somebody else puts something there.
    fn put(&mut self, id: &str, body: &[u8]) -> Answer {
        match self.world.domain.put(id, body) {
            Ok(Some(after)) => self.change(id, Some(after)),
            Ok(None) => no_such_route(),
            Err(detail) => invalid("INVALID_OBJECT", &detail),
        }
    }

    fn change(&mut self, id: &str, after: Option<Value>) -> Answer {
        let Some((object, version)) = self.world.domain.version_of(id) else {
            return Answer::json(404, &json!({"code": D::MISSING}));
        };
        let change = OtherChange { object, before_version: version, after_version: version + 1, after };
        match self.record(Entry::OtherChange(change)) {
            Ok(_) => Answer::json(200, &json!({D::ID_NAME: id, "version": version + 1})),
            Err(_) => Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"})),
        }
    }

    fn read_ledger(&self, request: &Request) -> Answer {
        let from = match request.query.as_deref() {
            None => Some(0),
            Some(query) => query.strip_prefix("from=").and_then(|from| from.parse().ok()),
        };
        let Some(from) = from else { return invalid("INVALID_QUERY", "only from=NUMBER is known") };
        match self.ledger.read_from(from) {
            Ok(lines) => Answer::bytes(200, lines).with(CONTENT_TYPE, "application/x-ndjson"),
            Err(_) => Answer::json(500, &json!({"code": "LEDGER_NOT_READABLE"})),
        }
    }

    fn show_clock(&self) -> Answer {
        let now = rfc3339(self.world.now_ms());
        Answer::json(200, &json!({"now": now, "ahead_ms": self.world.ahead_ms}))
    }

    /// Puts the clock forward. It stays there over a restart: what was expired must not come back to life.
    fn forward(&mut self, body: &[u8]) -> Answer {
        let forward_ms = match serde_json::from_slice::<ForwardBody>(body) {
            Ok(body) => body.forward_ms,
            Err(error) => return invalid("INVALID_CLOCK", &error.to_string()),
        };
        let Some(ahead_ms) = self.world.ahead_ms.checked_add(forward_ms).filter(|ms| *ms <= MAX_AHEAD_MS)
        else {
            return invalid("INVALID_CLOCK", "a clock can be ten years ahead and no more");
        };
        match self.record(Entry::Clock(Forward { ahead_ms })) {
            Ok(_) => self.show_clock(),
            Err(_) => Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"})),
        }
    }

    fn reset(&mut self) -> Answer {
        if self.ledger.clear().is_err() {
            return Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"}));
        }
        self.world = World::default();
        self.switchboard.clear();
        self.chaos = None;
        self.epoch += 1;
        done()
    }
}

fn done() -> Answer {
    Answer::json(200, &json!({"ok": true}))
}

fn invalid(code: &str, detail: &str) -> Answer {
    Answer::json(400, &json!({"code": code, "detail": detail}))
}

fn no_such_route() -> Answer {
    Answer::json(404, &json!({"code": "NO_SUCH_ROUTE"}))
}

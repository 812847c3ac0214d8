//! The routes under `/_sandbox/`: what a test arms, and what it asks about the world. Never faulted, never in
//! the ledger.

use hyper::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::{Shared, answer::Answer, chaos::Chaos, request::Request};

impl Shared {
    /// Answers a request of the sandbox's own routes.
    pub(super) fn admin(&mut self, request: &Request) -> Answer {
        let path = request.path.strip_prefix("/_sandbox/").unwrap_or_default();
        match (request.method.as_str(), path) {
            ("GET", "ledger") => self.read_ledger(request),
            ("GET", "effects") => Answer::json(200, &self.world.effects()),
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
            ("POST", "reset") => self.reset(),
            ("POST", path) => match path.strip_prefix("bump/") {
                Some(id) => self.bump(id),
                None => no_such_route(),
            },
            _ => no_such_route(),
        }
    }

    /// Somebody else changes the customer.
    pub(super) fn bump(&mut self, id: &str) -> Answer {
        let Some(entry) = self.world.bump(id) else {
            return Answer::json(404, &json!({"code": "NO_SUCH_CUSTOMER"}));
        };
        match self.ledger.append(entry) {
            Ok(record) => {
                self.world.evolve(&record);
                let version = self.world.customer(id).map(|customer| customer.version);
                Answer::json(200, &json!({"customer_id": id, "version": version}))
            }
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

    fn reset(&mut self) -> Answer {
        if self.ledger.clear().is_err() {
            return Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"}));
        }
        self.world = super::World::default();
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

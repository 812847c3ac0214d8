//! The routes of the business part, and what each does. Runs under the service's lock and never waits.

use hyper::header::HeaderName;
use serde_json::json;

use super::{
    Shared,
    answer::Answer,
    render,
    request::{Request, Write, sha256},
    state::Decision,
};

/// As long as any sane key, and short enough to be kept for ever.
const MAX_KEY: usize = 255;
/// Set on the answer to a key that was seen before.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// The switchboard and the ledger, for tests and operators.
    Sandbox,
    Customer(String),
    Change(String),
    Confirm(String),
    Operation(String),
    /// Known path, other method.
    OtherMethod,
    Nowhere,
}

/// The three kinds of requests that faults tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Status,
}

impl Route {
    /// Reads the route from method and path.
    pub(super) fn of(method: &str, path: &str) -> Self {
        if path.starts_with("/_sandbox/") {
            return Self::Sandbox;
        }
        let Some(segments) = path.strip_prefix('/').map(|rest| rest.split('/').collect::<Vec<_>>()) else {
            return Self::Nowhere;
        };
        let Some(decoded) = segments.get(1).and_then(|segment| percent_decoded(segment)) else {
            return Self::Nowhere;
        };
        let (allowed, route) = match (segments[0], &segments[2..]) {
            ("customers", []) => ("GET", Self::Customer(decoded)),
            ("customers", ["shipping-address"]) => ("PUT", Self::Change(decoded)),
            ("customers", ["confirmations"]) => ("POST", Self::Confirm(decoded)),
            ("operations", []) => ("GET", Self::Operation(decoded)),
            _ => return Self::Nowhere,
        };
        if method == allowed { route } else { Self::OtherMethod }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Change(_) | Self::Confirm(_) => Kind::Write,
            Self::Operation(_) => Kind::Status,
            Self::Sandbox | Self::Customer(_) | Self::OtherMethod | Self::Nowhere => Kind::Read,
        }
    }

    /// The customer it is about.
    pub(super) fn customer_id(&self) -> Option<&str> {
        match self {
            Self::Customer(id) | Self::Change(id) | Self::Confirm(id) => Some(id),
            Self::Sandbox | Self::Operation(_) | Self::OtherMethod | Self::Nowhere => None,
        }
    }
}

impl Shared {
    /// Does what the request asks for. `ignore_key` makes the service forget that it has seen the key.
    pub(super) fn handle(&mut self, request: &Request, route: &Route, ignore_key: bool) -> Answer {
        match route {
            Route::Customer(id) => match self.world.customer(id) {
                Some(customer) => render::customer(id, &customer),
                None => Answer::json(404, &json!({"code": "NO_SUCH_CUSTOMER"})),
            },
            Route::Operation(key) => match self.world.key(key) {
                Some(record) => render::operation(key, record),
                None => Answer::json(404, &json!({"code": "NO_SUCH_OPERATION"})),
            },
            Route::Change(id) => self.write(request, id, "customer", ignore_key),
            Route::Confirm(id) => self.write(request, id, "mail", ignore_key),
            Route::OtherMethod => Answer::json(405, &json!({"code": "METHOD_NOT_ALLOWED"})),
            Route::Sandbox | Route::Nowhere => Answer::json(404, &json!({"code": "NO_SUCH_ROUTE"})),
        }
    }

    fn write(&mut self, request: &Request, id: &str, object: &str, ignore_key: bool) -> Answer {
        let key = match request.key() {
            Some(key) if (1..=MAX_KEY).contains(&key.len()) => key,
            Some(_) => {
                return Answer::json(400, &json!({"code": "INVALID_KEY", "header": "idempotency-key"}));
            }
            None => return Answer::json(400, &json!({"code": "KEY_REQUIRED", "header": "idempotency-key"})),
        };
        let write = Write {
            connection: request.connection,
            request: request.record,
            customer_id: id,
            object: format!("{object}:{id}"),
            key,
            if_match: request.header("if-match"),
            actor: request.actor(),
            body: &request.body,
            request_sha256: sha256(&request.body),
        };
        let decision = match object {
            "mail" => self.world.confirm(&write, ignore_key),
            _ => self.world.change(&write, ignore_key),
        };
        match decision {
            Decision::Refuse { status, error } => Answer::json(status, &error),
            Decision::Replay => self.outcome(key).with(REPLAYED.clone(), "true"),
            Decision::Record(entry) => match self.ledger.append(*entry) {
                Ok(record) => {
                    self.world.evolve(&record);
                    self.outcome(key)
                }
                // Not in the ledger, so it did not happen.
                Err(_) => Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"})),
            },
        }
    }

    fn outcome(&self, key: &str) -> Answer {
        match self.world.key(key) {
            Some(record) => render::outcome(key, record),
            None => Answer::json(500, &json!({"code": "INTERNAL"})),
        }
    }
}

/// One path segment with its `%XX` taken back; none if that is not UTF-8 or the segment is empty.
fn percent_decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(first);
        }
    }
    if bytes.is_empty() { None } else { String::from_utf8(bytes).ok() }
}

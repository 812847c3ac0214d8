//! A request as the service sees it: read whole, its headers looked up once, ready to be recorded.

use hyper::{
    HeaderMap,
    body::Bytes,
    header::{AUTHORIZATION, COOKIE},
    http::request::Parts,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    domain::Refused,
    path,
    record::{Actor, Received},
};

/// One request. Cheap to clone: the body is shared.
#[derive(Clone)]
pub(crate) struct Request {
    pub(super) connection: u64,
    /// `n` of its record in the ledger, once it has one.
    pub(super) record: Option<u64>,
    pub(super) method: String,
    /// The path without the query, still percent-encoded.
    pub(super) path: String,
    pub(crate) query: Option<String>,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) blind: Blind,
}

/// What a broken service does not look at, as a fault says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Blind {
    pub(super) reuse: bool,
    pub(super) version: bool,
    pub(super) tenant: bool,
}

/// A write as the state decides about it.
pub(crate) struct Write<'a, R> {
    pub(super) connection: u64,
    pub(super) request: Option<u64>,
    /// What it wants, and of what.
    pub(crate) route: &'a R,
    pub(super) object: String,
    pub(super) key: &'a str,
    pub(super) if_match: Option<&'a str>,
    pub(super) actor: Actor,
    pub(crate) body: &'a [u8],
    pub(super) request_sha256: String,
    /// The service forgets to look at the tenant.
    #[allow(dead_code, reason = "what one service does not use, another does")]
    pub(crate) ignores_tenant: bool,
}

impl<'a, R> Write<'a, R> {
    pub(super) fn new(request: &'a Request, route: &'a R, object: String, key: &'a str) -> Self {
        Self {
            connection: request.connection,
            request: request.record,
            route,
            object,
            key,
            if_match: request.header("if-match"),
            actor: request.actor(),
            body: &request.body,
            request_sha256: sha256(&request.body),
            ignores_tenant: request.blind.tenant,
        }
    }

    /// The version that the caller has read, from `If-Match`; the refusal if it does not say one.
    pub(crate) fn expected_version(&self) -> Result<u64, Refused> {
        let Some(tag) = self.if_match else {
            return Err(Refused::now(400, json!({"code": "VERSION_REQUIRED", "header": "if-match"})));
        };
        let invalid = || Refused::now(400, json!({"code": "INVALID_VERSION", "header": "if-match"}));
        version_of(tag).ok_or_else(invalid)
    }
}

/// An entity tag that is a version: `"17"`, and no other spelling of it.
fn version_of(tag: &str) -> Option<u64> {
    let digits = tag.strip_prefix('"')?.strip_suffix('"')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

impl Request {
    pub(super) fn new(connection: u64, parts: Parts, body: Bytes) -> Self {
        Self {
            connection,
            record: None,
            method: parts.method.as_str().to_owned(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers,
            body,
            blind: Blind::default(),
        }
    }

    /// The same, looked at by a service that is blind.
    pub(super) fn seen_by(&self, blind: Blind) -> Self {
        Self { blind, ..self.clone() }
    }

    /// Whether the service forgets to look at the tenant.
    #[allow(dead_code, reason = "what one service does not use, another does")]
    pub(crate) fn ignores_tenant(&self) -> bool {
        self.blind.tenant
    }

    /// A header's value, if it came once and is text; a header that came twice is no header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        value.to_str().ok()
    }

    /// The members of the query; what is wrong if one of them is not among `known` or comes twice.
    #[allow(dead_code, reason = "what one service does not use, another does")]
    pub(crate) fn query_of(&self, known: &[&str]) -> Result<Vec<(String, String)>, &'static str> {
        let pairs = path::pairs(self.query.as_deref().unwrap_or_default()).ok_or("a query is name=value")?;
        for (at, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) || pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err("a name that is not known, or twice");
            }
        }
        Ok(pairs)
    }

    /// The idempotency key.
    pub(super) fn key(&self) -> Option<&str> {
        self.header("idempotency-key")
    }

    /// Who is behind it.
    pub(super) fn actor(&self) -> Actor {
        let text = |name| self.header(name).map(str::to_owned);
        Actor {
            operation_id: text("x-operation-id"),
            run_id: text("x-run-id"),
            requested_by: text("x-requested-by"),
            on_behalf_of: text("x-on-behalf-of"),
        }
    }

    /// The ledger's record of it.
    pub(super) fn received(&self, fault: Option<&str>, redelivered: bool) -> Received {
        let path = match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        };
        let text = std::str::from_utf8(&self.body).ok();
        Received {
            connection: self.connection,
            method: self.method.clone(),
            path,
            headers: self.recorded_headers(),
            body: text.map(str::to_owned),
            body_hex: text.is_none().then(|| hex(&self.body)),
            fault: fault.map(str::to_owned),
            redelivered,
        }
    }

    fn recorded_headers(&self) -> Map<String, Value> {
        let mut map = Map::new();
        for name in self.headers.keys() {
            // A ledger is read by many people: a credential can be told from another, but not used.
            let secret = name == AUTHORIZATION || name == COOKIE || name == "x-api-key";
            let text = |bytes: &[u8]| match secret {
                true => Value::String(format!("sha256:{}", sha256(bytes))),
                false => Value::String(String::from_utf8_lossy(bytes).into_owned()),
            };
            let mut values: Vec<Value> =
                self.headers.get_all(name).iter().map(|value| text(value.as_bytes())).collect();
            let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
            map.insert(name.as_str().to_owned(), value);
        }
        map
    }
}

/// SHA-256 in lower-case hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

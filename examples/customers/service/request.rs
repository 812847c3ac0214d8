//! A request as the service sees it: read whole, its headers looked up once, ready to be recorded.

use hyper::{
    HeaderMap,
    body::Bytes,
    header::{AUTHORIZATION, COOKIE},
    http::request::Parts,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::record::{Actor, Received};

/// One request. Cheap to clone: the body is shared.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) connection: u64,
    /// `n` of its record in the ledger, once it has one.
    pub(super) record: Option<u64>,
    pub(super) method: String,
    /// The path without the query, still percent-encoded.
    pub(super) path: String,
    pub(super) query: Option<String>,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A write as the state decides about it.
pub(super) struct Write<'a> {
    pub(super) connection: u64,
    pub(super) request: Option<u64>,
    pub(super) customer_id: &'a str,
    pub(super) object: String,
    pub(super) key: &'a str,
    pub(super) if_match: Option<&'a str>,
    pub(super) actor: Actor,
    pub(super) body: &'a [u8],
    pub(super) request_sha256: String,
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
        }
    }

    /// A header's value, if it came once and is text; a header that came twice is no header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        value.to_str().ok()
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
pub(super) fn sha256(bytes: &[u8]) -> String {
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

//! The lines of an export: one JSON object each, `kind` first. The header says what it is, the trailer proves that it
//! is whole.
//!
//! Records are written as JSON that reads back to the same record. Entries carry their payload in hexadecimal, because
//! its commitment is over these bytes, and beside it the fact as JSON for whoever reads the file.

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use super::hex;
use crate::domain::ids::OperationId;
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Actor, Body, Operation, RawAnswer};
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Token};
use crate::domain::{Digest, Time};
use crate::store::codec;
use crate::store::records::{IdempotencyRecord, Meta};

/// What an export calls itself. Another layout is another number; older ones stay readable.
pub(super) const FORMAT: &str = "writd export 1";

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    /// The first one.
    Header {
        format: String,
        program: String,
        at: Time,
        epoch: u64,
        head: Head,
        /// What `verify` found in the store when it was exported, by code; an import may find no more.
        findings: BTreeMap<String, u64>,
    },
    /// The daemon's own record.
    Meta { version: u64, meta: Meta },
    /// A contract.
    Contract { fingerprint: Digest, body: Bytes },
    /// A run.
    Run { version: u64, run: Run },
    /// The bodies of a proposal. The request's body stands beside them where it is no text.
    Body { operation: OperationId, body: Box<Body>, request_body: Option<Bytes> },
    /// An answer that claimed success and was not fit to be a receipt.
    Raw { operation: OperationId, answer: RawAnswer, bytes: Bytes },
    /// An operation.
    Operation { operation: Box<Operation>, history: Vec<u64> },
    /// A remembered Idempotency-Key.
    Idempotency { scope: Digest, record: IdempotencyRecord },
    /// A token of a principal: what it is worth, never its secret.
    Token { version: u64, sha256: Digest, token: Box<Token> },
    /// The token of a run.
    RunToken { version: u64, token: RunToken },
    /// An entry of the journal.
    Entry(Box<EntryLine>),
}

/// The last line, in a part of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Trailer {
    pub(super) kind: &'static str,
    /// Lines by kind.
    pub(super) lines: BTreeMap<&'static str, u64>,
    /// SHA-256 of all lines before.
    pub(super) sha256: Digest,
    /// SHA-256 of the compressed bytes before.
    pub(super) compressed_sha256: Digest,
}

/// The kind of a line, as counted in the trailer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LineKind {
    Header,
    Meta,
    Contract,
    Run,
    Body,
    Raw,
    Operation,
    Idempotency,
    Token,
    RunToken,
    Entry,
}

impl LineKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            LineKind::Header => "header",
            LineKind::Meta => "meta",
            LineKind::Contract => "contract",
            LineKind::Run => "run",
            LineKind::Body => "body",
            LineKind::Raw => "raw",
            LineKind::Operation => "operation",
            LineKind::Idempotency => "idempotency",
            LineKind::Token => "token",
            LineKind::RunToken => "run_token",
            LineKind::Entry => "entry",
        }
    }
}

impl Line {
    /// Its kind, as counted in the trailer.
    pub(super) fn kind(&self) -> &'static str {
        let kind = match self {
            Line::Header { .. } => LineKind::Header,
            Line::Meta { .. } => LineKind::Meta,
            Line::Contract { .. } => LineKind::Contract,
            Line::Run { .. } => LineKind::Run,
            Line::Body { .. } => LineKind::Body,
            Line::Raw { .. } => LineKind::Raw,
            Line::Operation { .. } => LineKind::Operation,
            Line::Idempotency { .. } => LineKind::Idempotency,
            Line::Token { .. } => LineKind::Token,
            Line::RunToken { .. } => LineKind::RunToken,
            Line::Entry(_) => LineKind::Entry,
        };
        kind.as_str()
    }

    /// The bytes stand beside the rest, as text where they are text.
    pub(super) fn raw(operation: OperationId, mut answer: RawAnswer) -> Line {
        let bytes = Bytes::of(std::mem::take(&mut answer.bytes));
        Line::Raw { operation, answer, bytes }
    }

    pub(super) fn body(operation: OperationId, body: Body) -> Line {
        let request_body = body.request.body.clone().map(Bytes::of).filter(Bytes::is_hex);
        Line::Body { operation, body: Box::new(body), request_body }
    }
}

/// Bytes: text where they are text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bytes {
    Text(String),
    Hex(String),
}

impl Bytes {
    pub(super) fn of(bytes: Vec<u8>) -> Bytes {
        String::from_utf8(bytes).map_or_else(|error| Bytes::Hex(hex::encode(error.as_bytes())), Bytes::Text)
    }

    fn is_hex(&self) -> bool {
        matches!(self, Bytes::Hex(_))
    }

    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Bytes::Text(text) => Some(text.into_bytes()),
            Bytes::Hex(text) => hex::decode(&text),
        }
    }
}

/// An entry of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine {
    seq: u64,
    at: Time,
    by: Actor,
    subject: Subject,
    number: u32,
    name: String,
    commitment: Digest,
    before: Digest,
    salt: String,
    /// In hexadecimal; empty when erased.
    payload: String,
    /// What the payload says; none when it is erased or of a later release.
    fact: Option<serde_json::Value>,
}

impl EntryLine {
    pub(super) fn of(entry: &Entry) -> EntryLine {
        EntryLine {
            seq: entry.seq,
            at: entry.at,
            by: entry.by.clone(),
            subject: entry.subject,
            number: entry.number,
            name: entry.name.clone(),
            commitment: entry.commitment,
            before: entry.before,
            salt: hex::encode(&entry.salt),
            payload: hex::encode(&entry.payload),
            fact: shown(&entry.payload),
        }
    }

    /// The entry, if what is shown is what its payload says.
    pub(super) fn into_entry(self) -> Result<Entry, &'static str> {
        let payload = hex::decode(&self.payload).ok_or("its payload is not in hexadecimal")?;
        let salt = hex::decode(&self.salt).and_then(|salt| salt.try_into().ok());
        if shown(&payload) != self.fact {
            return Err("what is shown of it is not what its payload says");
        }
        Ok(Entry {
            seq: self.seq,
            at: self.at,
            by: self.by,
            subject: self.subject,
            number: self.number,
            name: self.name,
            commitment: self.commitment,
            before: self.before,
            salt: salt.ok_or("its salt is not 16 bytes in hexadecimal")?,
            payload,
        })
    }
}

fn shown(payload: &[u8]) -> Option<serde_json::Value> {
    let fact = codec::decode::<Fact>(payload).ok()?;
    serde_json::to_value(fact).ok()
}

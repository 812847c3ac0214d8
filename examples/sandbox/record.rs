//! What stands in the ledger: one JSON object a line, in the order in which things happened.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One line. `S` is what the service keeps of an object before and after an effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record<S> {
    /// Dense from 0; the line number.
    pub(crate) n: u64,
    /// Wall time, milliseconds since the epoch.
    pub(crate) at_ms: u64,
    #[serde(flatten)]
    pub(crate) entry: Entry<S>,
}

/// What a line tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Entry<S> {
    /// A request was received; written before anything is done about it.
    Request(Received),
    /// A write was applied.
    Effect(Effect<S>),
    /// A write was refused for good; the refusal is the key's answer from now on.
    Refusal(Refusal),
    /// Somebody else changed the object: the fault `version_bump`, or a test by the bump route.
    OtherChange(OtherChange),
    /// A test put the service's clock forward.
    Clock(Forward),
}

/// A request as it came in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Received {
    /// Connections are numbered from 1 at each start.
    pub(crate) connection: u64,
    pub(crate) method: String,
    /// With the query, as sent.
    pub(crate) path: String,
    /// Names in lower case; a header that came more than once is an array. Credentials are hashed.
    pub(crate) headers: Map<String, Value>,
    /// The raw bytes, when they are UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    /// The raw bytes in hexadecimal, when they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body_hex: Option<String>,
    /// The fault that interfered.
    pub(crate) fault: Option<String>,
    /// The second copy that the fault `duplicate_delivery` made.
    pub(crate) redelivered: bool,
}

/// Who is behind a write, from the headers of the same names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Actor {
    pub(crate) operation_id: Option<String>,
    pub(crate) run_id: Option<String>,
    pub(crate) requested_by: Option<String>,
    pub(crate) on_behalf_of: Option<String>,
}

/// A write that was applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Effect<S> {
    pub(crate) connection: u64,
    /// `n` of the request's record; none when requests are not recorded.
    pub(crate) request: Option<u64>,
    /// What was changed: a kind, a colon and an id.
    pub(crate) object: String,
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) actor: Actor,
    /// Version of the object before and after; for what has none, how many there were.
    pub(crate) before_version: u64,
    pub(crate) after_version: u64,
    /// Of the raw body bytes, in hexadecimal.
    pub(crate) request_sha256: String,
    /// Absent where nothing is kept, or nothing was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<S>,
}

/// A refusal that is stored under the key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) connection: u64,
    pub(crate) request: Option<u64>,
    pub(crate) object: String,
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) actor: Actor,
    pub(crate) request_sha256: String,
    pub(crate) status: u16,
    pub(crate) error: Value,
}

/// A change that no request made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OtherChange {
    pub(crate) object: String,
    pub(crate) before_version: u64,
    pub(crate) after_version: u64,
    /// What stands there since then, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(dead_code, reason = "what one service does not use, another does")]
    pub(crate) after: Option<Value>,
}

/// The service's clock from now on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Forward {
    /// How far it is ahead of the wall.
    pub(crate) ahead_ms: u64,
}

//! What stands in the ledger: one JSON object a line, in the order in which things happened.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::customer::Address;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Dense from 0; the line number.
    pub(super) n: u64,
    /// Wall time, milliseconds since the epoch.
    pub(super) at_ms: u64,
    #[serde(flatten)]
    pub(super) entry: Entry,
}

/// What a line tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Entry {
    /// A request was received; written before anything is done about it.
    Request(Received),
    /// A write was applied.
    Effect(Effect),
    /// A write was refused for good; the refusal is the key's answer from now on.
    Refusal(Refusal),
    /// Somebody else changed the customer: the fault `version_bump`, or a test by the bump route.
    OtherChange(OtherChange),
}

/// A request as it came in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Received {
    /// Connections are numbered from 1 at each start.
    pub(super) connection: u64,
    pub(super) method: String,
    /// With the query, as sent.
    pub(super) path: String,
    /// Names in lower case; a header that came more than once is an array. Credentials are hashed.
    pub(super) headers: Map<String, Value>,
    /// The raw bytes, when they are UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// The raw bytes in hexadecimal, when they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body_hex: Option<String>,
    /// The fault that interfered.
    pub(super) fault: Option<String>,
    /// The second copy that the fault `duplicate_delivery` made.
    pub(super) redelivered: bool,
}

/// Who is behind a write, from the headers of the same names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Actor {
    pub(super) operation_id: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) requested_by: Option<String>,
    pub(super) on_behalf_of: Option<String>,
}

/// A write that was applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Effect {
    pub(super) connection: u64,
    /// `n` of the request's record; none when requests are not recorded.
    pub(super) request: Option<u64>,
    /// `customer:ID` or `mail:ID`.
    pub(super) object: String,
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) actor: Actor,
    /// Version of the customer, or the number of mails sent, before and after.
    pub(super) before_version: u64,
    pub(super) after_version: u64,
    /// Of the raw body bytes, in hexadecimal.
    pub(super) request_sha256: String,
    /// Absent for a mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Address>,
}

/// A refusal that is stored under the key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) connection: u64,
    pub(super) request: Option<u64>,
    pub(super) object: String,
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) actor: Actor,
    pub(super) request_sha256: String,
    pub(super) status: u16,
    pub(super) error: Value,
}

/// A change that no request made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OtherChange {
    pub(super) object: String,
    pub(super) before_version: u64,
    pub(super) after_version: u64,
}

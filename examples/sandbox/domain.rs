//! What a service is about: its routes, its rules and what it keeps. Everything else, the sockets, the ledger, the
//! keys, the faults, is the same for every sandbox.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    answer::Answer,
    keys::KeyRecord,
    record::{Effect, OtherChange},
    request::{Request, Write},
};

/// The three kinds of requests that faults tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Status,
}

/// What a write comes to, before anything is recorded: record the change and it is true.
pub(crate) type Decision<S> = Result<Change<S>, Refused>;

/// Why a write changes nothing.
pub(crate) enum Refused {
    /// With a trace: this is the key's answer from now on.
    ForGood { code: &'static str, detail: String },
    /// Without a trace: the same key may be used again.
    Now { status: u16, error: Value },
}

/// What an effect changes.
pub(crate) struct Change<S> {
    pub(crate) before_version: u64,
    pub(crate) after_version: u64,
    pub(crate) before: Option<S>,
    pub(crate) after: Option<S>,
}

impl Refused {
    pub(crate) fn now(status: u16, error: Value) -> Self {
        Self::Now { status, error }
    }

    /// Another version than the caller has read.
    pub(crate) fn stale(current: u64) -> Self {
        Self::now(409, json!({"code": "STALE", "current_version": current}))
    }
}

/// One service: pure, without clock, file or network. Decisions see the state, records change it, live and when the
/// ledger is read at start.
pub(crate) trait Domain: Default + Send + 'static {
    /// What a request asks for.
    type Route: Clone + Send + Sync + 'static;
    /// What the ledger keeps of an object before and after an effect.
    type Snapshot: Serialize + DeserializeOwned;
    /// What a write came to; the answer is rendered from it, always to the same bytes.
    type Outcome: Send;

    /// What `match` of a fault and the answer to a bump call the id of an object.
    const ID_NAME: &'static str;
    /// The code for an object that is not there, or not for this caller.
    const MISSING: &'static str;
    /// The beginning of an answer that never ends.
    const HALF_A_BODY: &'static [u8];

    /// Reads the route from method and path.
    fn route(method: &str, path: &str) -> Self::Route;
    fn kind(route: &Self::Route) -> Kind;
    /// The id of the object that the route is about.
    fn id(route: &Self::Route) -> Option<String>;
    /// The key that a status query is about.
    fn status_key(route: &Self::Route) -> Option<&str>;
    /// What a write is about: its effects are counted under it, and a key belongs to it.
    fn object(route: &Self::Route) -> String;

    /// The answer to who may not come in: looked at before anything else, so that nothing is revealed to others.
    fn turned_away(&self, request: &Request, route: &Self::Route) -> Option<Answer>;
    /// Whether this caller may know what became of a key.
    fn shows(&self, request: &Request, record: &KeyRecord<Self::Outcome>) -> bool;
    /// Answers what is neither a write nor a status query.
    fn read(&self, request: &Request, route: &Self::Route, now_ms: u64) -> Answer;
    /// Decides a write whose key is new; `so_far` effects were on its object.
    fn decide(&self, write: &Write<'_, Self::Route>, so_far: u64, now_ms: u64) -> Decision<Self::Snapshot>;
    /// Makes an effect true; `record` is its number in the ledger.
    fn apply(&mut self, record: u64, effect: &Effect<Self::Snapshot>) -> Self::Outcome;
    /// Makes a change by somebody else true.
    fn change(&mut self, change: &OtherChange);
    /// The ledger's name of an object and its version, for somebody else to change.
    fn version_of(&self, id: &str) -> Option<(String, u64)>;
    /// What somebody else puts there instead, checked; nothing if the service has no such thing.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    fn put(&self, _id: &str, _body: &[u8]) -> Result<Option<Value>, String> {
        Ok(None)
    }
    /// Status and body of the answer to a write that was applied.
    fn render(key: &str, record: &KeyRecord<Self::Outcome>, outcome: &Self::Outcome) -> (u16, Value);
}

//! The fault switchboard: which faults are armed, for which requests, how many times. In memory only: a
//! service that restarts has no faults.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{domain::Kind, faults::Fault};

/// The armed faults, oldest first.
pub(super) struct Switchboard {
    /// What `match` calls the id of an object.
    id_name: &'static str,
    armed: Vec<Armed>,
    next_id: u64,
}

struct Armed {
    id: u64,
    fault: Fault,
    /// None: until cleared.
    left: Option<u64>,
    hits: u64,
    matching: Match,
}

/// Which requests a fault is about; what is not named does not matter.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Of the object, under the name that the service gives it.
    #[serde(skip)]
    id: Option<String>,
}

/// What of a request faults look at.
pub(super) struct Facts<'a> {
    pub(super) kind: Kind,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    /// Of the outcome that a status query is about.
    pub(super) age_ms: Option<u64>,
}

impl Switchboard {
    /// Nothing is armed; `match` names objects by `id_name`.
    pub(super) fn new(id_name: &'static str) -> Self {
        Self { id_name, armed: Vec::new(), next_id: 0 }
    }

    /// Arms the fault that a request body describes; answers its id, or what is wrong with it.
    pub(super) fn arm(&mut self, body: &[u8]) -> Result<u64, String> {
        let mut map: Map<String, Value> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let left = match map.remove("times") {
            None => Some(1),
            Some(Value::Null) => None,
            Some(times) => {
                Some(times.as_u64().filter(|times| *times > 0).ok_or("times must be 1 or more, or null")?)
            }
        };
        let matching = match map.remove("match") {
            None => Match::default(),
            Some(value) => Match::parse(value, self.id_name).map_err(|error| format!("match: {error}"))?,
        };
        let fault = fault_of(map)?;
        self.next_id += 1;
        self.armed.push(Armed { id: self.next_id, fault, left, hits: 0, matching });
        Ok(self.next_id)
    }

    /// The oldest armed fault that is about this request; it is used up by one.
    pub(super) fn pick(&mut self, facts: &Facts<'_>) -> Option<Fault> {
        let armed = self.armed.iter_mut().find(|armed| armed.left != Some(0) && armed.concerns(facts))?;
        armed.hits += 1;
        armed.left = armed.left.map(|left| left - 1);
        Some(armed.fault.clone())
    }

    /// Nothing is armed: the usual case, which must cost nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }

    /// All of them, also those that are used up.
    pub(super) fn list(&self) -> Value {
        let list = self.armed.iter().map(|armed| {
            json!({
                "id": armed.id,
                "fault": armed.fault,
                "times_left": armed.left,
                "hits": armed.hits,
                "match": armed.matching.show(self.id_name),
            })
        });
        json!({"faults": list.collect::<Vec<_>>()})
    }

    /// Disarms all.
    pub(super) fn clear(&mut self) {
        self.armed.clear();
    }
}

impl Match {
    fn parse(mut value: Value, id_name: &str) -> Result<Self, String> {
        let id = match value.as_object_mut().and_then(|members| members.remove(id_name)) {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(_) => return Err(format!("{id_name} must be text")),
        };
        let rest: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Ok(Self { id, ..rest })
    }

    fn show(&self, id_name: &str) -> Value {
        let mut shown = json!(self);
        if let Some(id) = &self.id {
            shown[id_name] = json!(id);
        }
        shown
    }
}

impl Armed {
    fn concerns(&self, facts: &Facts<'_>) -> bool {
        let Match { method, path_prefix, key, id } = &self.matching;
        let kind = match self.fault.only() {
            Some(only) => only == facts.kind,
            None => facts.kind == Kind::Write || method.is_some() || path_prefix.is_some(),
        };
        kind && method.as_deref().is_none_or(|method| method == facts.method)
            && path_prefix.as_deref().is_none_or(|prefix| facts.path.starts_with(prefix))
            && key.as_deref().is_none_or(|key| Some(key) == facts.key)
            && id.as_deref().is_none_or(|id| Some(id) == facts.id)
            && self.fault.concerns_age(facts.age_ms)
    }
}

/// Reads a fault from its name under `fault` and its parameters beside it.
pub(super) fn fault_of(map: Map<String, Value>) -> Result<Fault, String> {
    let fault: Fault = serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
    fault.check()?;
    Ok(fault)
}

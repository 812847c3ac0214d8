//! Types of members: what each takes, and the words for what it does not take.

use std::time::Duration;

use serde_json::Value;

use crate::api::wire::request::{ResolveOutcome, ToolRef};
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::State;
use crate::domain::pause::PauseScope;
use crate::domain::principal::Role;
use crate::domain::{Digest, Time};

/// The longest text of a person or model in a request: a page, not a book.
const MAX_TEXT_CHARS: usize = 4000;
/// The most write tools of one run.
const MAX_TOOLS: usize = 256;

/// What is wrong, with the pointer below the member; empty for the member itself.
pub(super) type Wrong = Vec<(String, String)>;

/// A type that a member can have.
pub(in crate::api) trait Field: Sized {
    /// Whether null is one of its values.
    const TAKES_NULL: bool = false;

    /// Reads it.
    fn read(value: Value) -> Result<Self, Wrong>;
}

pub(super) fn wrong(detail: impl Into<String>) -> Wrong {
    vec![(String::new(), detail.into())]
}

/// "expected …, this is …": types only, never the value.
fn expected(what: &str, value: &Value) -> Wrong {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    wrong(format!("expected {what}, this is {is}"))
}

fn string(value: Value, what: &str) -> Result<String, Wrong> {
    match value {
        Value::String(text) => Ok(text),
        Value::Array(_) if what.starts_with("one ") => {
            Err(wrong(format!("expected {what}, it is given twice")))
        }
        other => Err(expected(what, &other)),
    }
}

/// A text of bounded length.
pub(in crate::api) struct Text(pub(in crate::api) String);

impl Field for Text {
    fn read(value: Value) -> Result<Text, Wrong> {
        let text = string(value, "a string")?;
        if text.chars().count() > MAX_TEXT_CHARS {
            return Err(wrong(format!("at most {MAX_TEXT_CHARS} characters are taken")));
        }
        Ok(Text(text))
    }
}

impl Field for bool {
    fn read(value: Value) -> Result<bool, Wrong> {
        value.as_bool().ok_or_else(|| expected("true or false", &value))
    }
}

/// Any value, null too.
impl Field for Value {
    const TAKES_NULL: bool = true;

    fn read(value: Value) -> Result<Value, Wrong> {
        Ok(value)
    }
}

/// Arguments: an object.
pub(in crate::api) struct JsonObject(pub(in crate::api) Value);

impl Field for JsonObject {
    fn read(value: Value) -> Result<JsonObject, Wrong> {
        if value.is_object() { Ok(JsonObject(value)) } else { Err(expected("an object", &value)) }
    }
}

impl Field for Digest {
    fn read(value: Value) -> Result<Digest, Wrong> {
        let text = string(value, "a string")?;
        text.parse().map_err(|error: crate::domain::digest::NotADigest| wrong(error.to_string()))
    }
}

impl Field for Time {
    fn read(value: Value) -> Result<Time, Wrong> {
        let text = string(value, "a string")?;
        text.parse().map_err(|_| wrong("expected a time with its offset, such as 2027-01-31T09:00:00Z"))
    }
}

impl Field for PauseScope {
    fn read(value: Value) -> Result<PauseScope, Wrong> {
        let known = [PauseScope::Tool, PauseScope::Adapter, PauseScope::Tenant];
        let text = string(value, "one of tool, adapter, tenant")?;
        let found = known.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| wrong("expected one of tool, adapter, tenant"))
    }
}

impl Field for OperationId {
    fn read(value: Value) -> Result<OperationId, Wrong> {
        let text = string(value, "a string")?;
        text.parse().map_err(|error: crate::domain::ids::NotAnId| wrong(error.to_string()))
    }
}

impl Field for RunId {
    fn read(value: Value) -> Result<RunId, Wrong> {
        let text = string(value, "a string")?;
        text.parse().map_err(|error: crate::domain::ids::NotAnId| wrong(error.to_string()))
    }
}

impl Field for ToolRef {
    fn read(value: Value) -> Result<ToolRef, Wrong> {
        let text = string(value, "a string")?;
        text.parse().map_err(|error: crate::api::wire::request::NotATool| wrong(error.to_string()))
    }
}

impl Field for Vec<ToolRef> {
    fn read(value: Value) -> Result<Vec<ToolRef>, Wrong> {
        let Value::Array(items) = value else { return Err(expected("an array", &value)) };
        if items.len() > MAX_TOOLS {
            return Err(wrong(format!("at most {MAX_TOOLS} tools are taken")));
        }
        let (mut tools, mut all_wrong) = (Vec::with_capacity(items.len()), Wrong::new());
        for (index, item) in items.into_iter().enumerate() {
            match ToolRef::read(item) {
                Ok(tool) => tools.push(tool),
                Err(wrong) => {
                    all_wrong.extend(wrong.into_iter().map(|(at, detail)| (format!("/{index}{at}"), detail)));
                }
            }
        }
        if all_wrong.is_empty() { Ok(tools) } else { Err(all_wrong) }
    }
}

impl Field for Vec<Role> {
    fn read(value: Value) -> Result<Vec<Role>, Wrong> {
        let names = "expected an array of roles: agent, approver, operator, contract_owner, auditor, admin";
        // Each role once: a list that is longer says something else than it seems to.
        let roles: Vec<Role> = serde_json::from_value(value).map_err(|_| wrong(names))?;
        let mut once = roles.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() == roles.len() { Ok(roles) } else { Err(wrong("a role is given twice")) }
    }
}

impl Field for ResolveOutcome {
    fn read(value: Value) -> Result<ResolveOutcome, Wrong> {
        let text = string(value, "a string")?;
        let known = ResolveOutcome::ALL.iter().find(|(name, _)| *name == text);
        known.map(|(_, outcome)| *outcome).ok_or_else(|| wrong("expected applied, not_applied or failed"))
    }
}

/// A number in a query: digits only.
pub(in crate::api) struct Count(pub(in crate::api) u64);

impl Field for Count {
    fn read(value: Value) -> Result<Count, Wrong> {
        let text = string(value, "one number")?;
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| digits).map(Count).ok_or_else(|| wrong("expected a number without sign"))
    }
}

/// A duration in a query.
pub(in crate::api) struct Wait(pub(in crate::api) Duration);

impl Field for Wait {
    fn read(value: Value) -> Result<Wait, Wrong> {
        let text = string(value, "one duration")?;
        humantime::parse_duration(&text)
            .map(Wait)
            .map_err(|_| wrong("expected a duration such as 30s or 500ms"))
    }
}

/// States in a query: repeated, or separated by commas.
pub(in crate::api) struct States(pub(in crate::api) Vec<State>);

impl Field for States {
    fn read(value: Value) -> Result<States, Wrong> {
        let texts = match value {
            Value::Array(several) => several,
            one => vec![one],
        };
        let mut states = Vec::new();
        for text in texts {
            for name in string(text, "a string")?.split(',') {
                states.push(name.parse().map_err(|_| {
                    wrong(format!(
                        "expected states of operations: {}",
                        State::ALL.map(State::as_str).join(", ")
                    ))
                })?);
            }
        }
        Ok(States(states))
    }
}

//! What clients send. An unknown member, a wrong type or null in place of a value is refused with its pointer.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::ids::{OperationId, RunId};
use crate::domain::pause::PauseScope;
use crate::domain::principal::Role;
use crate::domain::{Digest, Time};

/// Header that carries the name a client acts as, where its account has several.
pub const AS_HEADER: &str = "writd-as";
/// Header of a creating request's own key.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Header of an answer that was given before under the same key.
pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";

/// A tool and its major version: `commit_address_change.v2`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ToolRef {
    /// The tool's name.
    pub name: String,
    /// Its major version.
    pub major: u32,
}

/// The text names no tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tool is named with its major version, such as `get_customer.v1`")]
pub struct NotATool;

/// The longest name of a tool; contracts use short `verb_object` names.
const MAX_TOOL_NAME: usize = 128;

impl FromStr for ToolRef {
    type Err = NotATool;

    fn from_str(text: &str) -> Result<ToolRef, NotATool> {
        let (name, major) = text.rsplit_once(".v").ok_or(NotATool)?;
        let named = !name.is_empty()
            && name.len() <= MAX_TOOL_NAME
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b));
        // One spelling for one version: no sign, no leading zero.
        let canonical = major.bytes().all(|b| b.is_ascii_digit()) && !major.starts_with('0');
        if !named || !canonical {
            return Err(NotATool);
        }
        Ok(ToolRef { name: name.to_owned(), major: major.parse().map_err(|_| NotATool)? })
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.v{}", self.name, self.major)
    }
}

impl Serialize for ToolRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ToolRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ToolRef, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// `POST /v1/runs`
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OpenRunBody {
    /// Why, in the client's words.
    pub purpose: String,
    /// The write tools it may propose. Reads need no entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRef>,
    /// Nothing starts after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
}

/// `POST /v1/runs/{id}/calls`
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CallBody {
    /// The read tool.
    pub tool: ToolRef,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// `POST /v1/runs/{id}/proposals`
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProposeBody {
    /// The write tool.
    pub tool: ToolRef,
    /// Its arguments, an object.
    pub arguments: Value,
    /// The version of the target that the client read; not for creates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub based_on: Option<Value>,
    /// Why, in the client's words.
    pub purpose: String,
    /// The operation that this one replaces after a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<OperationId>,
}

/// `POST /v1/pauses`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PauseBody {
    /// `tool`, `adapter` or `tenant`.
    pub scope: PauseScope,
    /// Its name.
    pub name: String,
    /// Why, for whoever waits.
    pub reason: String,
}

/// `POST /v1/pauses/resume`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ResumeBody {
    /// `tool`, `adapter` or `tenant`.
    pub scope: PauseScope,
    /// Its name.
    pub name: String,
}

/// `POST /v1/policy/explain`
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplainBody {
    /// The run that would propose it.
    pub run: RunId,
    /// The write tool.
    pub tool: ToolRef,
    /// Its arguments, an object.
    pub arguments: Value,
    /// The version of the target that the client read; compared where it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub based_on: Option<Value>,
    /// Why, in the client's words: rules may read it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub purpose: String,
}

/// `POST /v1/operations/{id}/approve`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ApproveBody {
    /// `proposal_sha256`, as it was shown.
    pub digest: Digest,
    /// In the approver's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /v1/operations/{id}/deny`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DenyBody {
    /// Why.
    pub reason: String,
    /// The same write is refused from now on, too.
    #[serde(rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
}

/// `POST /v1/operations/{id}/abandon`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReasonBody {
    /// Why.
    pub reason: String,
}

/// `POST /v1/operations/{id}/revoke`
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RevokeBody {
    /// Whose approval; the caller's own if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
}

/// `POST /v1/operations/{id}/cancel`
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CancelBody {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an operator knows about an unknown outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolveOutcome {
    /// It happened.
    Applied,
    /// It did not happen.
    NotApplied,
    /// The service refused it for good.
    Failed,
}

impl ResolveOutcome {
    /// All of them, as written.
    pub const ALL: [(&'static str, ResolveOutcome); 3] = [
        ("applied", ResolveOutcome::Applied),
        ("not_applied", ResolveOutcome::NotApplied),
        ("failed", ResolveOutcome::Failed),
    ];
}

/// `POST /v1/operations/{id}/resolve`
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ResolveBody {
    /// What the operator knows.
    pub outcome: ResolveOutcome,
    /// With `not_applied` only: try again under the same key.
    #[serde(skip_serializing_if = "super::is_false")]
    pub retry: bool,
    /// With `applied` only: the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
    /// How the operator knows.
    pub note: String,
}

/// `POST /v1/tokens`
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CreateTokenBody {
    /// For whom it is to speak.
    pub principal: String,
    /// At most these roles; all of the principal's if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// How long it lasts, such as `30d`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "duration")]
    pub expires_in: Option<Duration>,
    /// The principal for whom its bearer acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
}

#[allow(clippy::ref_option)] // serde passes references
fn duration<S: serde::Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(duration) => serializer.collect_str(&humantime::format_duration(*duration)),
    }
}

/// A body without members: `/commit`, `/reconcile`, runs' `/cancel`, `/compensate`, `/v1/restore/accept`. It may also be
/// left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct EmptyBody {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_one_spelling() {
        let tool: ToolRef = "commit_address_change.v2".parse().unwrap();
        assert_eq!((tool.name.as_str(), tool.major), ("commit_address_change", 2));
        assert_eq!(tool.to_string(), "commit_address_change.v2");
        for wrong in
            ["", "x", "x.v", ".v1", "x.v0", "x.v01", "x.v+1", "x.v1 ", "X.v1", "x.v99999999999", "x y.v1"]
        {
            assert_eq!(wrong.parse::<ToolRef>(), Err(NotATool), "{wrong}");
        }
    }
}

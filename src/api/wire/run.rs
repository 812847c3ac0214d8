//! Runs and calls as they are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::ToolRef;
use super::warning::WarningView;
use crate::domain::Time;
use crate::domain::ids::{CallId, RunId};
use crate::domain::operation::Actor;
use crate::domain::run::{Run, RunEnd};

/// A run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunView {
    /// Its id.
    pub id: RunId,
    /// The tenant.
    pub tenant: String,
    /// Who opened it.
    pub opener: Actor,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Why, in the opener's words: a claim.
    pub purpose: String,
    /// The write tools it may propose.
    pub tools: Vec<String>,
    /// When it was opened.
    pub opened: Time,
    /// Nothing starts after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Whether calls, proposals and first attempts may start.
    pub open: bool,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
}

impl RunView {
    /// What is shown of a run.
    #[must_use]
    pub fn of(run: &Run, now: Time) -> RunView {
        RunView {
            id: run.id,
            tenant: run.tenant.clone(),
            opener: run.opener.clone(),
            on_behalf_of: run.on_behalf_of.clone(),
            purpose: run.purpose.clone(),
            tools: run.tools.clone(),
            opened: run.opened,
            deadline: run.deadline,
            open: run.is_open(now),
            ended: run.ended.map(|(at, _)| at),
            end: run.ended.map(|(_, end)| end),
        }
    }
}

/// A run with its token, which no other answer shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IssuedRunView {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// The token that is worth this run and nothing else; left out where the run was opened before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// What a read answered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CallView {
    /// The call.
    pub id: CallId,
    /// The tool.
    pub tool: ToolRef,
    /// Always `untrusted`: it comes from outside and may try to give orders.
    pub classification: String,
    /// The data, redacted for agents.
    pub data: Value,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningView>,
}

//! Pages, the inbox, the catalog and the daemon's own state.

use serde::{Deserialize, Serialize};

use super::is_false;
use super::operation::OperationView;
use super::warning::WarningView;
use crate::domain::Digest;

/// One page of a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Page<T> {
    /// Its items.
    pub items: Vec<T>,
    /// The `cursor` of the next page; left out on the last one. Opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Records that could not be read and stand on no page.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// What waits for people.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InboxView {
    /// Proposals that wait for a decision, the nearest decide-by first.
    pub approvals: Vec<InboxItem>,
    /// How many there are, also beyond this list.
    pub approvals_total: usize,
    /// Unknown outcomes: paused ones first, then by age.
    pub unknown: Vec<InboxItem>,
    /// How many there are, also beyond this list.
    pub unknown_total: usize,
}

/// One thing that waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InboxItem {
    /// How long it has been waiting, in milliseconds.
    pub age_ms: u64,
    /// An operator is needed; nothing is sent any more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub paused: bool,
    /// Whether the reader can decide or settle it.
    pub yours: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// The operation, its members on the same level.
    #[serde(flatten)]
    pub operation: OperationView,
}

/// The loaded contracts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CatalogView {
    /// The fingerprint of everything that is loaded.
    pub fingerprint: Digest,
    /// The tools, by name.
    pub tools: Vec<String>,
    /// About those that should not be used any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningView>,
}

/// `POST /v1/catalog/reload`
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReloadedView {
    /// The fingerprint of what is in force now.
    pub fingerprint: Digest,
    /// Of what was in force before.
    pub before: Digest,
    /// How many contracts there are.
    pub contracts: usize,
    /// Those that are not as they were.
    pub changed: Vec<String>,
    /// What is worth a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One contract.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ContractView {
    /// The tool, as runs and proposals name it: `name.vMAJOR`.
    pub tool: String,
    /// `major.minor`.
    pub version: String,
    /// For people.
    pub title: String,
    /// `read` or `write`.
    pub class: String,
    /// Its fingerprint.
    pub fingerprint: Digest,
    /// How a write's unknown outcome is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<crate::domain::operation::RecoveryTier>,
    /// `no`, `compensate` or `yes`, for writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<String>,
    /// `active`, `deprecated` or `retired`.
    pub lifecycle: String,
    /// The day up to which a deprecated one may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What to use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
}

/// Where the daemon stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// It reads its store; nothing else is answered yet.
    Starting,
    /// It works.
    Ready,
    /// It takes no new work.
    Stopping,
}

/// How far the start has come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// What it does.
    pub phase: String,
    /// How much of it is done.
    pub done: u64,
    /// Of how much, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// `GET /healthz`
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Health {
    /// Where the daemon stands.
    pub state: HealthState,
    /// Its version.
    pub version: String,
    /// Its process, for people.
    pub pid: u32,
    /// While it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

/// `POST /v1/restore/accept`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accepted {
    /// The epoch whose writes are released.
    pub epoch: u64,
}

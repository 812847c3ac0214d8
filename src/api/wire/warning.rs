//! What an answer warns of. A warning changes nothing of the answer; programs act on its code.

use serde::{Deserialize, Serialize};

use super::operation::OperationView;
use crate::domain::Code;
use crate::ports::Life;

/// One warning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WarningView {
    /// What kind.
    pub code: Code,
    /// For people.
    pub detail: String,
}

impl WarningView {
    /// What is said beside the answers of a tool, because of where it is in its life.
    #[must_use]
    pub fn of(tool: &str, life: &Life) -> Option<WarningView> {
        let Life::Deprecated { until, successor } = life else { return None };
        let until = until.as_ref().map(|day| format!(" after {day}")).unwrap_or_default();
        let next = successor.as_ref().map(|next| format!("; use {next}")).unwrap_or_default();
        let detail = format!("{tool} is deprecated and will not answer{until}{next}");
        Some(WarningView { code: Code::ToolDeprecated, detail })
    }
}

/// The answer to a proposal. The members of [`OperationView`] stand beside these, on the same level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProposedView {
    /// The operation.
    #[serde(flatten)]
    pub operation: OperationView,
    /// What the proposer should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningView>,
}

//! What the world looks like after an operation, independent of whether the operation succeeded.

use serde::{Deserialize, Serialize};

/// The effect state of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Proven: nothing happened.
    None,
    /// Proven: it happened.
    Applied,
    /// Proven: some of it happened; the parts are listed.
    Partial,
    /// Not proven either way.
    Unknown,
}

impl Effect {
    /// As written in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Applied => "applied",
            Effect::Partial => "partial",
            Effect::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

//! What is paused.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::operation::Actor;
use crate::domain::pause::{Pause, PauseScope};

/// Everything that is paused and that the reader may see.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PausesView {
    /// In the order in which they were paused.
    pub pauses: Vec<PauseView>,
}

/// One pause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PauseView {
    /// `tool`, `adapter` or `tenant`.
    pub scope: PauseScope,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
    /// Who paused it.
    pub by: Actor,
    /// Since when.
    pub since: Time,
}

impl PausesView {
    /// As it is shown.
    #[must_use]
    pub fn of(pauses: &[Pause]) -> PausesView {
        let one = |pause: &Pause| PauseView {
            scope: pause.scope,
            name: pause.name.clone(),
            reason: pause.reason.clone(),
            by: pause.by.clone(),
            since: pause.at,
        };
        PausesView { pauses: pauses.iter().map(one).collect() }
    }
}

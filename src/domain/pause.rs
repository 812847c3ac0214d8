//! Emergency pauses: nothing more starts through a tool, an adapter or for a tenant, until somebody resumes it. They take
//! effect at the claim; what is executing is learned to its end.
//! Stored: the order of variants and members is part of the record format.

use serde::{Deserialize, Serialize};

use super::Time;
use super::operation::{Actor, Proposal};

/// What is paused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// A tool: its name for all its majors, or `name.vMAJOR`.
    Tool,
    /// The named base through which it writes.
    Adapter,
    /// A tenant.
    Tenant,
}

/// One pause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// What is paused.
    pub scope: PauseScope,
    /// Its name.
    pub name: String,
    /// Why, for whoever waits.
    pub reason: String,
    /// Who paused it.
    pub by: Actor,
    /// Since when.
    pub at: Time,
}

impl PauseScope {
    /// As written in the API and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            PauseScope::Tool => "tool",
            PauseScope::Adapter => "adapter",
            PauseScope::Tenant => "tenant",
        }
    }
}

impl Pause {
    /// Whether it keeps this write from starting. `base` is the named base of its request.
    #[must_use]
    pub fn stops(&self, proposal: &Proposal, base: &str) -> bool {
        match self.scope {
            PauseScope::Tool => self.name == proposal.tool || self.name == proposal.tool_ref(),
            PauseScope::Adapter => self.name == base,
            PauseScope::Tenant => self.name == proposal.tenant,
        }
    }

    /// Why it waits, in words.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} {} is paused by {}: {}", self.scope.as_str(), self.name, self.by.name, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::operation::samples::{Person, actor, proposal, rules, time};

    #[test]
    fn a_pause_stops_what_it_names_and_nothing_else() {
        let of = proposal(rules());
        let pause = |scope, name: &str| Pause {
            scope,
            name: name.to_owned(),
            reason: "the service misbehaves".to_owned(),
            by: actor(Person::Olga),
            at: time(0),
        };
        for (scope, name, stops) in [
            (PauseScope::Tool, "commit_address_change", true),
            (PauseScope::Tool, "commit_address_change.v2", true),
            (PauseScope::Tool, "commit_address_change.v1", false),
            (PauseScope::Tool, "commit_address", false),
            (PauseScope::Adapter, "crm", true),
            (PauseScope::Adapter, "facilities", false),
            (PauseScope::Tenant, "acme", true),
            (PauseScope::Tenant, "crm", false),
        ] {
            assert_eq!(pause(scope, name).stops(&of, "crm"), stops, "{scope:?} {name}");
        }
    }
}

//! What must be true, held against what is. A difference is named, ends nothing, and decides the exit code.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

/// One fact.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Fact {
    /// The scene it belongs to; 0 for what is true of all.
    pub(super) scene: u32,
    /// What it is about.
    pub(super) what: String,
    /// What it is.
    pub(super) is: Value,
    /// What it must be.
    pub(super) must_be: Value,
    /// Whether the two are equal.
    pub(super) holds: bool,
}

/// All facts, in the order in which they were looked at.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// The scene that is played.
    pub(super) scene: u32,
    facts: Vec<Fact>,
}

impl Checks {
    /// Both are compared as JSON.
    pub(super) fn equal(&mut self, what: impl Into<String>, is: impl Serialize, must_be: impl Serialize) {
        let (is, must_be) = (json(is), json(must_be));
        let holds = is == must_be;
        self.facts.push(Fact { scene: self.scene, what: what.into(), is, must_be, holds });
    }

    /// For what is shown as its text: states, effects, codes, digests, ids.
    pub(super) fn same(&mut self, what: impl Into<String>, is: impl Display, must_be: impl Display) {
        self.equal(what, is.to_string(), must_be.to_string());
    }

    pub(super) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// What is not what it must be.
    pub(super) fn broken(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| !fact.holds)
    }
}

/// What cannot be written as JSON is no equal of anything that can.
fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| Value::String(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_kept_with_both_sides() {
        let mut checks = Checks { scene: 3, ..Checks::default() };
        checks.equal("effects", 1, 1);
        checks.equal("effects", 2, 1);
        checks.same("state", "unknown", "succeeded");
        let broken: Vec<_> = checks.broken().map(|fact| (fact.scene, fact.is.to_string())).collect();
        assert_eq!(broken, [(3, "2".to_owned()), (3, "\"unknown\"".to_owned())]);
        assert_eq!(checks.facts().len(), 3);
    }
}

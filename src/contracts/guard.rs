//! A condition over facts that others collect: rules of the policy table. The expression library stays behind it.

use serde_json::Value;

use super::finding::Findings;
use super::template::{Binding, Expr, Scope};

/// A compiled condition.
#[derive(Debug)]
pub struct Guard(Expr);

/// Why a text is no condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardError {
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub remedy: String,
}

/// It could not be evaluated on these facts: a member that is not there, types that do not fit, no boolean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotDecided;

impl Guard {
    /// Compiles a CEL expression that uses these names only, dotted where only one member exists.
    ///
    /// # Errors
    /// Its syntax, its size, or a name that does not exist.
    pub fn compile(source: &str, names: &[&str]) -> Result<Guard, GuardError> {
        let mut findings = Findings::default();
        match Expr::parse(source, "/when", names, &mut findings) {
            Some(expr) => Ok(Guard(expr)),
            None => {
                let found = findings.into_sorted().into_iter().next();
                let (message, remedy) = found.map(|found| (found.message, found.remedy)).unwrap_or_default();
                Err(GuardError { message, remedy })
            }
        }
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// It cannot be said.
    pub fn holds(&self, facts: &[(&'static str, &Value)]) -> Result<bool, NotDecided> {
        let scope = Scope(facts.iter().map(|(name, value)| (*name, Binding::Value(value))).collect());
        match self.0.evaluate(&scope) {
            Ok(value) => value.as_bool().ok_or(NotDecided),
            Err(_) => Err(NotDecided),
        }
    }

    /// Whether it reads a fact of this name.
    #[must_use]
    pub fn reads(&self, name: &str) -> bool {
        self.0.paths().iter().any(|path| path.first().is_some_and(|first| first == name))
    }
}

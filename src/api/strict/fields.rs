//! The members of one object, taken one by one; what nobody takes is unknown.

use serde_json::{Map, Value};

use super::field::Field;
use crate::domain::Code;
use crate::domain::json::{display, pointer};
use crate::domain::problem::{Finding, Problem};

/// How much of an unknown name is shown; ours have at most 12 letters.
const SHOWN_NAME: usize = 40;
/// More findings than this help nobody.
const MAX_FINDINGS: usize = 32;

/// The members of an object that are not taken yet, and what was wrong so far.
pub(in crate::api) struct Fields {
    base: &'static str,
    members: Map<String, Value>,
    known: Vec<&'static str>,
    findings: Vec<Finding>,
}

/// What is read from the members of an object.
pub(in crate::api) trait FromFields: Sized + Send {
    /// Whether the whole body may be left out.
    const MAY_BE_EMPTY: bool = false;

    /// Takes its members; `None` when one of them was refused.
    fn read(fields: &mut Fields) -> Option<Self>;
}

impl Fields {
    pub(super) fn new(base: &'static str, members: Map<String, Value>) -> Fields {
        Fields { base, members, known: Vec::new(), findings: Vec::new() }
    }

    /// Takes a member that may be left out. Null is not "left out".
    pub(in crate::api) fn optional<T: Field>(&mut self, name: &'static str) -> Option<T> {
        self.known.push(name);
        let value = self.members.remove(name)?;
        let at = pointer::join(self.base, name);
        if value.is_null() && !T::TAKES_NULL {
            self.finding(at, "null is no value here: leave the member out".to_owned());
            return None;
        }
        match T::read(value) {
            Ok(value) => Some(value),
            Err(wrong) => {
                for (below, detail) in wrong {
                    self.finding(format!("{at}{below}"), detail);
                }
                None
            }
        }
    }

    /// Takes a member that must be there.
    pub(in crate::api) fn required<T: Field>(&mut self, name: &'static str) -> Option<T> {
        if !self.members.contains_key(name) {
            self.known.push(name);
            self.finding(pointer::join(self.base, name), "this member is required".to_owned());
            return None;
        }
        self.optional(name)
    }

    /// Refuses a member that was taken, because of another one.
    pub(in crate::api) fn refuse(&mut self, name: &str, detail: &str) {
        self.finding(pointer::join(self.base, name), detail.to_owned());
    }

    fn finding(&mut self, pointer: String, detail: String) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding { pointer, code: Code::InvalidArgument, detail });
        }
    }

    /// The value, if nothing was wrong and nothing is left.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T, Box<Problem>> {
        let left: Vec<String> = std::mem::take(&mut self.members).into_iter().map(|(name, _)| name).collect();
        for name in left {
            let shown = display::escape_and_cut(&name, SHOWN_NAME);
            let detail = format!("`{shown}` is not known here: {}", self.instead(&name));
            // The pointer is cut like the name: both come from outside.
            self.finding(pointer::join(self.base, &shown), detail);
        }
        match value {
            Some(value) if self.findings.is_empty() => Ok(value),
            _ => Err(Box::new(self.problem())),
        }
    }

    fn instead(&self, name: &str) -> String {
        // A third of the letters wrong is another word.
        let bound = (name.chars().count() / 3).clamp(1, 4);
        let near = self.known.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known)).min();
        match near {
            Some((distance, known)) if distance <= bound => format!("did you mean `{known}`?"),
            Some(_) => format!("there is {}", self.known.join(", ")),
            None => "nothing is taken here".to_owned(),
        }
    }

    fn problem(self) -> Problem {
        let detail = match self.findings.as_slice() {
            [only] => only.detail.clone(),
            several => format!("{} things are wrong with this request", several.len()),
        };
        let mut problem = Problem::new(Code::InvalidArgument, detail);
        problem.pointer = self.findings.first().map(|finding| finding.pointer.clone());
        problem.errors = self.findings;
        problem
    }
}

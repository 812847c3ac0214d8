//! Cases: what an owner says must come of a call or a write, as GIVEN, WHEN and THEN in `*.cases.yaml` beside the
//! contracts. Owns the format only; the contract kit plays them. The format is closed like that of the contracts.

mod read;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::Value;

use super::Catalog;
use super::catalog::{collect, unreadable};
use super::finding::{Finding, Findings};
use super::units::ToolRef;

const SUFFIX: &str = ".cases.yaml";

/// One file.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseFile {
    /// As it is shown.
    pub file: String,
    /// What the cases are about.
    pub about: String,
    /// Arguments that name something of another tenant, per tool.
    pub other_tenant: Vec<(ToolRef, Value)>,
    /// What is made true before each question to the service of a tool, per tool.
    pub before_questions: Vec<(ToolRef, Vec<Given>)>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What is made true at the sandbox before, in order; that of the file first.
    pub given: Vec<Given>,
    /// What is done.
    pub when: When,
    /// What must come of it.
    pub then: Then,
}

/// One thing that is made true at the service or its sandbox.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Everything is as it was at first.
    Reset,
    /// A fault is armed, in the words of the sandbox's switchboard.
    Fault(Value),
    /// Something is put there: a path below the sandbox's own routes, and a body.
    Put {
        /// The path, without a slash in front.
        path: String,
        /// The body.
        body: Value,
    },
    /// Somebody else changes the thing with this id.
    Bump(String),
    /// A write of another contract is applied.
    Write {
        /// The tool.
        tool: ToolRef,
        /// Its arguments.
        args: Value,
    },
}

/// What is done.
#[derive(Clone, PartialEq, Debug)]
pub struct When {
    /// The tool.
    pub tool: ToolRef,
    /// The arguments.
    pub args: Value,
    /// How often the very same request is sent.
    pub times: u32,
    /// Whether the status is asked for afterwards, until it says what happened.
    pub ask_status: bool,
}

/// What a call or write comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Refused before anything was sent.
    Refused,
    /// A read was answered.
    Answered,
    /// A write is proven.
    Succeeded,
    /// A declared error.
    Failed,
    /// A declared error without effect, after which the same may be sent again.
    TryAgain,
    /// Some of it.
    Partial,
    /// The service goes on working.
    Accepted,
    /// Nobody knows.
    Unknown,
}

/// What must come of it. What is not said is not looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Then {
    /// The outcome.
    pub outcome: Outcome,
    /// The code.
    pub code: Option<String>,
    /// Pointers of a refusal.
    pub at: Vec<String>,
    /// Effects in the ledger, of this case alone.
    pub effects: Option<u32>,
    /// Pointers into the answer, and what stands there.
    pub answer: Vec<(String, Value)>,
}

const OUTCOMES: [(&str, Outcome); 8] = [
    ("refused", Outcome::Refused),
    ("answered", Outcome::Answered),
    ("succeeded", Outcome::Succeeded),
    ("failed", Outcome::Failed),
    ("try_again", Outcome::TryAgain),
    ("partial", Outcome::Partial),
    ("accepted", Outcome::Accepted),
    ("unknown", Outcome::Unknown),
];

impl Outcome {
    /// As written in a case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        OUTCOMES.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

/// Loads `**/*.cases.yaml` below a directory.
///
/// # Errors
/// Every finding of every file, sorted by place.
pub fn load(dir: &Path, catalog: &Catalog) -> Result<Vec<CaseFile>, Vec<Finding>> {
    let (mut findings, mut paths, mut files) = (Findings::default(), Vec::new(), Vec::new());
    collect(dir, SUFFIX, 0, &mut paths, &mut findings);
    paths.sort();
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let file = path.display().to_string();
                files.extend(read::parse(&file, &text, catalog, &mut findings));
            }
            Err(error) => unreadable(&path, &format!("cannot be read: {error}"), &mut findings),
        }
    }
    if findings.is_empty() { Ok(files) } else { Err(findings.into_sorted()) }
}

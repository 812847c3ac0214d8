//! What a run of the kit found: one line per question, with a verdict that says no more than was proven.

use serde::Serialize;
use serde_json::Value;

/// What came of one check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not apply to this contract.
    NotAsked,
    /// Nothing speaks against it, and nothing proves it.
    Unproven,
    /// It does not hold.
    Failed,
}

/// Which part of the kit asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Inputs that must pass.
    Input,
    /// Inputs just outside a boundary, which must be refused.
    Boundary,
    /// The questions to the service.
    Service,
    /// The owner's cases.
    Case,
}

impl Part {
    /// All of them, in the order of a report.
    pub const ALL: [Part; 4] = [Part::Input, Part::Boundary, Part::Service, Part::Case];

    /// For people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Part::Input => "inputs",
            Part::Boundary => "boundaries",
            Part::Service => "service",
            Part::Case => "cases",
        }
    }
}

/// One check.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// Which part asked.
    pub part: Part,
    /// What was asked.
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, in words; never holds a value that a service or a caller sent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What to do; empty where nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Check {
    /// It holds.
    #[must_use]
    pub fn passed(part: Part, name: impl Into<String>, detail: impl Into<String>) -> Check {
        Check::new(part, name, Verdict::Passed, detail, "")
    }

    /// It does not hold.
    #[must_use]
    pub fn failed(
        part: Part,
        name: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Check {
        Check::new(part, name, Verdict::Failed, detail, remedy)
    }

    /// Nothing proves it.
    #[must_use]
    pub fn unproven(
        part: Part,
        name: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Check {
        Check::new(part, name, Verdict::Unproven, detail, remedy)
    }

    /// It does not apply.
    #[must_use]
    pub fn not_asked(part: Part, name: impl Into<String>, detail: impl Into<String>) -> Check {
        Check::new(part, name, Verdict::NotAsked, detail, "")
    }

    fn new(
        part: Part,
        name: impl Into<String>,
        verdict: Verdict,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Check {
        Check { part, name: name.into(), verdict, detail: detail.into(), remedy: remedy.into() }
    }
}

/// Everything about one contract.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ToolReport {
    /// `name.vN`.
    pub tool: String,
    /// `major.minor`.
    pub version: String,
    /// The fingerprint that was tested.
    pub fingerprint: String,
    /// How many boundaries its input declares.
    pub boundaries: usize,
    /// Where it was tried; none for the offline part alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The checks.
    pub checks: Vec<Check>,
}

impl ToolReport {
    /// How many checks have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }
}

/// Everything.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Per contract, in the order of the catalog.
    pub tools: Vec<ToolReport>,
}

impl Report {
    /// How many checks have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tools.iter().map(|tool| tool.count(verdict)).sum()
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.count(Verdict::Failed) == 0
    }

    /// As an object for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "passed": self.is_good(),
            "counts": {
                "passed": self.count(Verdict::Passed),
                "failed": self.count(Verdict::Failed),
                "unproven": self.count(Verdict::Unproven),
                "not_asked": self.count(Verdict::NotAsked),
            },
            "tools": self.tools,
        })
    }
}

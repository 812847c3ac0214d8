//! Cases beside a policy table: facts of a write, and what the table must say of it. Owns the format, which is as closed
//! as that of contracts, and the comparison. Everything is judged offline.

mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Given, Table};
use crate::contracts::Finding;
use crate::domain::principal::Assurance;
use crate::ports::Ruling;

/// Its name beside `daemon.toml`.
pub const DEFAULT_CASES: &str = "policy.cases.yaml";

/// One file.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseFile {
    /// What the cases are about.
    pub about: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The facts.
    pub given: Given,
    /// What the table must say.
    pub then: Then,
}

/// What the table must say. What is not said is not looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Then {
    /// The verdict of all rules together.
    pub verdict: Verdict,
    /// All rules that match, and no other one.
    pub rules: Option<BTreeSet<String>>,
}

/// A verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// By this rule; `(none)` where none matches.
    Deny(String),
    /// By these.
    Approve(Asked),
    /// By nobody.
    Allow,
}

/// Who must be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// The least number of distinct persons.
    pub persons: Option<u32>,
    /// How many of which groups, and of no other one.
    pub groups: Option<BTreeMap<String, u32>>,
    /// How surely they must be known.
    pub assurance: Option<Assurance>,
    /// Whether each needs a reason.
    pub reason_required: Option<bool>,
    /// Who cannot be one of them.
    pub excluded: Option<BTreeSet<String>>,
}

impl CaseFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Every finding, with its place.
    pub fn load(path: &Path) -> Result<CaseFile, Vec<Finding>> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => read::parse(&file, &text),
            Err(error) => Err(read::unreadable(&file, &error)),
        }
    }
}

impl Case {
    /// What does not hold; nothing where all of it does.
    #[must_use]
    pub fn differences(&self, table: &Table) -> Vec<String> {
        let ruling = table.judge_given(&self.given);
        let mut differences = Vec::new();
        match (&self.then.verdict, &ruling.refused) {
            (Verdict::Deny(rule), Some(_)) => {
                let denies = |name: &str| {
                    ruling.matched.iter().any(|matched| matched.rule == name && matched.says == "deny")
                };
                let none = rule == NONE && ruling.matched.is_empty();
                if !none && !denies(rule) {
                    differences.push(format!("it is denied, and not by `{rule}`"));
                }
            }
            (Verdict::Approve(asked), None) if ruling.requirement.asks_somebody() => {
                asked.compare(&ruling, &mut differences);
            }
            (Verdict::Allow, None) if !ruling.requirement.asks_somebody() => {}
            (Verdict::Deny(_) | Verdict::Approve(_) | Verdict::Allow, _) => {
                differences.push(format!("it comes to {}", word_of(&ruling)));
            }
        }
        let matched: BTreeSet<&str> = ruling.matched.iter().map(|matched| matched.rule.as_str()).collect();
        let wanted =
            self.then.rules.as_ref().map(|rules| rules.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let other_rules = wanted.is_some_and(|wanted| wanted != matched);
        if other_rules || !differences.is_empty() {
            let matched = if matched.is_empty() { vec!["none"] } else { matched.into_iter().collect() };
            differences.push(format!("matching rules: {}", matched.join(", ")));
        }
        differences
    }
}

/// The name of a denial because no rule matches.
pub(super) const NONE: &str = "(none)";

fn word_of(ruling: &Ruling) -> String {
    match &ruling.refused {
        Some(refused) => format!("deny, by `{}`", refused.rule),
        None if ruling.requirement.asks_somebody() => {
            let needed: Vec<String> = ruling.requirement.needed.iter().map(ToString::to_string).collect();
            format!("approve, by {}", needed.join(" and "))
        }
        None => "allow".to_owned(),
    }
}

impl Asked {
    fn compare(&self, ruling: &Ruling, differences: &mut Vec<String>) {
        let requirement = &ruling.requirement;
        let persons = requirement.persons();
        if let Some(wanted) = self.persons.filter(|wanted| *wanted != persons) {
            differences.push(format!("persons: {persons} and not {wanted}"));
        }
        let in_groups =
            requirement.needed.iter().filter_map(|needed| Some((needed.group.clone()?, needed.count)));
        let groups: BTreeMap<String, u32> = in_groups.collect();
        if self.groups.as_ref().is_some_and(|wanted| *wanted != groups) {
            let shown: Vec<String> =
                groups.iter().map(|(group, count)| format!("{count} of {group}")).collect();
            let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
            differences.push(format!("groups: {shown}"));
        }
        if self.assurance.is_some_and(|wanted| wanted != requirement.assurance) {
            differences.push(format!("assurance: {}", requirement.assurance.as_str()));
        }
        if self.reason_required.is_some_and(|wanted| wanted != requirement.reason_required) {
            differences.push(format!("reason_required: {}", requirement.reason_required));
        }
        let excluded: BTreeSet<String> = requirement.exclude.iter().cloned().collect();
        if self.excluded.as_ref().is_some_and(|wanted| *wanted != excluded) {
            let shown: Vec<String> = excluded.into_iter().collect();
            let shown = if shown.is_empty() { "nobody".to_owned() } else { shown.join(", ") };
            differences.push(format!("excluded: {shown}"));
        }
    }
}

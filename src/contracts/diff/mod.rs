//! What a new version of a contract changes for those who use it: nothing, something that they need not care about
//! (minor), or something that they rely on (major). Compares stored bodies; whatever is not known to be compatible is
//! major.

mod schema;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use self::schema::Side;
use self::table::{Rule, rule_of};
use super::contract::Contract;
use super::finding::child;

/// How much a change is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Nothing changed.
    None,
    /// Callers need not care.
    Minor,
    /// Callers rely on it: a new major version.
    Major,
}

impl ChangeKind {
    /// As written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeKind::None => "none",
            ChangeKind::Minor => "minor",
            ChangeKind::Major => "major",
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One thing that changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ContractChange {
    /// How much it is.
    pub kind: ChangeKind,
    /// Where, as a JSON pointer into the contract.
    pub pointer: String,
    /// What, and why that matters.
    pub why: String,
}

/// All changes of a contract.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ContractDiff {
    /// Line by line, the largest first.
    pub changes: Vec<ContractChange>,
}

impl ContractDiff {
    /// What changed from one contract to another. The version is not a change by itself.
    #[must_use]
    pub fn between(old: &Contract, new: &Contract) -> ContractDiff {
        let read = |contract: &Contract| serde_json::from_slice(contract.body()).unwrap_or(Value::Null);
        ContractDiff::of(&read(old), &read(new))
    }

    fn of(old: &Value, new: &Value) -> ContractDiff {
        let mut diff = ContractDiff::default();
        for name in keys(old, new) {
            let at = child("", name);
            match (name, old.get(name), new.get(name)) {
                ("version", ..) => {}
                ("input", Some(old), Some(new)) => schema::compare(old, new, &at, Side::Input, &mut diff),
                ("output", Some(old), Some(new)) => schema::compare(old, new, &at, Side::Output, &mut diff),
                ("errors", old, new) => errors(old, new, &mut diff),
                (_, old, new) => values(old, new, &at, &mut diff),
            }
        }
        diff.changes.sort_by(|a, b| b.kind.cmp(&a.kind).then_with(|| a.pointer.cmp(&b.pointer)));
        diff.changes.dedup();
        diff
    }

    /// The largest of all changes.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        self.changes.iter().map(|change| change.kind).max().unwrap_or(ChangeKind::None)
    }

    fn add(&mut self, kind: ChangeKind, pointer: &str, why: impl Into<String>) {
        self.changes.push(ContractChange { kind, pointer: pointer.to_owned(), why: why.into() });
    }
}

/// The keys of either.
fn keys<'v>(old: &'v Value, new: &'v Value) -> BTreeSet<&'v str> {
    [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys).map(String::as_str).collect()
}

/// Everything but schemas and error tables, by the table.
fn values(old: Option<&Value>, new: Option<&Value>, at: &str, diff: &mut ContractDiff) {
    if old == new {
        return;
    }
    let block = |side: Option<&Value>| side.is_none_or(Value::is_object);
    let inside = keys(old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null));
    if block(old) && block(new) && !inside.is_empty() {
        if new.is_none() && at == "/redact" {
            diff.add(ChangeKind::Major, at, "gone: what was hidden is shown");
        }
        // A block that is not there is one without members.
        for name in inside {
            values(
                old.and_then(|old| old.get(name)),
                new.and_then(|new| new.get(name)),
                &child(at, name),
                diff,
            );
        }
        return;
    }
    let what = match (old, new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "changed",
    };
    let (rule, why) = rule_of(at);
    let kind = match rule {
        Rule::Always(kind) => kind,
        Rule::NotLess => match (old.and_then(table::measure), new.and_then(table::measure)) {
            (Some(before), Some(after)) if after >= before => ChangeKind::Minor,
            _ => ChangeKind::Major,
        },
        Rule::NotMore => match (old.and_then(table::measure), new.and_then(table::measure)) {
            (Some(before), Some(after)) if after <= before => ChangeKind::Minor,
            _ => ChangeKind::Major,
        },
    };
    diff.add(kind, at, format!("{what}: {why}"));
}

/// A line of the error table is known by what it matches.
fn errors(old: Option<&Value>, new: Option<&Value>, diff: &mut ContractDiff) {
    let lines = |table: Option<&Value>| table.and_then(Value::as_array).cloned().unwrap_or_default();
    let (old, new) = (lines(old), lines(new));
    let same = |a: &Value, b: &Value| a.get("status") == b.get("status") && a.get("body") == b.get("body");
    let shown = |line: &Value| {
        let body = line.get("body").map(|body| format!(" {body}")).unwrap_or_default();
        format!("{}{body}", line.get("status").unwrap_or(&Value::Null))
    };
    for (i, line) in old.iter().enumerate() {
        match new.iter().position(|other| same(line, other)) {
            None => {
                let why = format!("gone: the answer {} becomes ambiguous", shown(line));
                diff.add(ChangeKind::Major, &format!("/errors/{i}"), why);
            }
            Some(now) => {
                for name in
                    keys(line, &new[now]).into_iter().filter(|name| line.get(name) != new[now].get(name))
                {
                    let why = format!("changed: the answer {} means something else", shown(line));
                    diff.add(ChangeKind::Major, &format!("/errors/{now}/{name}"), why);
                }
            }
        }
    }
    for (i, line) in new.iter().enumerate() {
        if !old.iter().any(|other| same(line, other)) {
            let before =
                new[i + 1..].iter().any(|later| overlap(line, later) && old.iter().any(|o| same(o, later)));
            let (kind, why) = if before {
                (ChangeKind::Major, "fitted a later line before")
            } else {
                (ChangeKind::Minor, "was ambiguous before")
            };
            diff.add(kind, &format!("/errors/{i}"), format!("new: the answer {} {why}", shown(line)));
        }
    }
    let place = |line: &Value| new.iter().position(|other| same(line, other));
    for (i, first) in old.iter().enumerate() {
        for second in old[i + 1..].iter().filter(|second| overlap(first, second)) {
            if let (Some(first), Some(now)) = (place(first), place(second))
                && now < first
            {
                let why = format!("moved: the answer {} fitted an earlier line", shown(second));
                diff.add(ChangeKind::Major, &format!("/errors/{now}"), why);
            }
        }
    }
}

/// Whether one answer, or one error that a status reports, can fit both lines: then the first of them counts.
fn overlap(one: &Value, other: &Value) -> bool {
    let body = |line: &Value| -> BTreeMap<String, Value> {
        let members = line.get("body").and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, value)| (name.trim_start_matches('/').to_owned(), value.clone())).collect()
    };
    let (first, second) = (body(one), body(other));
    let fits = first.iter().all(|(name, value)| second.get(name).is_none_or(|other| other == value));
    // A status is asked for by what the body says alone.
    fits && (one.get("status") == other.get("status") || !first.is_empty() && !second.is_empty())
}

#[cfg(test)]
mod tests;

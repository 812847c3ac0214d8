//! What a change of a schema means: an input may only take more than before, an output may only say less than it could.
//! References are followed on both sides, each pair of schemas once.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::ChangeKind::{Major, Minor};
use super::{ContractDiff, keys};
use crate::contracts::finding::child;
use crate::contracts::schema::{constant, tag_of};
use crate::contracts::units::Pointer;

/// Which way the values go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// Callers make them.
    Input,
    /// Callers read them.
    Output,
}

const UPPER: &[&str] =
    &["maxLength", "maxItems", "maximum", "exclusiveMaximum", "maxProperties", "maxContains"];
const LOWER: &[&str] =
    &["minLength", "minItems", "minimum", "exclusiveMinimum", "minProperties", "minContains"];
/// Keywords that say nothing about which values pass.
const WORDS: &[&str] = &["title", "description", "examples", "$comment", "$schema", "deprecated"];
/// Keywords that say what a value means: another meaning is another value.
const MEANING: &[&str] = &["x-unit", "x-currency", "x-kind", "x-offset"];
/// References followed one after the other: more than the limits of a schema allow.
const MAX_REFS: usize = 64;
/// Keywords that are compared on their own.
const OWN: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "items",
    "prefixItems",
    "oneOf",
    "anyOf",
    "allOf",
    "default",
];

pub(super) fn compare(old: &Value, new: &Value, at: &str, side: Side, diff: &mut ContractDiff) {
    let mut walk = Walk { roots: (old, new), side, diff, seen: HashSet::new() };
    walk.schema(old, new, at);
}

struct Walk<'a, 'd> {
    roots: (&'a Value, &'a Value),
    side: Side,
    diff: &'d mut ContractDiff,
    seen: HashSet<(*const Value, *const Value)>,
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn names(value: Option<&Value>) -> BTreeSet<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

/// The types of a schema, or of the values that it lists; `number` holds the whole ones too. Nothing means all.
fn types(schema: &Value) -> Option<BTreeSet<&str>> {
    let mut types: BTreeSet<&str> = match schema.get("type") {
        Some(Value::String(one)) => [one.as_str()].into(),
        Some(many) => names(Some(many)),
        None => values(schema)?.into_iter().map(type_of).collect(),
    };
    if types.contains("number") {
        types.insert("integer");
    }
    Some(types)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Where a reference leads.
fn follow<'v>(root: &'v Value, schema: &'v Value) -> Option<&'v Value> {
    let pointer: Pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?.parse().ok()?;
    pointer.of(root)
}

/// The schemas that a value must pass one behind the other: what stands beside a reference, and what it leads to.
fn chain<'v>(root: &'v Value, schema: &'v Value) -> Vec<&'v Value> {
    let parts = std::iter::successors(Some(schema), |schema| follow(root, schema));
    parts.take(MAX_REFS).collect()
}

/// The parts of a chain that say something.
fn telling<'v>(chain: &[&'v Value]) -> Vec<&'v Value> {
    let quiet = |key: &String| {
        WORDS.contains(&key.as_str()) || matches!(key.as_str(), "$ref" | "$defs" | "definitions")
    };
    let mut parts = chain.to_vec();
    parts.retain(|part| part.as_object().is_none_or(|members| !members.keys().all(quiet)));
    parts
}

/// Whether all references inside a value lead to the same on both sides.
fn leads_alike<'v>(
    roots: (&'v Value, &'v Value),
    value: &'v Value,
    seen: &mut HashSet<*const Value>,
) -> bool {
    if !seen.insert(std::ptr::from_ref(value)) {
        return true;
    }
    let here = match (follow(roots.0, value), follow(roots.1, value)) {
        (Some(old), Some(new)) => old == new && leads_alike(roots, old, seen),
        (None, None) => true,
        _ => false,
    };
    here && match value {
        Value::Object(members) => members.values().all(|member| leads_alike(roots, member, seen)),
        Value::Array(items) => items.iter().all(|item| leads_alike(roots, item, seen)),
        _ => true,
    }
}

/// The values that a schema lists, if it lists any.
fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(many)) => Some(list(Some(many)).iter().collect()),
        (None, None) => None,
    }
}

impl<'a> Walk<'a, '_> {
    /// Fewer values pass than before.
    fn narrower(&mut self, at: &str, why: &str) {
        let kind = if self.side == Side::Input { Major } else { Minor };
        self.diff.add(kind, at, format!("narrower: {why}"));
    }

    /// More values pass than before.
    fn wider(&mut self, at: &str, why: &str) {
        let kind = if self.side == Side::Input { Minor } else { Major };
        self.diff.add(kind, at, format!("wider: {why}"));
    }

    fn schema(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        if !self.seen.insert((std::ptr::from_ref(old), std::ptr::from_ref(new))) {
            return;
        }
        let (before, after) = (chain(self.roots.0, old), chain(self.roots.1, new));
        let (parts, others) = (telling(&before), telling(&after));
        if parts.len() == others.len() {
            parts.into_iter().zip(others).for_each(|(old, new)| self.part(old, new, at));
        } else if parts.is_empty() || others.is_empty() {
            let nothing: &'static Value = &Value::Null;
            let one = |parts: &[&'a Value]| parts.first().copied().unwrap_or(nothing);
            parts.iter().skip(1).chain(others.iter().skip(1)).for_each(|_| self.other(at));
            self.part(one(&parts), one(&others), at);
        } else {
            self.other(at);
        }
        for (old, new) in before.into_iter().zip(after) {
            WORDS.iter().for_each(|key| self.keyword(key, old.get(*key), new.get(*key), &child(at, key)));
        }
    }

    fn other(&mut self, at: &str) {
        let why = "another chain of references: they cannot be compared one by one";
        self.diff.add(Major, &child(at, "$ref"), why);
    }

    /// One schema without what it refers to.
    fn part(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        if (old.is_boolean() || new.is_boolean()) && old != new {
            return self.diff.add(Major, at, "changed: whether anything passes at all");
        }
        self.types(old, new, at);
        self.listed(old, new, at);
        self.required(old, new, at);
        self.members(old, new, at);
        match (old.get("items"), new.get("items")) {
            (Some(before), Some(after)) => self.schema(before, after, &child(at, "items")),
            (None, Some(_)) => self.narrower(&child(at, "items"), "items are declared now"),
            (Some(_), None) => self.wider(&child(at, "items"), "items are not declared any more"),
            (None, None) => {}
        }
        for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
            self.branches(old, new, key, at);
        }
        if old.get("default") != new.get("default") {
            let kind = if self.side == Side::Input { Major } else { Minor };
            self.diff.add(kind, &child(at, "default"), "changed: what stands for an absent value");
        }
        for key in keys(old, new).into_iter().filter(|key| !OWN.contains(key)) {
            self.keyword(key, old.get(key), new.get(key), &child(at, key));
        }
    }

    fn types(&mut self, old: &Value, new: &Value, at: &str) {
        let at = child(at, "type");
        match (types(old), types(new)) {
            (Some(before), Some(after)) => {
                for gone in before.difference(&after) {
                    self.narrower(&at, &format!("{gone} is not taken any more"));
                }
                for more in after.difference(&before) {
                    self.wider(&at, &format!("{more} is possible now"));
                }
            }
            (Some(_), None) => self.wider(&at, "any type is possible now"),
            (None, Some(_)) => self.narrower(&at, "not every type is taken any more"),
            (None, None) => {}
        }
    }

    fn listed(&mut self, old: &Value, new: &Value, at: &str) {
        let at = child(at, "enum");
        match (values(old), values(new)) {
            (Some(before), Some(after)) => {
                for gone in before.iter().filter(|value| !after.contains(value)) {
                    // Whoever acts on it waits for it in vain, whichever way it goes.
                    self.diff.add(Major, &at, format!("the value {gone} is gone"));
                }
                for more in after.iter().filter(|value| !before.contains(value)) {
                    self.wider(&at, &format!("the value {more} is new"));
                }
            }
            (None, Some(_)) => self.narrower(&at, "only listed values pass now"),
            (Some(_), None) => self.wider(&at, "values are not listed any more"),
            (None, None) => {}
        }
    }

    fn required(&mut self, old: &Value, new: &Value, at: &str) {
        let at = child(at, "required");
        let (before, after) = (names(old.get("required")), names(new.get("required")));
        for name in after.difference(&before) {
            self.narrower(&at, &format!("`{name}` is newly required"));
        }
        for name in before.difference(&after) {
            self.wider(&at, &format!("`{name}` is not required any more"));
        }
    }

    fn members(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        let (Some(before), Some(after)) = (old.get("properties"), new.get("properties")) else {
            match (old.get("properties"), new.get("properties")) {
                (None, Some(_)) => self.narrower(&child(at, "properties"), "members are declared now"),
                (Some(_), None) => {
                    self.diff.add(Major, &child(at, "properties"), "members are not declared any more");
                }
                _ => {}
            }
            return;
        };
        for name in keys(before, after) {
            let place = child(&child(at, "properties"), name);
            match (before.get(name), after.get(name)) {
                (Some(before), Some(after)) => self.schema(before, after, &place),
                (Some(_), None) => self.diff.add(Major, &place, format!("the member `{name}` is gone")),
                (None, _) => self.diff.add(Minor, &place, format!("the member `{name}` is new")),
            }
        }
    }

    /// Alternatives are the same if their tag is; without a tag, if they stand at the same place.
    fn branches(&mut self, old: &'a Value, new: &'a Value, key: &str, at: &str) {
        let (before, after) = (list(old.get(key)), list(new.get(key)));
        let at = child(at, key);
        let tag =
            tag_of(self.roots.0, before).filter(|tag| Some(tag) == tag_of(self.roots.1, after).as_ref());
        let Some(name) = tag.and_then(|tag| tag.member().map(str::to_owned)).filter(|_| key != "allOf")
        else {
            if before.len() != after.len() {
                return self.diff.add(
                    Major,
                    &at,
                    "another number of parts: they cannot be compared one by one",
                );
            }
            for (i, (before, after)) in before.iter().zip(after).enumerate() {
                self.schema(before, after, &child(&at, &i.to_string()));
            }
            return;
        };
        let roots = self.roots;
        for (i, branch) in after.iter().enumerate() {
            let wanted = constant(roots.1, branch, &name);
            let place = child(&at, &i.to_string());
            match before.iter().find(|other| constant(roots.0, other, &name) == wanted) {
                Some(other) => self.schema(other, branch, &place),
                None => self.wider(&place, "an alternative is new"),
            }
        }
        let kept: Vec<_> = after.iter().map(|branch| constant(roots.1, branch, &name)).collect();
        for branch in before.iter().filter(|branch| !kept.contains(&constant(roots.0, branch, &name))) {
            let tag = constant(roots.0, branch, &name).map(ToString::to_string).unwrap_or_default();
            self.diff.add(Major, &at, format!("the alternative `{name}` = {tag} is gone"));
        }
    }

    fn keyword(&mut self, key: &str, old: Option<&'a Value>, new: Option<&'a Value>, at: &str) {
        if old == new {
            if old.is_some_and(|value| !leads_alike(self.roots, value, &mut HashSet::new())) {
                self.diff.add(Major, at, "changed: what a reference inside it leads to");
            }
            return;
        }
        if MEANING.contains(&key) {
            return self.diff.add(Major, at, "changed: what the value means");
        }
        if WORDS.contains(&key) || key.starts_with("x-") {
            return self.diff.add(Minor, at, "changed: says nothing about which values pass");
        }
        // Without it, one must be there.
        let silent = (key == "minContains").then_some(1.0);
        let number = |value: Option<&Value>| value.map_or(silent, Value::as_f64);
        let order = match (number(old), number(new)) {
            (Some(before), Some(after)) => before.partial_cmp(&after),
            _ => None,
        };
        let (grows, upper, lower) = (order, UPPER.contains(&key), LOWER.contains(&key));
        match (old, new) {
            _ if silent.is_some() && grows == Some(std::cmp::Ordering::Equal) => {}
            (None, Some(_)) if silent.is_none() => self.narrower(at, "a bound is new"),
            (Some(_), None) if silent.is_none() => self.wider(at, "a bound is gone"),
            _ if upper && grows == Some(std::cmp::Ordering::Less) => {
                self.wider(at, "the upper bound was raised")
            }
            _ if upper && grows == Some(std::cmp::Ordering::Greater) => {
                self.narrower(at, "the upper bound was lowered");
            }
            _ if lower && grows == Some(std::cmp::Ordering::Less) => {
                self.narrower(at, "the lower bound was raised")
            }
            _ if lower && grows == Some(std::cmp::Ordering::Greater) => {
                self.wider(at, "the lower bound was lowered")
            }
            _ => self.diff.add(Major, at, "changed: not known to be compatible"),
        }
    }
}

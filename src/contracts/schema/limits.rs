//! How large a schema may be, looked at before anything compiles it: its text, its depth, its references, how many
//! alternatives stand side by side, and references that come back to themselves without going into the value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::graph::Graph;
use crate::contracts::finding::{FindingCode, Findings, child};

/// Bytes of one schema as compact JSON; the whole contract has 256 KiB.
const MAX_BYTES: usize = 128 * 1024;
/// Schemas inside schemas.
const MAX_NESTING: usize = 32;
/// Schemas in all.
const MAX_SCHEMAS: usize = 2_000;
/// `$ref` in all.
const MAX_REFS: usize = 500;
/// Alternatives or parts side by side in one `oneOf`, `anyOf` or `allOf`.
const MAX_BRANCHES: usize = 64;
/// Members of one object.
const MAX_MEMBERS: usize = 256;
/// Values of one `enum`.
const MAX_VALUES: usize = 4_096;
/// Schemas that look at one value one behind the other: each costs a checker a part of its stack.
const MAX_CHAIN: usize = 16;

/// Adds a finding for everything beyond the limits. Whatever passes can be compiled and walked.
pub(super) fn limits(root: &Value, at: &str, findings: &mut Findings) {
    let before = findings.len();
    let bytes = serde_json::to_vec(root).map_or(usize::MAX, |text| text.len());
    if bytes > MAX_BYTES {
        let message = format!("the schema has {bytes} bytes; the limit is {MAX_BYTES}");
        findings.add(FindingCode::SchemaTooLarge, at, message, "split the tool, or name less");
        return;
    }
    let mut walk = Walk { findings: &mut *findings, schemas: 0, refs: 0 };
    walk.schema(root, at, 0);
    let (schemas, refs) = (walk.schemas, walk.refs);
    for (count, limit, what) in [(schemas, MAX_SCHEMAS, "schemas"), (refs, MAX_REFS, "references")] {
        if count > limit {
            let message = format!("there are {count} {what} inside; the limit is {limit}");
            findings.add(FindingCode::SchemaTooLarge, at, message, "split the tool, or name less");
        }
    }
    if findings.len() == before {
        let graph = Graph::of(root);
        for (pointer, target) in graph.strays() {
            let message = format!("`{target}` is no place where a schema stands");
            let place = format!("{at}{pointer}/$ref");
            findings.add(FindingCode::UnresolvedRef, place, message, "define it in `$defs`");
        }
        chains(&graph, at, findings);
    }
}

struct Walk<'f> {
    findings: &'f mut Findings,
    schemas: usize,
    refs: usize,
}

impl Walk<'_> {
    fn add(&mut self, at: &str, message: String, remedy: &str) {
        self.findings.add(FindingCode::SchemaTooLarge, at, message, remedy);
    }

    fn many(&mut self, at: &str, count: usize, limit: usize, what: &str) {
        if count > limit {
            self.add(
                at,
                format!("{count} {what} stand side by side; the limit is {limit}"),
                "split the tool",
            );
        }
    }

    fn schema(&mut self, schema: &Value, at: &str, nesting: usize) {
        let Some(members) = schema.as_object() else { return };
        self.schemas += 1;
        if nesting > MAX_NESTING {
            let message = format!("schemas are nested deeper than {MAX_NESTING} levels");
            return self.add(at, message, "move inner ones into `$defs`");
        }
        for (key, value) in members {
            let place = child(at, key);
            match (key.as_str(), value) {
                ("$ref" | "$dynamicRef", _) => self.refs += 1,
                ("enum", Value::Array(values)) => self.many(&place, values.len(), MAX_VALUES, "values"),
                ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                    self.many(&place, all.len(), MAX_BRANCHES, "alternatives");
                    for (i, one) in all.iter().enumerate() {
                        self.schema(one, &child(&place, &i.to_string()), nesting + 1);
                    }
                }
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(all)) => {
                    self.many(&place, all.len(), MAX_MEMBERS, "members");
                    for (name, one) in all {
                        self.schema(one, &child(&place, name), nesting + 1);
                    }
                }
                ("$defs" | "definitions", Value::Object(all)) => {
                    for (name, one) in all {
                        self.schema(one, &child(&place, name), nesting + 1);
                    }
                }
                (
                    "items"
                    | "contains"
                    | "additionalProperties"
                    | "unevaluatedProperties"
                    | "unevaluatedItems"
                    | "propertyNames"
                    | "not"
                    | "if"
                    | "then"
                    | "else",
                    one,
                ) => self.schema(one, &place, nesting + 1),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Open,
    /// With the longest chain that begins here.
    Done(usize),
}

/// Finds schemas that apply themselves to the same value (`A: { allOf: [A] }` never ends), and chains that are too long.
fn chains(graph: &Graph, at: &str, findings: &mut Findings) {
    let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
    for start in 0..graph.len() {
        if seen.contains_key(&start) {
            continue;
        }
        seen.insert(start, Seen::Open);
        // A walk with a stack of its own: each step is a schema and the next of its parts to look at.
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(part) = graph.here(node).get(next).copied() else {
                seen.insert(node, Seen::Done(1 + longest(graph.here(node), &seen)));
                continue;
            };
            stack.push((node, next + 1));
            match seen.get(&part) {
                None => {
                    seen.insert(part, Seen::Open);
                    stack.push((part, 0));
                }
                Some(Seen::Done(_)) => {}
                Some(Seen::Open) => {
                    let place = format!("{at}{}", graph.pointer(node));
                    let message = "this applies itself to the same value again, without end";
                    let remedy = "put a member or an item between the two";
                    findings.add(FindingCode::EndlessReference, place, message, remedy);
                    return;
                }
            }
        }
    }
    let long = seen.iter().find(|(_, seen)| matches!(seen, Seen::Done(length) if *length > MAX_CHAIN));
    if let Some((node, _)) = long {
        let place = format!("{at}{}", graph.pointer(*node));
        let message = format!("more than {MAX_CHAIN} schemas look at one value one behind the other");
        findings.add(FindingCode::SchemaTooLarge, place, message, "refer to the last one directly");
    }
}

fn longest(parts: &[usize], seen: &BTreeMap<usize, Seen>) -> usize {
    let length = |part: &usize| match seen.get(part) {
        Some(Seen::Done(length)) => *length,
        Some(Seen::Open) | None => 0,
    };
    parts.iter().map(length).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_limits_are_the_real_ones() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/contracts.md");
        let page: Vec<String> =
            std::fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect();
        let page = page.join(" ");
        for said in [
            format!("{} KiB, {MAX_NESTING} schemas inside one another", MAX_BYTES / 1024),
            format!("{MAX_SCHEMAS} in all, {MAX_REFS} references, {MAX_BRANCHES} alternatives side by side"),
            format!("{MAX_MEMBERS} members, {MAX_VALUES} values of an `enum`, {MAX_CHAIN} schemas"),
        ] {
            assert!(page.contains(&said), "docs/contracts.md does not say: {said}");
        }
    }
}

//! What a check may cost. Alternatives inside alternatives double the work at every level of a value, so that a small
//! schema and a small value can keep a thread busy for years. The steps are counted beforehand, each pair of schema and
//! part of the value once; a value that would cost more than the budget is refused without being looked at.

use std::collections::HashMap;

use serde_json::Value;

use super::graph::{Down, Graph};

/// Schemas applied to parts of a value, in one check. A large answer against a large schema stays below a tenth of it.
const MAX_STEPS: u64 = 2_000_000;
/// Parts of a value: the limit for arguments and answers in bytes is stricter, this one holds for any caller.
const MAX_PARTS: u64 = 500_000;
/// Values are not nested deeper than their parser allows; below this nothing is checked.
const MAX_NESTING: usize = 128;

/// The budget of one schema.
#[derive(Debug)]
pub(super) struct Budget {
    graph: Graph,
    /// The most schemas that look at one place of any value, if that is bounded by the schema alone.
    widest: Option<u64>,
}

/// The value would cost more than it may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooCostly;

impl Budget {
    pub(super) fn of(schema: &Value) -> Budget {
        let graph = Graph::of(schema);
        let widest = widest(&graph);
        Budget { graph, widest }
    }

    /// Whether the value may be checked.
    pub(super) fn allows(&self, value: &Value) -> Result<(), TooCostly> {
        let parts = parts(value, 0).filter(|parts| *parts <= MAX_PARTS).ok_or(TooCostly)?;
        if self.widest.is_some_and(|widest| widest.saturating_mul(parts) <= MAX_STEPS) {
            return Ok(());
        }
        let mut count = Count { graph: &self.graph, known: HashMap::new() };
        if count.steps(0, value) <= MAX_STEPS { Ok(()) } else { Err(TooCostly) }
    }
}

/// Values inside the value, itself included; nothing if it is nested too deep.
fn parts(value: &Value, nesting: usize) -> Option<u64> {
    if nesting > MAX_NESTING {
        return None;
    }
    let mut sum = 1u64;
    match value {
        Value::Array(items) => {
            for item in items {
                sum = sum.saturating_add(parts(item, nesting + 1)?);
            }
        }
        Value::Object(members) => {
            for member in members.values() {
                sum = sum.saturating_add(parts(member, nesting + 1)?);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Some(sum)
}

/// How many schemas can look at one place, counted over the whole schema. Nothing where it refers to itself: then it
/// depends on the value.
fn widest(graph: &Graph) -> Option<u64> {
    fn visit(graph: &Graph, node: usize, known: &mut [Option<u64>], open: &mut [bool]) -> Option<u64> {
        if let Some(known) = known[node] {
            return Some(known);
        }
        if open[node] {
            return None;
        }
        open[node] = true;
        let mut sum = 1u64;
        for part in graph.here(node).iter().copied().chain(graph.down(node).iter().map(|(_, part)| *part)) {
            sum = sum.saturating_add(visit(graph, part, known, open)?);
        }
        open[node] = false;
        known[node] = Some(sum);
        Some(sum)
    }
    visit(graph, 0, &mut vec![None; graph.len()], &mut vec![false; graph.len()])
}

struct Count<'a> {
    graph: &'a Graph,
    /// The steps of a schema on a part of the value, which is known by its address: the value is borrowed throughout.
    known: HashMap<(usize, *const Value), u64>,
}

impl Count<'_> {
    fn steps(&mut self, node: usize, value: &Value) -> u64 {
        let pair = (node, std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if u64::try_from(self.known.len()).unwrap_or(u64::MAX) > MAX_STEPS {
            return u64::MAX;
        }
        let graph = self.graph;
        let mut sum = 1u64;
        for part in graph.here(node) {
            sum = sum.saturating_add(self.steps(*part, value));
        }
        for (down, part) in graph.down(node) {
            match (down, value) {
                (Down::Member(name), Value::Object(members)) => {
                    if let Some(member) = members.get(name) {
                        sum = sum.saturating_add(self.steps(*part, member));
                    }
                }
                (Down::Members, Value::Object(members)) => {
                    for member in members.values() {
                        sum = sum.saturating_add(self.steps(*part, member));
                    }
                }
                (Down::Item(number), Value::Array(items)) => {
                    if let Some(item) = items.get(*number) {
                        sum = sum.saturating_add(self.steps(*part, item));
                    }
                }
                (Down::Items, Value::Array(items)) => {
                    for item in items {
                        sum = sum.saturating_add(self.steps(*part, item));
                    }
                }
                _ => {}
            }
        }
        self.known.insert(pair, sum);
        sum
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each level of the value is looked at by both branches, which both look at the next level.
    fn doubling() -> Value {
        json!({"$ref": "#/$defs/e", "$defs": {"e": {"oneOf": [
            {"type": "object", "properties": {"args": {"items": {"$ref": "#/$defs/e"}}, "op": {"const": "and"}}},
            {"type": "object", "properties": {"args": {"items": {"$ref": "#/$defs/e"}}, "op": {"const": "or"}}}]}}})
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!({"op": "or"}), |inner, _| json!({"op": "or", "args": [inner]}))
    }

    #[test]
    fn a_value_that_would_take_years_is_refused_without_being_looked_at() {
        let budget = Budget::of(&doubling());
        assert_eq!(budget.widest, None);
        assert_eq!(budget.allows(&nested(8)), Ok(()));
        assert_eq!(budget.allows(&nested(40)), Err(TooCostly));
        let mut deep = Value::Null;
        for _ in 0..200 {
            deep = json!([deep]);
        }
        assert_eq!(budget.allows(&deep), Err(TooCostly));
    }

    #[test]
    fn doubling_by_references_is_counted_without_being_followed_twice() {
        let mut defs = serde_json::Map::new();
        for i in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            defs.insert(format!("d{i}"), json!({"allOf": [next, next]}));
        }
        defs.insert("d40".into(), json!({"type": "string"}));
        let budget = Budget::of(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
        assert_eq!(budget.allows(&json!("x")), Err(TooCostly));
    }

    #[test]
    fn ordinary_schemas_are_bounded_by_themselves_and_trees_by_their_values() {
        let flat = json!({"type": "object", "properties": {"a": {"items": {"type": "string"}}}});
        assert!(Budget::of(&flat).widest.is_some());
        let tree = json!({"$ref": "#/$defs/t", "$defs": {"t": {"properties": {
            "left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}}}}});
        let mut value = json!({});
        for _ in 0..12 {
            value = json!({"left": value, "right": value});
        }
        assert_eq!(Budget::of(&tree).allows(&value), Ok(()));
    }
}

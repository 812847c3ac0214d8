//! Which of the arguments are claims: what a person or a model says, and no service checks.

use serde_json::Value;

use super::deref;
use crate::contracts::finding::child;

/// Schemas that are looked into for one value: what is nested deeper has been refused as arguments.
const MAX_DEPTH: usize = 64;

/// JSON pointers of the claims in a value. Every branch of a choice is looked into: one claim too many makes nothing
/// easier.
pub(super) fn claims(root: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, root, value, "", MAX_DEPTH, &mut found);
    found.sort();
    found.dedup();
    found
}

fn says_claim(schema: &Value) -> bool {
    schema.get("x-kind").and_then(Value::as_str) == Some("claim")
}

fn walk(root: &Value, schema: &Value, value: &Value, at: &str, left: usize, found: &mut Vec<String>) {
    let meant = deref(root, schema);
    if says_claim(schema) || says_claim(meant) {
        found.push(at.to_owned());
        return;
    }
    let Some(left) = left.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            let properties = meant.get("properties").and_then(Value::as_object);
            for (name, member) in members {
                if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                    walk(root, schema, member, &child(at, name), left, found);
                }
            }
        }
        Value::Array(items) => {
            let first = meant.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = first.get(index).or(meant.get("items")) {
                    walk(root, schema, item, &child(at, &index.to_string()), left, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    let branches = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| meant.get(*key)?.as_array()).flatten();
    for branch in branches.chain(["if", "then", "else"].iter().filter_map(|key| meant.get(*key))) {
        walk(root, branch, value, at, left, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_are_found_in_members_items_references_and_branches() {
        let schema = json!({
            "$defs": {"said": {"type": "string", "x-kind": "claim"}},
            "properties": {
                "id": {"type": "string", "x-kind": "fact"},
                "why": {"$ref": "#/$defs/said"},
                "pair": {"prefixItems": [{"x-kind": "fact"}, {"x-kind": "claim"}], "items": {"x-kind": "claim"}},
                "lines": {"items": {"properties": {"a/b": {"x-kind": "claim"}, "n": {"x-kind": "fact"}}}},
                "more": {"oneOf": [{"properties": {"t": {"const": "x"}, "note": {"x-kind": "claim"}}}]},
            },
        });
        let value = json!({
            "id": "1", "why": "so", "lines": [{"n": 1}, {"a/b": "y", "n": 2}], "more": {"t": "x", "note": "z"},
            "pair": ["a", "b", "c"],
        });
        assert_eq!(claims(&schema, &value), ["/lines/1/a~1b", "/more/note", "/pair/1", "/pair/2", "/why"]);
        assert!(claims(&schema, &json!({"id": "1"})).is_empty());
    }
}

use serde_json::json;

use super::*;

fn kinds(old: &Value, new: &Value) -> Vec<String> {
    let diff = ContractDiff::of(old, new);
    diff.changes.iter().map(|change| format!("{} {} {}", change.kind, change.pointer, change.why)).collect()
}

fn schemas(side: &str, old: &Value, new: &Value) -> ChangeKind {
    ContractDiff::of(&json!({side: old}), &json!({side: new})).kind()
}

#[test]
fn nothing_but_another_version_is_no_change() {
    let (old, new) = (json!({"version": "1.0", "title": "a"}), json!({"version": "1.1", "title": "a"}));
    assert_eq!(ContractDiff::of(&old, &new).kind(), ChangeKind::None);
}

#[test]
fn what_callers_rely_on_is_major_and_is_named() {
    let old = json!({"effect": {"class": "write", "direct": ["a"]}, "retry": {"class": "never", "budget": "1m"},
        "service": {"name": "crm", "scope": "x"}, "idempotency": {"key_window": "24h"}, "title": "a"});
    for (pointer, value, kind) in [
        ("/effect/direct", json!(["a", "b"]), ChangeKind::Major),
        ("/effect/class", json!("read"), ChangeKind::Major),
        ("/retry/class", json!("idempotent"), ChangeKind::Major),
        ("/retry/budget", json!("2m"), ChangeKind::Minor),
        ("/service/scope", json!("y"), ChangeKind::Major),
        ("/idempotency/key_window", json!("48h"), ChangeKind::Minor),
        ("/idempotency/key_window", json!("1h"), ChangeKind::Major),
        ("/title", json!("b"), ChangeKind::Minor),
    ] {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = value;
        let diff = ContractDiff::of(&old, &new);
        assert_eq!((diff.kind(), diff.changes.len()), (kind, 1), "{pointer}");
        assert_eq!(diff.changes[0].pointer, pointer);
    }
    assert_eq!(ContractDiff::of(&json!({}), &json!({"unheard_of": 1})).kind(), ChangeKind::Major);
}

#[test]
fn an_input_may_take_more_and_an_output_may_say_less() {
    let text =
        |max: u32| json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": max}}});
    assert_eq!(schemas("input", &text(5), &text(9)), ChangeKind::Minor);
    assert_eq!(schemas("input", &text(9), &text(5)), ChangeKind::Major);
    assert_eq!(schemas("output", &text(9), &text(5)), ChangeKind::Minor);
    assert_eq!(schemas("output", &text(5), &text(9)), ChangeKind::Major);
    let listed = |values: Value| json!({"properties": {"a": {"enum": values}}});
    for side in ["input", "output"] {
        assert_eq!(schemas(side, &listed(json!([1, 2])), &listed(json!([1]))), ChangeKind::Major, "{side}");
    }
    assert_eq!(schemas("input", &listed(json!([1])), &listed(json!([1, 2]))), ChangeKind::Minor);
    let required = |names: Value| json!({"required": names, "properties": {"a": {}, "b": {}}});
    assert_eq!(schemas("input", &required(json!([])), &required(json!(["a"]))), ChangeKind::Major);
    assert_eq!(schemas("input", &required(json!(["a"])), &required(json!([]))), ChangeKind::Minor);
    assert_eq!(schemas("output", &required(json!(["a"])), &required(json!([]))), ChangeKind::Major);
    let number = |kind: &str| json!({"properties": {"a": {"type": kind}}});
    assert_eq!(schemas("input", &number("integer"), &number("number")), ChangeKind::Minor);
    assert_eq!(schemas("input", &number("number"), &number("integer")), ChangeKind::Major);
    assert_eq!(schemas("input", &json!({"pattern": "a"}), &json!({"pattern": "b"})), ChangeKind::Major);
}

#[test]
fn references_and_alternatives_are_followed() {
    let of = |max: u32| {
        json!({"properties": {"t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {
            "next": {"$ref": "#/$defs/t"}, "name": {"maxLength": max}}}}})
    };
    assert_eq!(
        kinds(&json!({"input": of(9)}), &json!({"input": of(5)})),
        ["major /input/properties/t/properties/name/maxLength narrower: the upper bound was lowered"]
    );
    let branch = |kind: &str| json!({"required": ["kind"], "properties": {"kind": {"const": kind}}});
    let choice = |kinds: &[&str]| json!({"oneOf": kinds.iter().map(|kind| branch(kind)).collect::<Vec<_>>()});
    assert_eq!(schemas("input", &choice(&["a", "b"]), &choice(&["c", "b", "a"])), ChangeKind::Minor);
    assert_eq!(schemas("input", &choice(&["a", "b"]), &choice(&["a"])), ChangeKind::Major);
}

#[test]
fn a_line_of_the_error_table_is_known_by_what_it_matches() {
    let old = json!({"errors": [{"status": 409, "body": {"code": "STALE"}, "code": "VERSION_CONFLICT", "effect": "none"}]});
    let mut new = old.clone();
    new["errors"][0]["effect"] = json!("unknown");
    assert_eq!(ContractDiff::of(&old, &new).changes[0].pointer, "/errors/0/effect");
    assert_eq!(ContractDiff::of(&old, &json!({"errors": []})).kind(), ChangeKind::Major);
    assert_eq!(ContractDiff::of(&json!({"errors": []}), &old).kind(), ChangeKind::Minor);
}

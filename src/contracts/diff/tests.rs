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

#[test]
fn what_stands_beside_a_reference_counts_and_long_chains_are_followed() {
    let beside = |max: u32| json!({"properties": {"a": {"$ref": "#/$defs/a", "maxLength": max}}, "$defs": {"a": {"type": "string"}}});
    assert_eq!(schemas("input", &beside(9), &beside(5)), ChangeKind::Major);
    assert_eq!(schemas("output", &beside(5), &beside(9)), ChangeKind::Major);
    assert_eq!(schemas("input", &beside(5), &beside(5)), ChangeKind::None);
    let both = |max: u32| json!({"properties": {"a": {"$ref": "#/$defs/a", "maxLength": 3}}, "$defs": {"a": {"maxLength": max}}});
    assert_eq!(schemas("input", &both(9), &both(2)), ChangeKind::Major);
    let inside = |max: u32| json!({"additionalProperties": {"anyOf": [{"$ref": "#/$defs/a"}]}, "$defs": {"a": {"maxLength": max}}});
    assert_eq!(schemas("input", &inside(9), &inside(5)), ChangeKind::Major);
    assert_eq!(schemas("input", &json!({"items": true}), &json!({"items": false})), ChangeKind::Major);
    let chain = |max: u32| {
        let mut parts: serde_json::Map<String, Value> =
            (0..14).map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}))).collect();
        parts.insert("d14".to_owned(), json!({"maxLength": max}));
        json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": parts})
    };
    assert_eq!(schemas("input", &chain(9), &chain(5)), ChangeKind::Major);
}

#[test]
fn a_whole_block_counts_like_its_members() {
    let with = |block: Value| json!({"tool": "a", "redact": block});
    let (none, some) = (json!({"tool": "a"}), with(json!({"agent": {"/notes": "drop"}})));
    let kind = |old: &Value, new: &Value| ContractDiff::of(old, new).kind();
    assert_eq!(kind(&some, &none), ChangeKind::Major);
    assert_eq!(kind(&none, &some), ChangeKind::Major);
    assert_eq!(kind(&with(json!({"log": {"/a": "drop"}})), &none), ChangeKind::Major);
    assert_eq!(kind(&none, &with(json!({"log": {"/a": "drop"}}))), ChangeKind::Minor);
    let retry = json!({"tool": "a", "retry": {"class": "idempotent", "budget": "1m"}});
    assert_eq!(kind(&retry, &none), ChangeKind::Major);
    assert_eq!(kind(&none, &retry), ChangeKind::Major);
    assert_eq!(kind(&none, &json!({"tool": "a", "redact": {}})), ChangeKind::Minor);
}

#[test]
fn another_meaning_or_another_type_is_major() {
    for word in ["x-unit", "x-currency", "x-kind"] {
        for side in ["input", "output"] {
            let of = |what: &str| json!({"properties": {"a": {word: what}}});
            assert_eq!(schemas(side, &of("kg"), &of("lb")), ChangeKind::Major, "{word}");
            let bare = json!({"properties": {"a": {}}});
            assert_eq!(schemas(side, &of("kg"), &bare), ChangeKind::Major, "{word}");
            assert_eq!(schemas(side, &bare, &of("kg")), ChangeKind::Major, "{word}");
        }
    }
    assert_eq!(schemas("output", &json!({"x-note": 1}), &json!({"x-note": 2})), ChangeKind::Minor);
    let flag = json!({"type": "boolean"});
    for other in [json!({"enum": ["a", "b"]}), json!({"const": 1}), json!({})] {
        assert_eq!(schemas("output", &flag, &other), ChangeKind::Major, "{other}");
    }
    assert_eq!(schemas("output", &flag, &json!({"const": true})), ChangeKind::Minor);
    assert_eq!(schemas("input", &json!({"type": "string"}), &json!({"enum": [1]})), ChangeKind::Major);
    assert_eq!(schemas("input", &flag, &json!({})), ChangeKind::Minor);
    let listed = |least: Value| {
        let mut of = json!({"contains": {"const": 1}, "minContains": 0});
        of["minContains"] = least;
        of
    };
    let gone = json!({"contains": {"const": 1}});
    assert_eq!(schemas("input", &listed(json!(0)), &gone), ChangeKind::Major);
    assert_eq!(schemas("output", &gone, &listed(json!(0))), ChangeKind::Major);
    assert_eq!(schemas("input", &listed(json!(1)), &gone), ChangeKind::None);
}

#[test]
fn the_first_line_that_fits_an_answer_counts() {
    let general = json!({"status": 409, "code": "CONFLICT", "effect": "unknown"});
    let special =
        json!({"status": 409, "body": {"code": "STALE"}, "code": "VERSION_CONFLICT", "effect": "none"});
    let other = json!({"status": 404, "code": "NOT_FOUND", "effect": "none"});
    let kind = |old: &[&Value], new: &[&Value]| {
        ContractDiff::of(&json!({"errors": old}), &json!({"errors": new})).kind()
    };
    assert_eq!(kind(&[&special, &general], &[&general, &special]), ChangeKind::Major);
    assert_eq!(kind(&[&general], &[&special, &general]), ChangeKind::Major);
    assert_eq!(kind(&[&special], &[&special, &general]), ChangeKind::Minor);
    assert_eq!(kind(&[&special, &other], &[&other, &special]), ChangeKind::None);
    assert_eq!(kind(&[&other], &[&special, &other]), ChangeKind::Minor);
}

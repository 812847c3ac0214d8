use serde_json::{Value, json};

use super::*;

fn codes(property: &Value) -> Vec<&'static str> {
    let root = json!({"type": "object", "additionalProperties": false, "properties": {"p": property},
        "$defs": {"text": {"type": "string", "maxLength": 5}}});
    let mut findings = Findings::default();
    lint(&root, "", Use::Input, &mut findings);
    findings.into_sorted().iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn closed_and_bounded_schemas_pass() {
    for good in [
        json!({"type": "string", "enum": ["a"]}),
        json!({"const": 7}),
        json!({"$ref": "#/$defs/text"}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": ["string", "null"], "maxLength": 3}),
        json!({"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/text"}}),
        json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
        json!({"type": "object", "unevaluatedProperties": false, "allOf": [
            {"type": "object", "properties": {"a": {"type": "boolean"}}}]}),
        json!({"oneOf": [
            {"type": "object", "additionalProperties": false, "required": ["kind"],
                "properties": {"kind": {"const": "a"}}},
            {"type": "object", "additionalProperties": false, "required": ["kind"],
                "properties": {"kind": {"const": "b"}}}]}),
    ] {
        assert_eq!(codes(&good), Vec::<&str>::new(), "{good}");
    }
}

#[test]
fn open_schemas_are_found_wherever_they_hide() {
    for (bad, code) in [
        (json!({}), "free-form"),
        (json!({"type": "object"}), "free-form"),
        (json!({"type": "object", "properties": {}, "additionalProperties": true}), "open-object"),
        (json!({"type": "array", "maxItems": 3}), "free-form"),
        (json!({"type": "array", "maxItems": 3, "items": {"type": "string"}}), "unbounded-string"),
        (json!({"type": ["string", "null"]}), "unbounded-string"),
        (json!({"type": "integer", "maximum": 3}), "unbounded-number"),
        (json!({"type": "string", "maxLenght": 3}), "unknown-key"),
        (json!({"type": "string", "maxLength": 3, "format": "moon-phase"}), "bad-value"),
        (json!({"type": "string", "maxLength": 3, "x-kind": "guess"}), "bad-value"),
        (json!({"$ref": "other.json"}), "remote-ref"),
        (json!({"$ref": "#/nowhere"}), "unresolved-ref"),
        (
            json!({"type": "object", "unevaluatedProperties": false, "allOf": [
                {"type": "object", "properties": {"bag": true}}]}),
            "free-form",
        ),
        (
            json!({"oneOf": [
                {"type": "object", "additionalProperties": false, "properties": {"kind": {"const": "a"}}},
                {"type": "object", "additionalProperties": false, "properties": {"kind": {"const": "b"}}}]}),
            "no-discriminator",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "properties":
                {"Idempotency-Key": {"type": "boolean"}}}),
            "authority-input",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "properties":
                {"payload": {"type": "string", "maxLength": 10}}}),
            "free-form",
        ),
    ] {
        assert!(codes(&bad).contains(&code), "{bad} gave {:?}", codes(&bad));
    }
}

#[test]
fn defaults_fill_only_what_is_absent() {
    let source = json!({"type": "object", "properties": {
        "a": {"type": "integer", "default": 1},
        "o": {"$ref": "#/$defs/o"},
        "l": {"type": "array", "items": {"$ref": "#/$defs/o"}}},
        "$defs": {"o": {"type": "object", "properties": {"b": {"type": "string", "default": "x"}}}}});
    let schema = Schema::compile(&source, "", &mut Findings::default()).unwrap();
    let filled = schema.with_defaults(&json!({"a": null, "o": {}, "l": [{"b": "y"}, {}]}));
    assert_eq!(filled, json!({"a": null, "o": {"b": "x"}, "l": [{"b": "y"}, {"b": "x"}]}));
    assert_eq!(schema.with_defaults(&json!({})), json!({"a": 1}));
    assert!(schema.refused_defaults().is_empty());
    let wrong = json!({"type": "object", "properties": {"a": {"type": "integer", "default": "1"}}});
    let schema = Schema::compile(&wrong, "", &mut Findings::default()).unwrap();
    assert_eq!(schema.refused_defaults(), ["/properties/a/default"]);
}

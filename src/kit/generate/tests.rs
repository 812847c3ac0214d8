use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

/// A schema with every keyword that the checker lets pass.
fn everything() -> Value {
    json!({
        "type": "object", "additionalProperties": false,
        "required": ["id", "when", "lines", "payment", "pick"],
        "dependentRequired": {"coupon": ["campaign"]},
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
            "when": {"type": "string", "format": "date-time"},
            "note": {"type": ["string", "null"], "minLength": 3, "maxLength": 5},
            "amount": {"type": "integer", "minimum": 5, "maximum": 50, "multipleOf": 5},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "size": {"enum": [7, 14]},
            "kind": {"const": "order"},
            "flag": {"type": "boolean"},
            "coupon": {"type": "string", "maxLength": 3},
            "campaign": {"type": "string", "maxLength": 3},
            "lines": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true,
                "items": {"$ref": "#/$defs/line"}},
            "tuple": {"type": "array", "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 9}],
                "items": false},
            "tags": {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 4},
                "contains": {"const": "main"}, "maxContains": 2},
            "labels": {"type": "object", "maxProperties": 2, "minProperties": 1,
                "propertyNames": {"pattern": "^[a-z]{1,6}[0-9]?$"},
                "additionalProperties": {"type": "string", "maxLength": 2}},
            "payment": {"oneOf": [
                {"type": "object", "additionalProperties": false, "required": ["by", "iban"], "properties": {
                    "by": {"const": "transfer"}, "iban": {"type": "string", "minLength": 2, "maxLength": 34}}},
                {"type": "object", "additionalProperties": false, "required": ["by", "days"], "properties": {
                    "by": {"const": "invoice"}, "days": {"type": "integer", "minimum": 1, "maximum": 60}}}]},
            "pick": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]},
            "merged": {"allOf": [{"$ref": "#/$defs/line"}], "type": "object", "unevaluatedProperties": false,
                "properties": {"more": {"type": "boolean"}}},
            "named": {"type": "string", "maxLength": 8, "not": {"enum": ["root"]}},
            "tree": {"$ref": "#/$defs/tree"},
            "rule": {"type": "object", "additionalProperties": false, "required": ["mode"],
                "properties": {"mode": {"enum": ["a", "b"]}, "level": {"type": "integer", "minimum": 0, "maximum": 9}},
                "if": {"properties": {"mode": {"const": "b"}}}, "then": {"required": ["level"]}},
            "gone": false
        },
        "$defs": {
            "line": {"type": "object", "required": ["sku"],
                "properties": {"sku": {"type": "string", "minLength": 1, "maxLength": 8}}},
            "tree": {"type": "object", "additionalProperties": false, "properties": {
                "name": {"type": "string", "maxLength": 4},
                "children": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/tree"}}}}
        }
    })
}

fn made(schema: &Value) -> (Schema, Suite) {
    let schema = Schema::alone(schema);
    let suite = suite(&schema, &[]);
    (schema, suite)
}

#[test]
fn every_keyword_has_a_case_that_is_refused_at_its_place() {
    let (schema, suite) = made(&everything());
    assert_eq!(suite.without, []);
    let smallest = suite.smallest.clone().unwrap();
    assert!(schema.accepts(&smallest), "{smallest}");
    let mut keywords: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &suite.cases {
        *keywords.entry(&case.boundary.keyword).or_default() += 1;
        let violations = schema.validate(&case.input).expect_err(&format!("{case:?}"));
        assert!(violations.iter().any(|one| case.is_refused_at(&one.pointer)), "{case:?}\n{violations:?}");
    }
    let seen: Vec<&str> = keywords.keys().copied().collect();
    assert_eq!(
        seen,
        [
            "additionalProperties",
            "anyOf",
            "const",
            "contains",
            "dependentRequired",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "falseSchema",
            "format",
            "items",
            "maxContains",
            "maxItems",
            "maxLength",
            "maxProperties",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "multipleOf",
            "not",
            "oneOf",
            "pattern",
            "propertyNames",
            "required",
            "type",
            "unevaluatedProperties",
            "uniqueItems",
        ]
    );
}

#[test]
fn a_case_is_valid_except_for_its_boundary() {
    let (schema, suite) = made(&everything());
    let wanted = |pointer: &str, keyword: &str| {
        let found = suite.cases.iter().find(|case| {
            case.boundary.pointer == pointer && case.boundary.keyword == keyword && case.unions.is_empty()
        });
        found.unwrap_or_else(|| panic!("{pointer} {keyword}")).input.pointer(pointer).cloned().unwrap()
    };
    assert_eq!(wanted("/amount", "minimum"), json!(0), "the nearest multiple");
    assert_eq!(wanted("/amount", "maximum"), json!(55));
    assert_eq!(wanted("/amount", "multipleOf"), json!(6));
    assert_eq!(wanted("/share", "exclusiveMaximum"), json!(1));
    assert_eq!(wanted("/note", "minLength"), json!("aa"));
    assert_eq!(wanted("/note", "maxLength"), json!("aaaaaa"));
    assert_eq!(wanted("/id", "pattern"), json!("AAA-000"));
    assert_eq!(wanted("/lines", "maxItems").as_array().map(Vec::len), Some(4));
    assert_eq!(wanted("/amount", "type"), json!(0.5));
    for case in suite.cases.iter().filter(|case| case.unions.is_empty()) {
        let violations = schema.validate(&case.input).unwrap_err();
        // An item that is changed may have been the one that the array had to contain.
        let is_own =
            |one: &&Violation| one.pointer.starts_with(&case.boundary.pointer) || one.keyword == "contains";
        let elsewhere: Vec<_> = violations.iter().filter(|one| !is_own(one)).collect();
        assert!(elsewhere.is_empty(), "{case:?}\n{elsewhere:?}");
    }
}

#[test]
fn what_cannot_be_made_is_told_and_an_example_helps() {
    // The pattern and the length exclude what the generator tries; the example is in between.
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["code"], "properties":
        {"code": {"type": "string", "maxLength": 8, "pattern": "^(aaaaaaaaaaaa|[k-z]{8})$"}}});
    let schema = Schema::alone(&schema);
    let alone = suite(&schema, &[]);
    assert!(alone.smallest.is_err());
    assert!(
        !alone.without.is_empty() && alone.without[0].1.contains("no valid input reaches it"),
        "{alone:?}"
    );
    let helped = suite(&schema, &[json!({"code": "kkkkzzzz"})]);
    assert_eq!((helped.smallest.is_ok(), helped.without.len()), (true, 0), "{helped:?}");
}

#[test]
fn a_recursive_schema_ends() {
    let (_, suite) = made(&json!({"type": "object", "additionalProperties": false, "required": ["next"],
        "properties": {"next": {"$ref": "#"}}}));
    assert!(suite.smallest.is_err_and(|why| why.contains("never ends")));
}

#[test]
fn variants_are_valid_and_change_one_value_claims_first() {
    let schema = Schema::alone(&json!({"type": "object", "additionalProperties": false, "properties": {
        "customer": {"type": "string", "pattern": "^C-[0-9]{1,3}$", "x-kind": "reference"},
        "language": {"enum": ["en", "sv"], "x-kind": "claim"},
        "count": {"type": "integer", "minimum": 0, "maximum": 1},
        "fixed": {"const": 7}}}));
    let input = json!({"customer": "C-1", "language": "en", "count": 1, "fixed": 7});
    let found = variants(&schema, &input);
    assert_eq!(
        found,
        [
            json!({"customer": "C-1", "language": "en", "count": 0, "fixed": 7}),
            json!({"customer": "C-1", "language": "sv", "count": 1, "fixed": 7}),
            json!({"customer": "C-0", "language": "en", "count": 1, "fixed": 7}),
        ]
    );
}

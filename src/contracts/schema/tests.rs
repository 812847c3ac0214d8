use serde_json::{Value, json};

use super::*;

fn codes(property: &Value) -> Vec<&'static str> {
    let root = json!({"type": "object", "additionalProperties": false, "properties": {"p": property},
        "$defs": {"text": {"type": "string", "maxLength": 5}}});
    let mut findings = Findings::default();
    lint(&root, "", Use::Input, &mut findings);
    // What kind of statement an input is has tests of its own.
    let mut codes: Vec<_> = findings.into_sorted().iter().map(|finding| finding.code.as_str()).collect();
    codes.retain(|code| *code != "missing-kind");
    codes
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

fn compiled(source: &Value) -> Result<Schema, Vec<String>> {
    let mut findings = Findings::default();
    Schema::compile(source, "", &mut findings)
        .ok_or_else(|| findings.into_sorted().iter().map(|f| format!("{} {}", f.code, f.pointer)).collect())
}

#[test]
fn schemas_beyond_the_limits_are_not_compiled() {
    let deep = (0..40).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
    let branches: Vec<Value> = (0..65).map(|i| json!({"const": i})).collect();
    let members: serde_json::Map<String, Value> = (0..300).map(|i| (format!("m{i}"), json!({}))).collect();
    let mut chain: serde_json::Map<String, Value> =
        (0..20).map(|i| (format!("c{i}"), json!({"$ref": format!("#/$defs/c{}", i + 1)}))).collect();
    chain.insert("c20".into(), json!({}));
    let refs: Vec<Value> = (0..60).map(|_| json!({"$ref": "#/$defs/a"})).collect();
    let many_refs: serde_json::Map<String, Value> =
        (0..9).map(|i| (format!("m{i}"), json!({"allOf": refs.clone()}))).collect();
    for huge in [
        deep,
        json!({"oneOf": branches}),
        json!({"properties": members}),
        json!({"$defs": chain}),
        json!({"properties": many_refs, "$defs": {"a": {}}}),
        json!({"description": "x".repeat(200_000)}),
    ] {
        let found = compiled(&huge).unwrap_err();
        assert!(
            found.iter().all(|code| code.starts_with("schema-too-large")) && !found.is_empty(),
            "{found:?}"
        );
    }
}

#[test]
fn c39_cycles_load_unless_they_never_end() {
    for (good, deep) in [
        (json!({"properties": {"next": {"$ref": "#"}}}), "next"),
        (json!({"additionalProperties": {"$ref": "#"}}), "any"),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/b"}}},
                "b": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}),
            "b",
        ),
        (json!({"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}), "next"),
    ] {
        let schema = compiled(&good).unwrap();
        let value = (0..60).fold(json!({}), |inner, _| json!({deep: inner}));
        assert!(schema.accepts(&value), "{good}");
    }
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    ] {
        let found = compiled(&endless).unwrap_err();
        assert!(found[0].starts_with("endless-reference"), "{found:?}");
    }
}

#[test]
fn c36_references_stay_and_dangling_ones_are_named() {
    let with = |defs: &str, target: &str| {
        json!({"type": "object", "additionalProperties": false,
            "properties": {"q": {"$ref": target}}, defs: {"Query": {"type": "string", "maxLength": 3}}})
    };
    for good in [with("$defs", "#/$defs/Query"), with("definitions", "#/definitions/Query")] {
        let schema = compiled(&good).unwrap();
        assert_eq!(schema.source(), &good, "kept whole");
        assert!(schema.accepts(&json!({"q": "abc"})) && !schema.accepts(&json!({"q": "abcd"})));
        let mut findings = Findings::default();
        lint(&good, "", Use::Output, &mut findings);
        assert!(findings.is_empty(), "{:?}", findings.into_sorted());
    }
    for (bad, code) in [("#/$defs/Missing", "unresolved-ref"), ("https://example.test/q.json", "remote-ref")]
    {
        let mut findings = Findings::default();
        lint(&with("$defs", bad), "", Use::Output, &mut findings);
        let found = findings.into_sorted();
        assert_eq!((found[0].code.as_str(), found[0].pointer.as_str()), (code, "/properties/q/$ref"));
        assert!(compiled(&with("$defs", bad)).is_err(), "nothing is retrieved: {bad}");
    }
}

fn shapes() -> Value {
    let shape = |kind: &str, member: &str| {
        json!({"type": "object", "additionalProperties": false, "required": ["type", member],
            "properties": {"type": {"const": kind}, member: {"type": "integer", "minimum": 0, "maximum": 9}}})
    };
    json!({"type": "object", "additionalProperties": false, "properties": {"shape": {"oneOf": [
        shape("a", "x"), {"$ref": "#/$defs/b"}, shape("c", "z")]}}, "$defs": {"b": shape("b", "y")}})
}

#[test]
fn c42_the_errors_of_a_union_are_those_of_the_branch_that_the_tag_chose() {
    let schema = compiled(&shapes()).unwrap();
    let told = |value: Value| -> Vec<(String, String)> {
        let before = value.to_string();
        let found = schema.validate(&value).unwrap_err();
        assert_eq!(value.to_string(), before, "the value is not changed");
        found.into_iter().map(|one| (one.pointer, one.message)).collect()
    };
    let of_c = told(json!({"shape": {"type": "c", "x": 1, "z": "secret-1"}}));
    assert!(of_c.iter().all(|(_, message)| message.contains("type = \"c\"")), "{of_c:?}");
    let pointers: Vec<&str> = of_c.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/shape/z", "/shape/x"]);
    assert!(!format!("{of_c:?}").contains("secret"), "{of_c:?}");
    let of_b = told(json!({"shape": {"type": "b"}}));
    assert_eq!(
        of_b,
        [("/shape".to_owned(), "the member `y` is required (the form type = \"b\")".to_owned())]
    );
    let unknown = told(json!({"shape": {"type": "secret-2"}}));
    assert_eq!(unknown, [("/shape/type".to_owned(), r#"must be one of "a", "b", "c""#.to_owned())]);
    let absent = told(json!({"shape": {}}));
    assert_eq!(absent[0].0, "/shape/type");
}

#[test]
fn c42_branches_that_nothing_tells_apart_are_refused_on_load() {
    let branch = |name: &str| json!({"type": "object", "additionalProperties": false, "properties": {name: {"type": "boolean"}}});
    assert!(codes(&json!({"oneOf": [branch("a"), branch("b")]})).contains(&"no-discriminator"));
    assert!(codes(&json!({"anyOf": [branch("a"), branch("b")]})).contains(&"no-discriminator"));
    assert!(!codes(&json!({"anyOf": [branch("a"), {"type": "null"}]})).contains(&"no-discriminator"));
}

#[test]
fn c44_a_huge_enum_is_checked_whole_and_told_in_few_words() {
    let values: Vec<String> = (0..1276).map(|i| format!("CARRIER_{i}")).collect();
    let schema = compiled(&json!({"type": "object", "properties": {"carrier": {"enum": values}}})).unwrap();
    assert!(schema.accepts(&json!({"carrier": "CARRIER_1275"})));
    let found = schema.validate(&json!({"carrier": "NOPE_X"})).unwrap_err();
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.len() < 2048 && text.contains("CARRIER_0") && !text.contains("CARRIER_99"), "{text}");
}

#[test]
fn c38_bounds_and_types_are_exact_whatever_a_provider_makes_of_them() {
    let schema = compiled(&json!({"properties": {"qty": {"type": "integer", "exclusiveMinimum": 0},
        "days": {"enum": [7, 14]}}}))
    .unwrap();
    assert!(!schema.accepts(&json!({"qty": 0})) && schema.accepts(&json!({"qty": 1})));
    assert!(schema.accepts(&json!({"days": 7})) && !schema.accepts(&json!({"days": "7"})));
}

#[test]
fn errors_stay_below_two_kilobytes_for_hostile_schemas_and_values() {
    let long = "\u{1}\"\\".repeat(3000);
    let member = format!("m{}", "\"".repeat(2000));
    let schema = compiled(&json!({"type": "object", "additionalProperties": false,
        "required": [member.clone(), "b"], "properties": {
            member.clone(): {"type": "object", "required": [long.clone()], "additionalProperties": false},
            "b": {"enum": [long.clone(), "x"]}, "c": {"pattern": "a".repeat(3000), "type": "string"},
            "d": {"const": {"deep": [long.clone()]}}, "e": {"type": "array", "items": {"type": "integer"}}}}))
    .unwrap();
    let many: serde_json::Map<String, Value> = (0..500).map(|i| (format!("{long}{i}"), json!(1))).collect();
    for value in [
        json!({member.clone(): {}, "b": "q", "c": "q", "d": 1, "e": vec!["x"; 900]}),
        json!({member: {"x": long.clone()}, "b": long}),
        Value::Object(many),
        json!([]),
    ] {
        let found = schema.validate(&value).unwrap_err();
        let text = serde_json::to_string(&found).unwrap();
        assert!(!found.is_empty() && text.len() < 2048, "{} bytes: {text}", text.len());
    }
}

#[test]
fn what_would_cost_too_much_is_refused_and_says_so() {
    let branch = |op: &str| json!({"properties": {"op": {"const": op}, "args": {"items": {"$ref": "#"}}}});
    let schema = compiled(&json!({"oneOf": [branch("and"), branch("or")]})).unwrap();
    let value = (0..50).fold(json!({"op": "or"}), |inner, _| json!({"op": "or", "args": [inner]}));
    let found = schema.validate(&value).unwrap_err();
    assert_eq!(found.iter().map(|one| one.keyword.as_str()).collect::<Vec<_>>(), ["budget"]);
    assert!(!schema.accepts(&value));
}

#[test]
fn an_input_says_what_kind_of_statement_it_is() {
    let found = |property: Value| {
        let root = json!({"type": "object", "additionalProperties": false, "properties": {"p": property},
            "$defs": {"said": {"type": "string", "maxLength": 5, "x-kind": "claim"},
                "not_said": {"type": "string", "maxLength": 5}}});
        let mut findings = Findings::default();
        lint(&root, "", Use::Input, &mut findings);
        findings.into_sorted().iter().any(|finding| finding.code == FindingCode::MissingKind)
    };
    for silent in [
        json!({"type": "boolean"}),
        json!({"enum": ["a", "b"]}),
        json!({"$ref": "#/$defs/not_said"}),
        json!({"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/not_said"}}),
        json!({"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]}),
        json!({"type": "object", "additionalProperties": false, "properties": {"q": {"type": "boolean"}}}),
    ] {
        assert!(found(silent.clone()), "{silent}");
    }
    for said in [
        json!({"type": "boolean", "x-kind": "claim"}),
        json!({"const": "a"}),
        json!({"$ref": "#/$defs/said"}),
        json!({"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/said"}}),
        json!({"type": "array", "maxItems": 3, "x-kind": "fact", "items": {"type": "boolean"}}),
        json!({"type": "object", "additionalProperties": false, "properties": {}}),
    ] {
        assert!(!found(said.clone()), "{said}");
    }
}

#[test]
fn what_looks_closed_and_is_not_is_found() {
    let found = |property: Value| {
        let mut findings = Findings::default();
        let root = json!({"type": "object", "additionalProperties": false, "properties": {"a": property},
            "$defs": {}});
        lint(&root, "", Use::Output, &mut findings);
        findings.into_sorted().iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    let flag = json!({"type": "boolean"});
    assert_eq!(
        found(json!({"type": "array", "maxItems": 3, "prefixItems": [flag]})),
        [FindingCode::FreeForm]
    );
    for rest in [json!(false), flag.clone()] {
        let tuple = json!({"type": "array", "maxItems": 3, "prefixItems": [flag], "items": rest});
        assert_eq!(found(tuple), []);
    }
    let closed = |key: &str, part: Value| {
        let mut schema = json!({"type": "object", "unevaluatedProperties": false, "properties": {"b": flag}});
        schema[key] = part;
        schema
    };
    for part in [json!({"additionalProperties": true}), json!({"unevaluatedProperties": true})] {
        for key in ["allOf", "anyOf"] {
            assert!(found(closed(key, json!([part]))).contains(&FindingCode::OpenObject), "{key} {part}");
        }
        for key in ["if", "then", "else"] {
            assert!(found(closed(key, part.clone())).contains(&FindingCode::OpenObject), "{key} {part}");
        }
    }
    let part = json!({"type": "boolean", "additionalProperties": {"type": "boolean"}});
    assert_eq!(found(part), [FindingCode::OpenObject], "a definition that is referred to");
    assert_eq!(found(closed("allOf", json!([{"properties": {}}]))), []);
}

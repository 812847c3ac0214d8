use serde_json::json;

use super::*;
use crate::contracts::finding::Findings;

fn changes(after: &Value, args: &Value, before: &Value) -> Vec<(String, Option<Value>, Option<Value>)> {
    let names = ["args", "preview.before"];
    let template = Template::parse(after, "/after", &names, &mut Findings::default()).unwrap();
    let mut out = Vec::new();
    let preview = Binding::Members(vec![("before", Binding::Value(before))]);
    let scope = Scope::of([("args", Binding::Value(args)), ("preview", preview)]);
    merge(&template, "", Some(before), &scope, &mut out).unwrap();
    out.into_iter().map(|change| (change.field, change.before, change.after)).collect()
}

#[test]
fn written_mappings_merge_and_expressions_replace() {
    let before = json!({"address": {"a": 1, "b": 2}, "other": 5, "flags": {"x": true, "y": true}});
    let args = json!({"to": {"a": 9, "c/d": null}});
    let after = json!({"address": "${args.to}", "flags": {"x": false}, "new": "${args.to.a}"});
    assert_eq!(
        changes(&after, &args, &before),
        [
            ("/address/a".into(), Some(json!(1)), Some(json!(9))),
            ("/address/b".into(), Some(json!(2)), None),
            ("/address/c~1d".into(), None, Some(json!(null))),
            ("/flags/x".into(), Some(json!(true)), Some(json!(false))),
            ("/new".into(), None, Some(json!(9))),
        ]
    );
    assert_eq!(changes(&json!({"other": 5}), &args, &before), []);
}

#[test]
fn only_texts_and_whole_numbers_are_versions() {
    assert_eq!(version_text(&json!(17)).as_deref(), Some("17"));
    assert_eq!(version_text(&json!("W/17")).as_deref(), Some("W/17"));
    for wrong in [json!(1.5), json!(null), json!(""), json!(true), json!([1]), json!({})] {
        assert_eq!(version_text(&wrong), None, "{wrong}");
    }
}

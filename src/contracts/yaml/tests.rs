use serde_json::json;

use super::*;

fn read(text: &str) -> (Option<Value>, Vec<String>) {
    let mut findings = Findings::default();
    let value = parse(text, &mut findings).map(|document| document.value);
    let found = findings.into_sorted();
    let found = found.iter().map(|one| format!("{}:{} {} {}", one.line, one.column, one.pointer, one.code));
    (value, found.collect())
}

#[test]
fn values_are_what_they_look_like() {
    let text = "version: 2.10\na: 1\nb: 1.5\nc: 'x'\nd: [true, null, ~, no, \"1\"]\ne:\n  f: |\n    line\n";
    let (value, found) = read(text);
    assert_eq!(found, Vec::<String>::new());
    let wanted = json!({"version": "2.10", "a": 1, "b": 1.5, "c": "x", "d": [true, null, null, "no", "1"],
        "e": {"f": "line\n"}});
    assert_eq!(value, Some(wanted));
}

#[test]
fn what_stands_for_something_else_is_found_with_its_place() {
    for (text, wanted) in [
        ("a: &x 1\n", "1:4 /a yaml-feature"),
        ("a: &x 1\nb: *x\n", "2:4 /b yaml-feature"),
        ("a: !!str 1\n", "1:4 /a yaml-feature"),
        ("a: 1\nb:\n  c: 1\n  c: {d: [1, {e: 2}]}\n  f: 3\n", "4:3 /b/c duplicate-key"),
        ("a: 9007199254740993\n", "1:4 /a inexact-number"),
        ("a: 99999999999999999999\n", "1:4 /a inexact-number"),
        ("a: .inf\n", "1:4 /a inexact-number"),
        ("? [a]\n: 1\n", "1:3  wrong-type"),
        ("a: 1\n---\nb: 2\n", "2:1  yaml-syntax"),
        ("", "0:0  yaml-syntax"),
        ("a: [1\n", "yaml-syntax"),
    ] {
        let (_, found) = read(text);
        assert!(found.iter().any(|one| one.contains(wanted)), "{text:?} gave {found:?}");
    }
}

#[test]
fn what_follows_a_bad_member_is_still_read() {
    let (value, found) = read("b:\n  c: 1\n  c: {d: [1, {e: 2}]}\n  f: 3\n? {x: 1}\n: {y: 2}\ng: 4\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(value, Some(json!({"b": {"c": 1, "f": 3}, "g": 4})));
}

#[test]
fn depth_and_aliases_cost_nothing() {
    let deep = "[".repeat(100_000);
    let (_, found) = read(&deep);
    assert!(!found.is_empty());
    let nested = format!("a: {}1{}\n", "[".repeat(80), "]".repeat(80));
    let (value, found) = read(&nested);
    assert!(value.is_some() && found.len() == 1 && found[0].ends_with("too-deep"), "{found:?}");
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for i in 1..40 {
        bomb.push_str(&format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    }
    let (_, found) = read(&bomb);
    assert!(found.len() > 40, "{found:?}");
}

use serde_json::{Value, json};

use super::*;

fn parse(value: &Value, names: &[&str]) -> Result<Template, Vec<String>> {
    let mut findings = Findings::default();
    let template = Template::parse(value, "/x", names, &mut findings);
    let found = findings.into_sorted();
    match template {
        Some(template) if found.is_empty() => Ok(template),
        _ => Err(found.iter().map(|finding| finding.to_string()).collect()),
    }
}

fn eval(value: &Value, args: &Value) -> Result<Value, TemplateReason> {
    let template = parse(value, &["args"]).unwrap();
    let scope = Scope::of([("args", Binding::Value(args))]);
    template.render(&scope).map(Cow::into_owned).map_err(|error| error.reason)
}

#[test]
fn one_expression_keeps_its_type_and_text_is_interpolated() {
    let args = json!({"n": 17, "f": 1.5, "t": "a b", "b": true, "o": {"k": [1]}, "z": null});
    assert_eq!(eval(&json!("${args.n}"), &args), Ok(json!(17)));
    assert_eq!(eval(&json!("${args.o}"), &args), Ok(json!({"k": [1]})));
    assert_eq!(eval(&json!("\"${args.n}\" ${args.t} ${args.b}"), &args), Ok(json!("\"17\" a b true")));
    assert_eq!(eval(&json!({"a": ["${args.z}", 1]}), &args), Ok(json!({"a": [null, 1]})));
    assert_eq!(eval(&json!("$${args.n} costs $5"), &args), Ok(json!("${args.n} costs $5")));
    for not_text in ["f", "o", "z"] {
        assert_eq!(eval(&json!(format!("v=${{args.{not_text}}}")), &args), Err(TemplateReason::NotText));
    }
    assert_eq!(eval(&json!("${args.missing}"), &args), Err(TemplateReason::NoSuchMember));
}

#[test]
fn cel_is_evaluated_with_exact_numbers() {
    let args = json!({"n": 17, "list": [1, 2, 3], "text": "x", "big": 9_007_199_254_740_992_u64});
    assert_eq!(eval(&json!("${args.n + 1}"), &args), Ok(json!(18)));
    assert_eq!(eval(&json!("${args.list.map(x, x * 2)}"), &args), Ok(json!([2, 4, 6])));
    assert_eq!(eval(&json!("${ {'a': args.text}['a'] }"), &args), Ok(json!("x")));
    assert_eq!(eval(&json!("${has(args.none) ? args.none : null}"), &args), Ok(Value::Null));
    assert_eq!(eval(&json!("${'}' + args.text}"), &args), Ok(json!("}x")));
    assert_eq!(eval(&json!("${args.big + 1}"), &args), Err(TemplateReason::NotJson));
    assert_eq!(eval(&json!("${args.n / 0}"), &args), Err(TemplateReason::Evaluation));
    assert_eq!(eval(&json!("${args.n + 'x'}"), &args), Err(TemplateReason::Evaluation));
    assert_eq!(eval(&json!("${args.nowhere.deeper + 1}"), &args), Err(TemplateReason::NoSuchMember));
}

#[test]
fn unknown_names_syntax_and_size_are_found_at_load() {
    let names = ["args", "preview.before"];
    assert!(parse(&json!("${preview.before.version}"), &names).is_ok());
    for wrong in [
        "${preview.after.version}",
        "${arg.x}",
        "${args.list.exists(x, y > 1)}",
        "${args.x",
        "${}",
        "${args..x}",
        "${1 +}",
        "${args.a.map(x, args.a.map(y, args.a.map(z, 1)))}",
    ] {
        assert!(parse(&json!(wrong), &names).is_err(), "{wrong}");
    }
    assert!(parse(&json!(format!("${{args.{}}}", "x".repeat(600))), &names).is_err());
}

/// The paths that an expression reads where these names are known.
fn reads(source: &str) -> Vec<String> {
    let mut findings = Findings::default();
    let names = ["args", "preview.before", "preview.id"];
    let expr = Expr::parse(source, "/x", &names, &mut findings);
    let expr = expr.unwrap_or_else(|| panic!("{source}: {:?}", findings.into_sorted()));
    let mut paths: Vec<String> = expr.paths().iter().map(|path| path.join(".")).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[test]
fn what_is_read_is_seen_however_it_is_written() {
    for source in ["preview[\"before\"].x", "preview['before']['x']", "preview.before[\"x\"]"] {
        assert_eq!(reads(source), ["preview.before.x"], "{source}");
    }
    for source in [
        "preview",
        "string(preview)",
        "preview[\"be\" + \"fore\"][\"x\"]",
        "[preview].map(p, p.before.x)[0]",
        "{\"a\": preview}.a.before.x",
        "(true ? preview : preview).before.x",
    ] {
        assert_eq!(reads(source), ["preview.before", "preview.id"], "{source}");
    }
    assert_eq!(reads("preview.before[args.name]"), ["args.name", "preview.before"]);
    assert_eq!(reads("preview.before.list[0].x"), ["preview.before.list"]);
    assert!(parse(&json!("${preview['after']}"), &["preview.before"]).is_err());
}

#[test]
fn errors_never_hold_values() {
    let args = json!({"secret": "hunter2"});
    let template = parse(&json!("${args.secret + 1}"), &["args"]).unwrap();
    let error = template.render(&Scope::of([("args", Binding::Value(&args))])).unwrap_err();
    assert_eq!(error.to_string(), "the template at /x cannot be evaluated on these values");
}

#[test]
fn no_text_makes_the_parser_panic() {
    const PIECES: &[&str] = &[
        "args",
        ".",
        "x",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        "+",
        "-",
        "*",
        "?",
        ":",
        "==",
        "&&",
        "!",
        "1",
        "9999999999999999999",
        "1e999",
        "0x",
        "u",
        " ",
        "\n",
        "é",
        "\u{0}",
        "b'",
        "r\"",
        "in",
        "null",
        "has(",
        ".map(",
        ",",
        "//",
        "${",
        "$",
        "`",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..1500 {
        let count = random.usize(1..14);
        let text: String = (0..count).map(|_| PIECES[random.usize(0..PIECES.len())]).collect();
        let _ = parse(&json!(format!("${{{text}}}")), &["args"]);
        let mut findings = Findings::default();
        if let Some(expr) = Expr::parse(&text, "/x", &["args"], &mut findings) {
            let args = json!({"x": 1});
            let _ = expr.evaluate(&Scope::of([("args", Binding::Value(&args))]));
        }
    }
}

//! What a write shows of its preview: declared by the tool that answers it, and not redacted. Rules between two contracts.

use serde_json::Value;

use super::super::contract::{Contract, WriteParts};
use super::super::finding::{FindingCode, Findings, suggestion};
use super::super::schema::Schema;
use super::super::template::Template;
use super::rules::{check_path, each_expr};

/// What a preview tool answers: whether it must, and of which type.
const ANSWERS: &[(&str, bool, &[&str])] = &[
    ("before", true, &["object", "null"]),
    ("after", true, &["object"]),
    ("defaults", false, &["object", "null"]),
    ("consequences", false, &["object", "null"]),
    ("expires_at", false, &["string", "null"]),
    ("id", false, &["string", "null"]),
];

/// Holds the templates of a write to the read, or to the preview tool, that answers its preview.
pub(in crate::contracts) fn shown(
    contract: &Contract,
    parts: &WriteParts,
    read: &Contract,
    findings: &mut Findings,
) {
    let quoted = parts.preview.is_tool();
    each_expr(contract, &mut |expr| {
        for path in expr.paths() {
            match path.as_slice() {
                [root, before, rest @ ..] if root == "preview" && before == "before" => {
                    // The whole answer is the state before, or a member of it is.
                    let (skip, seen) = if quoted { (1, &path[1..]) } else { (2, rest) };
                    check_path(read.output(), expr.place(), path, skip, findings);
                    redacted(read, seen, expr.place(), findings);
                }
                [root, id, ..] if root == "preview" && id == "id" && quoted => {
                    named(read, expr.place(), findings);
                }
                [root, rest @ ..] if root == "result" => redacted(contract, rest, expr.place(), findings),
                _ => {}
            }
        }
    });
    match &parts.preview.templates {
        Some(templates) => shown_fields(&templates.after, &mut Vec::new(), &mut |path| {
            redacted(read, path, "/preview/after", findings);
        }),
        None => {
            answers(read, findings);
            fills_in(contract, read, findings);
            for path in shown_answers(read.output()) {
                redacted(read, &path, parts.preview.place(), findings);
            }
        }
    }
}

/// What a readback waits for is what the read says it answers, and shows.
pub(in crate::contracts) fn seen(expect: &Template, read: &Contract, findings: &mut Findings) {
    shown_fields(expect, &mut Vec::new(), &mut |path| {
        check_path(read.output(), "/readback/expect", path, 0, findings);
        redacted(read, path, "/readback/expect", findings);
    });
}

const CALL: &str = "/preview/call";

/// A preview tool must answer what the approver is shown.
fn answers(read: &Contract, findings: &mut Findings) {
    let tool = read.tool_ref();
    for (name, needed, types) in ANSWERS {
        let Some((part, required)) = read.output().member(name) else {
            if *needed {
                let message = format!("`{tool}` does not answer `{name}`, so it is no preview tool");
                let remedy = format!("declare `{name}` in its output, and require it");
                findings.add(FindingCode::MissingPreview, CALL, message, remedy);
            }
            continue;
        };
        if *needed && !required {
            let message = format!("`{tool}` may leave out `{name}`, which the approver must see");
            let remedy = format!("name `{name}` under `required` in its output");
            findings.add(FindingCode::MissingPreview, CALL, message, remedy);
        }
        let fits = read.output().types(part).is_some_and(|all| all.iter().all(|one| types.contains(one)));
        let dated = *name != "expires_at" || part.get("format").is_some_and(|format| format == "date-time");
        if !fits || !dated {
            let wanted = if *name == "expires_at" { "string with `format: date-time`" } else { types[0] };
            let message =
                format!("`{name}` in the output of `{tool}` is not declared as what a preview needs");
            findings.add(FindingCode::WrongType, CALL, message, format!("declare it as {wanted}"));
        }
    }
}

/// What is filled in are arguments of the write.
fn fills_in(contract: &Contract, read: &Contract, findings: &mut Findings) {
    let Some((part, _)) = read.output().member("defaults") else { return };
    let tool = read.tool_ref();
    for name in part.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()) {
        match contract.input().member(name) {
            None => {
                let message = format!("`{tool}` fills in `{name}`, which is not an argument of this tool");
                let known = contract.input().members();
                findings.add(FindingCode::UnknownName, CALL, message, suggestion(name, &known));
            }
            Some((input, _)) if input.get("default").is_some() => {
                let message =
                    format!("`{tool}` fills in `{name}`, which the input schema has filled in before it");
                let remedy = format!("remove the `default` of `{name}` from the input schema");
                findings.add(FindingCode::BadValue, CALL, message, remedy);
            }
            Some(_) => {}
        }
    }
}

/// An id that is sent must be there.
fn named(read: &Contract, at: &str, findings: &mut Findings) {
    let tool = read.tool_ref();
    let output = read.output();
    let sure = output
        .member("id")
        .is_some_and(|(part, required)| required && output.types(part).is_some_and(|all| all == ["string"]));
    if !sure {
        let message = format!("`preview.id` is used, but `{tool}` need not answer an `id`");
        let remedy = "require `id`, of type string, in its output";
        findings.add(FindingCode::MissingPreview, at, message, remedy);
    }
}

/// What everybody is shown of a preview tool's answer.
fn shown_answers(output: &Schema) -> Vec<Vec<String>> {
    let own = |name: &str| name.to_owned();
    let mut paths: Vec<Vec<String>> = ["after", "defaults", "consequences", "expires_at", "id"]
        .iter()
        .map(|name| vec![own(name)])
        .collect();
    let after = output.member("after").and_then(|(after, _)| after.get("properties")?.as_object());
    match after {
        Some(members) => paths.extend(members.keys().map(|member| vec![own("before"), member.clone()])),
        None => paths.push(vec![own("before")]),
    }
    paths
}

/// A redacted member must not come back through a template, in whole or in part.
fn redacted(source: &Contract, path: &[String], at: &str, findings: &mut Findings) {
    for pointer in source.redact.pointers() {
        let meets = pointer.0.iter().zip(path).all(|(hidden, used)| hidden == used || hidden == "*");
        if meets {
            let message = format!("`{pointer}` of `{}` is redacted, and would be shown here", source.tool);
            findings.add(FindingCode::RedactedPointer, at, message, "use members that are not redacted");
        }
    }
}

/// The paths of the fields that the approval view shows before and after.
fn shown_fields(after: &Template, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String])) {
    match after {
        Template::Map(members) => {
            for (name, member) in members {
                path.push(name.clone());
                shown_fields(member, path, visit);
                path.pop();
            }
        }
        Template::Literal(Value::Object(members)) if !members.is_empty() => {
            for name in members.keys() {
                path.push(name.clone());
                visit(path);
                path.pop();
            }
        }
        Template::Literal(_) | Template::Expr(_) | Template::Text(_) | Template::Seq(_) => {
            if !path.is_empty() {
                visit(path);
            }
        }
    }
}

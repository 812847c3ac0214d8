//! The rules of one contract: what may not be left open, and what must fit together inside it. Rules between contracts
//! are the catalog's.

use serde_json::Value;

use super::super::contract::Contract;
use super::super::finding::{FindingCode, Findings, nearest};
use super::super::model::{Compensation, Evidence, HttpSpec, Recovery, RetryClass, Reversible, VersionCheck};
use super::super::schema::{Schema, Use, lint};
use super::super::template::Expr;
use super::super::units::Pointer;

/// Lints the schemas of a document, whether or not the rest of it could be read.
fn schemas(document: &Value, findings: &mut Findings) {
    for (name, of) in [("input", Use::Input), ("output", Use::Output)] {
        if let Some(schema) = document.get(name) {
            lint(schema, &format!("/{name}"), of, findings);
        }
    }
}

/// Every rule that needs no other contract. `contract` is there when all its parts could be read.
pub(in crate::contracts) fn rules(document: &Value, contract: Option<&Contract>, findings: &mut Findings) {
    schemas(document, findings);
    let Some(contract) = contract else { return };
    paths(contract, findings);
    pointers(contract, findings);
    retry(contract, findings);
    headers(contract, findings);
    method(contract, findings);
    if let Some(parts) = &contract.write {
        if contract.effect.reversible == Reversible::Compensate
            && matches!(parts.compensation, Compensation::None(_))
        {
            let message = "the effect is reversible by compensation, but none is declared";
            let remedy = "name the tool that undoes it, or set `effect.reversible: no`";
            findings.add(FindingCode::MissingCompensation, "/compensation", message, remedy);
        }
        if parts.target.check == VersionCheck::IfMatch {
            let mut carried = false;
            request_exprs(&contract.http, &mut |expr| {
                carried |= expr.paths().iter().any(|path| path.join(".") == "target.version");
            });
            if !carried {
                let message = "`check: if_match`, but the request does not carry `target.version`";
                let remedy = "add the header `If-Match: \"\\\"${target.version}\\\"\"`";
                findings.add(FindingCode::BadHeader, "/adapter/http/headers", message, remedy);
            }
        }
    }
    examples(document, contract, findings);
}

pub(in crate::contracts) fn request_exprs<'t>(spec: &'t HttpSpec, visit: &mut dyn FnMut(&'t Expr)) {
    spec.path.iter().for_each(|text| text.each_expr(visit));
    spec.query.iter().chain(&spec.headers).for_each(|(_, text)| text.each_expr(visit));
    spec.body.iter().for_each(|body| body.each_expr(visit));
}

/// Visits every expression of a contract.
pub(in crate::contracts) fn each_expr<'t>(contract: &'t Contract, visit: &mut dyn FnMut(&'t Expr)) {
    request_exprs(&contract.http, visit);
    let Some(parts) = &contract.write else { return };
    parts.target.id.each_expr(visit);
    parts.target.scope.each_expr(visit);
    parts.target.version.iter().for_each(|version| version.each_expr(visit));
    parts.preview.with.each_expr(visit);
    parts.preview.effect_text.each_expr(visit);
    if let Some(templates) = &parts.preview.templates {
        templates.after.each_expr(visit);
        templates.consequences.each_expr(visit);
    }
    if let Recovery::StatusByKey(protocol) = &parts.recovery {
        request_exprs(&protocol.request, visit);
    }
    if let Compensation::Tool(tool) = &parts.compensation {
        tool.with.each_expr(visit);
    }
    if let Some(readback) = &parts.readback {
        readback.with.iter().for_each(|with| with.each_expr(visit));
        readback.expect.each_expr(visit);
    }
}

/// One dotted path against the schema that it reads.
pub(in crate::contracts) fn check_path(
    schema: &Schema,
    place: &str,
    path: &[String],
    skip: usize,
    findings: &mut Findings,
) {
    let Some(rest) = path.get(skip..) else { return };
    if let Err(known) = schema.has_path(rest) {
        let name = path.join(".");
        let last = rest.iter().find(|member| !known.contains(&member.as_str()));
        let near = last.and_then(|member| nearest(member, known.iter().copied()));
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "declare it in the schema".to_owned(),
            None => format!("the schema declares: {}", known.join(", ")),
        };
        findings.add(
            FindingCode::UnknownName,
            place,
            format!("`{name}` is not declared by the schema"),
            remedy,
        );
    }
}

fn paths(contract: &Contract, findings: &mut Findings) {
    let quoted = contract.write.as_ref().is_some_and(|parts| parts.preview.is_tool());
    each_expr(contract, &mut |expr| {
        for path in expr.paths() {
            match path[0].as_str() {
                "preview" if !quoted && path.get(1).is_some_and(|member| member == "id") => {
                    let message = "`preview.id` is what a preview tool answers, and none is called";
                    let remedy = "name one with `preview.call`, or remove `preview.id`";
                    findings.add(FindingCode::UnknownName, expr.place(), message, remedy);
                }
                "args" => check_path(&contract.input, expr.place(), path, 1, findings),
                "result" => check_path(&contract.output, expr.place(), path, 1, findings),
                _ => {}
            }
        }
    });
}

fn pointers(contract: &Contract, findings: &mut Findings) {
    let mut check = |pointer: &Pointer, place: &str| {
        check_path(&contract.output, place, &pointer.0, 0, findings);
    };
    for (audience, rules) in &contract.redact.audiences {
        for (pointer, _) in rules {
            check(pointer, &format!("/redact/{audience}"));
        }
    }
    contract.redact.never_store.iter().for_each(|pointer| check(pointer, "/redact/never_store"));
    if let Some(parts) = &contract.write {
        let Evidence { key, operation_id, request_sha256 } = &parts.receipt.evidence;
        for pointer in [key, operation_id, request_sha256].into_iter().flatten() {
            check(pointer, "/receipt/match");
        }
        let receipt = &parts.receipt;
        let fields = [
            (&receipt.id, "id"),
            (&receipt.previous_version, "previous_version"),
            (&receipt.new_version, "new_version"),
            (&receipt.changed_fields, "changed_fields"),
            (&receipt.committed_at, "committed_at"),
        ];
        for (pointer, name) in fields {
            pointer.iter().for_each(|pointer| check(pointer, &format!("/receipt/{name}")));
        }
    }
    for field in &contract.safe_fields {
        check_path(&contract.input, "/log/safe_fields", std::slice::from_ref(field), 0, findings);
    }
}

fn retry(contract: &Contract, findings: &mut Findings) {
    let class = contract.retry.class;
    let mut add = |message: &str, remedy: &str| {
        findings.add(FindingCode::UnsupportedRetry, "/retry", message, remedy);
    };
    match (&contract.write, class) {
        (Some(_), RetryClass::SafeRead) => {
            add("a write is not safe to repeat", "use `idempotent` or `never`")
        }
        (None, RetryClass::Idempotent) => add("a read has no key", "use `safe_read` or `never`"),
        (Some(parts), RetryClass::Idempotent)
            if parts.idempotency.key_window.0 <= contract.retry.budget.0 =>
        {
            let remedy = "make `retry.budget` shorter than `idempotency.key_window`";
            add("the service would forget the key while it is still being retried", remedy);
        }
        (Some(_) | None, _) => {}
    }
}

fn headers(contract: &Contract, findings: &mut Findings) {
    let mut seen: Vec<&str> = contract.http.headers.iter().map(|(name, _)| name.as_str()).collect();
    let key = contract.write.iter().map(|parts| (&parts.idempotency.header, "/idempotency/name"));
    let actor = &contract.actor;
    let actor = [&actor.operation, &actor.run, &actor.requester, &actor.on_behalf_of];
    for (name, place) in key.chain(actor.into_iter().flatten().map(|name| (name, "/actor"))) {
        if seen.contains(&name.as_str()) {
            let message = format!("the header `{name}` would be sent twice");
            findings.add(FindingCode::BadHeader, place, message, "give each header one source");
        }
        seen.push(name);
    }
}

fn method(contract: &Contract, findings: &mut Findings) {
    let method = contract.http.method.as_str();
    let changes = matches!(method, "PUT" | "PATCH" | "DELETE");
    let reads = matches!(method, "GET" | "HEAD");
    let message = match &contract.write {
        None if changes => format!("{method} changes something, but the tool is declared a read"),
        Some(_) if reads => format!("{method} changes nothing, but the tool is declared a write"),
        Some(_) | None => return,
    };
    let remedy = "make `effect.class` and the method agree";
    findings.add(FindingCode::WrongClass, "/adapter/http/method", message, remedy);
}

/// What an example expects is a part of an answer: nothing in it may be other than the output schema says.
fn answered(i: usize, example: &Value, contract: &Contract, findings: &mut Findings) {
    const WHOLE: &[&str] = &["required", "dependentRequired", "minProperties", "oneOf", "anyOf", "contains"];
    let Some(expect) = example.get("expect") else { return };
    for violation in contract.output.validate(expect).err().into_iter().flatten() {
        if WHOLE.contains(&violation.keyword.as_str()) {
            continue;
        }
        let place = format!("/examples/{i}/expect{}", violation.pointer);
        let message = format!("what is expected does not pass the output schema: {}", violation.message);
        findings.add(FindingCode::InvalidExample, place, message, "mend the example or the schema");
    }
}

fn examples(document: &Value, contract: &Contract, findings: &mut Findings) {
    for (i, example) in document.get("examples").and_then(Value::as_array).into_iter().flatten().enumerate() {
        answered(i, example, contract, findings);
        let Some(args) = example.get("args") else { continue };
        if let Err(violations) = contract.input.validate(&contract.input.with_defaults(args)) {
            for violation in violations {
                let place = format!("/examples/{i}/args{}", violation.pointer);
                let message = format!("the example does not pass the input schema: {}", violation.message);
                findings.add(FindingCode::InvalidExample, place, message, "mend the example or the schema");
            }
        }
    }
    for (name, schema) in [("input", &contract.input), ("output", &contract.output)] {
        for pointer in schema.refused_defaults() {
            let message = "the default does not pass its own schema";
            findings.add(
                FindingCode::InvalidExample,
                format!("/{name}{pointer}"),
                message,
                "mend the default",
            );
        }
    }
}

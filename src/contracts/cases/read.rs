//! Reads a file of cases, member by member, and holds each case to the contract that it is about.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Case, CaseFile, Given, OUTCOMES, Outcome, Then, When};
use crate::contracts::catalog::place;
use crate::contracts::contract::Contract;
use crate::contracts::finding::{FindingCode, Findings, child, suggestion};
use crate::contracts::model::EffectClass;
use crate::contracts::read::{Fields, wrong_type};
use crate::contracts::units::{NotThis, ToolRef};
use crate::contracts::{Catalog, yaml};
use crate::domain::Code;
use crate::domain::json::pointer;

/// Effects of one case; more is not a case but a load.
const MAX_EFFECTS: u32 = 1000;

/// One file from its text.
pub(super) fn parse(file: &str, text: &str, catalog: &Catalog, findings: &mut Findings) -> Option<CaseFile> {
    let mut own = Findings::default();
    let document = yaml::parse(text, &mut own);
    let read = document.as_ref().map(|document| case_file(file, &document.value, catalog, &mut own));
    place(file, document.as_ref(), &mut own);
    findings.append(own);
    read
}

fn case_file(file: &str, value: &Value, catalog: &Catalog, findings: &mut Findings) -> CaseFile {
    let mut fields = Fields::open(value, "", findings);
    let about = fields.text("about", findings);
    fields.need("about", FindingCode::MissingField, "what the cases are about", findings);
    let other_tenant = other_tenant(&mut fields, catalog, findings);
    let before_questions = before_questions(&mut fields, catalog, findings);
    let before = givens(&mut fields, catalog, findings);
    let at = fields.at("cases");
    let cases = fields.items("cases", findings).iter().enumerate().filter_map(|(i, item)| {
        let mut case = case(item, &child(&at, &i.to_string()), catalog, findings)?;
        case.given.splice(0..0, before.iter().cloned());
        Some(case)
    });
    let cases = cases.collect();
    fields.done(findings);
    CaseFile {
        file: file.to_owned(),
        about: about.unwrap_or_default(),
        other_tenant,
        before_questions,
        cases,
    }
}

fn other_tenant(
    fields: &mut Fields<'_>,
    catalog: &Catalog,
    findings: &mut Findings,
) -> Vec<(ToolRef, Value)> {
    let at = fields.at("other_tenant");
    let mut found = Vec::new();
    for (name, args) in fields.entries("other_tenant", findings) {
        let at = child(&at, name);
        match name.parse::<ToolRef>() {
            Ok(tool) => {
                if let Some(contract) = contract_of(&tool, &at, catalog, findings) {
                    refuse_invalid(&contract, args, &at, findings);
                }
                found.push((tool, args.clone()));
            }
            Err(wanted) => {
                let message = format!("`{name}` is not {}", wanted.0);
                findings.add(FindingCode::BadValue, at, message, format!("write {}", wanted.0));
            }
        }
    }
    found
}

fn contract_of(
    tool: &ToolRef,
    at: &str,
    catalog: &Catalog,
    findings: &mut Findings,
) -> Option<Arc<Contract>> {
    let found = catalog.get(tool);
    if found.is_none() {
        let known: Vec<String> = catalog.list().map(|contract| contract.tool_ref().to_string()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let remedy = suggestion(&tool.to_string(), &known);
        findings.add(FindingCode::ToolNotFound, at, format!("`{tool}` is not in the catalog"), remedy);
    }
    found
}

fn refuse_invalid(contract: &Contract, args: &Value, at: &str, findings: &mut Findings) {
    for violation in contract.validate_input(args).err().unwrap_or_default() {
        let message = format!("the arguments do not pass the input schema: {}", violation.message);
        let place = format!("{at}{}", violation.pointer);
        findings.add(FindingCode::InvalidExample, place, message, "mend the arguments or the schema");
    }
}

fn before_questions(
    fields: &mut Fields<'_>,
    catalog: &Catalog,
    findings: &mut Findings,
) -> Vec<(ToolRef, Vec<Given>)> {
    let at = fields.at("before_questions");
    let mut found = Vec::new();
    for (name, steps) in fields.entries("before_questions", findings) {
        let at = child(&at, name);
        let Ok(tool) = name.parse::<ToolRef>() else {
            let wanted = "a tool with its major version, such as `get_customer.v1`";
            let message = format!("`{name}` is not {wanted}");
            findings.add(FindingCode::BadValue, at, message, format!("write {wanted}"));
            continue;
        };
        contract_of(&tool, &at, catalog, findings);
        match steps {
            Value::Array(steps) => found.push((tool, steps_of(steps, &at, catalog, findings))),
            other => wrong_type(&at, "a list", other, findings),
        }
    }
    found
}

fn givens(fields: &mut Fields<'_>, catalog: &Catalog, findings: &mut Findings) -> Vec<Given> {
    let at = fields.at("given");
    let items = fields.items("given", findings);
    steps_of(items, &at, catalog, findings)
}

fn steps_of(items: &[Value], at: &str, catalog: &Catalog, findings: &mut Findings) -> Vec<Given> {
    let steps = items.iter().enumerate();
    steps.filter_map(|(i, item)| given(item, &child(at, &i.to_string()), catalog, findings)).collect()
}

fn given(value: &Value, at: &str, catalog: &Catalog, findings: &mut Findings) -> Option<Given> {
    let mut fields = Fields::open(value, at, findings);
    let mut found = Vec::new();
    if let Some(reset) = fields.get("reset") {
        match reset {
            Value::Bool(true) => found.push(Given::Reset),
            other => wrong_type(&fields.at("reset"), "true", other, findings),
        }
    }
    if let Some(fault) = fields.get("fault") {
        match fault.get("fault").and_then(Value::as_str) {
            Some(_) => found.push(Given::Fault(fault.clone())),
            None => {
                let message = "a fault is a mapping that names itself under `fault`";
                let remedy = "write `{ fault: apply_then_drop }`";
                findings.add(FindingCode::BadValue, fields.at("fault"), message, remedy);
            }
        }
    }
    if let Some(mut put) = fields.object("put", findings) {
        let path = put.parsed("path", findings, sandbox_path);
        put.need("path", FindingCode::MissingField, "where it is put", findings);
        let body = put.get("body").cloned().unwrap_or(Value::Null);
        put.done(findings);
        found.extend(path.map(|path| Given::Put { path, body }));
    }
    found.extend(fields.parsed("bump", findings, sandbox_path).map(Given::Bump));
    if let Some(write) = fields.object("write", findings) {
        found.extend(written(write, catalog, findings));
    }
    fields.done(findings);
    let count = value.as_object().map_or(0, Map::len);
    if count != 1 {
        let message = format!("a step does one thing; this one has {count} keys");
        findings.add(FindingCode::BadValue, at, message, "one of: reset, fault, put, bump, write");
    }
    found.pop()
}

fn written(mut fields: Fields<'_>, catalog: &Catalog, findings: &mut Findings) -> Option<Given> {
    let at = fields.pointer().to_owned();
    let tool = fields.parsed("tool", findings, |text| text.parse::<ToolRef>());
    let args = fields.get("args").cloned();
    for (key, why) in [("tool", "which write"), ("args", "its arguments")] {
        fields.need(key, FindingCode::MissingField, why, findings);
    }
    fields.done(findings);
    let (tool, args) = (tool?, args?);
    let contract = contract_of(&tool, &child(&at, "tool"), catalog, findings)?;
    refuse_invalid(&contract, &args, &child(&at, "args"), findings);
    if contract.class() == EffectClass::Read {
        let message = format!("`{tool}` is a read, which makes nothing true");
        findings.add(FindingCode::ToolNotFound, child(&at, "tool"), message, "name a write or a draft");
    }
    Some(Given::Write { tool, args })
}

/// A path that stays below the sandbox's own routes.
fn sandbox_path(text: &str) -> Result<String, NotThis> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let inside = text.chars().all(plain) && text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if inside {
        Ok(text.to_owned())
    } else {
        Err(NotThis("a path of letters, digits, `-`, `_` and `.`, such as `customers/C-1`"))
    }
}

fn case(value: &Value, at: &str, catalog: &Catalog, findings: &mut Findings) -> Option<Case> {
    let mut fields = Fields::open(value, at, findings);
    let name = fields.text("case", findings);
    let given = givens(&mut fields, catalog, findings);
    let when = fields.object("when", findings).and_then(|when| self::when(when, catalog, findings));
    let then = fields.object("then", findings).and_then(|then| self::then(then, findings));
    for (key, why) in [("case", "its name"), ("when", "what is done"), ("then", "what must come of it")] {
        fields.need(key, FindingCode::MissingField, why, findings);
    }
    fields.done(findings);
    let (when, then) = (when?, then?);
    if let Some(contract) = catalog.get(&when.tool) {
        fits(&contract, &when, &then, at, findings);
    }
    Some(Case { name: name?, given, when, then })
}

fn when(mut fields: Fields<'_>, catalog: &Catalog, findings: &mut Findings) -> Option<When> {
    let at = fields.pointer().to_owned();
    let tool_of = |text: &str| text.parse::<ToolRef>();
    let call = fields.parsed("call", findings, tool_of);
    let write = fields.parsed("write", findings, tool_of);
    let args = fields.get("args").cloned();
    let times = fields.count("times", 1..=10, findings).unwrap_or(1);
    let ask_status = fields.get("ask_status").cloned();
    if let Some(other) = ask_status.as_ref().filter(|value| !value.is_boolean()) {
        wrong_type(&fields.at("ask_status"), "true or false", other, findings);
    }
    fields.need("args", FindingCode::MissingField, "the arguments", findings);
    fields.done(findings);
    let (tool, class, key) = match (call, write) {
        (Some(tool), None) => (tool, EffectClass::Read, "call"),
        (None, Some(tool)) => (tool, EffectClass::Write, "write"),
        _ => {
            let message = "exactly one of `call` (a read) and `write` says what is done";
            findings.add(FindingCode::BadValue, at, message, "write `call: TOOL.vN` or `write: TOOL.vN`");
            return None;
        }
    };
    let contract = contract_of(&tool, &child(&at, key), catalog, findings)?;
    if (contract.class() == EffectClass::Read) != (class == EffectClass::Read) {
        let remedy = if class == EffectClass::Read { "use `write`" } else { "use `call`" };
        let message = format!("`{tool}` is of another class than `{key}`");
        findings.add(FindingCode::ToolNotFound, child(&at, key), message, remedy);
    }
    Some(When { tool, args: args?, times, ask_status: ask_status == Some(Value::Bool(true)) })
}

fn then(mut fields: Fields<'_>, findings: &mut Findings) -> Option<Then> {
    let outcome = fields.one_of("outcome", &OUTCOMES, findings);
    fields.need("outcome", FindingCode::MissingField, "what it comes to", findings);
    let code = fields.text("code", findings);
    if let Some(code) = code.as_deref().filter(|code| code.parse::<Code>().is_err()) {
        let known: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        let message = format!("`{code}` is not a code of the dictionary");
        findings.add(FindingCode::BadValue, fields.at("code"), message, suggestion(code, &known));
    }
    let at = fields.texts("at", findings);
    let effects = fields.count("effects", 0..=MAX_EFFECTS, findings);
    let answer: Vec<(String, Value)> = fields
        .entries("answer", findings)
        .into_iter()
        .map(|(place, value)| (place.to_owned(), value.clone()))
        .collect();
    for place in at.iter().chain(answer.iter().map(|(place, _)| place)) {
        if pointer::tokens(place).is_none() {
            let message = format!("`{place}` is not a JSON pointer");
            findings.add(FindingCode::BadValue, fields.pointer(), message, "write it as `/receipt/id`");
        }
    }
    fields.done(findings);
    Some(Then { outcome: outcome?, code, at, effects, answer })
}

/// What is said must be possible: a case that cannot come true is a mistake in the case.
fn fits(contract: &Contract, when: &When, then: &Then, at: &str, findings: &mut Findings) {
    let is_read = contract.class() == EffectClass::Read;
    let possible = match then.outcome {
        Outcome::Refused | Outcome::Failed => true,
        Outcome::Answered => is_read,
        Outcome::Succeeded | Outcome::TryAgain | Outcome::Partial | Outcome::Accepted | Outcome::Unknown => {
            !is_read
        }
    };
    if !possible {
        let message = format!("`{}` cannot come of this class of tool", then.outcome.as_str());
        findings.add(FindingCode::BadValue, child(at, "then"), message, "reads are answered, writes succeed");
    }
    if then.outcome != Outcome::Refused {
        refuse_invalid(contract, &when.args, &child(&child(at, "when"), "args"), findings);
    }
}

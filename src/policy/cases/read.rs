//! Reads a file of cases, member by member.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Asked, Case, CaseFile, NONE, Then, Verdict};
use crate::contracts::strict::{Fields, Findings, child, parse as parse_yaml, place, wrong_type};
use crate::contracts::{Finding, FindingCode, NotThis, ToolRef};
use crate::domain::Time;
use crate::domain::operation::{Actor, Target, WriteClass, version_text};
use crate::domain::principal::{Assurance, PrincipalKind};
use crate::policy::{Changed, Given};

/// More persons than this no rule can ask for.
const MAX_PERSONS: u32 = 16;
/// Noon of a Monday, where a case says no time: the same on every run.
const DEFAULT_NOW: &str = "2024-01-01T12:00:00Z";
const TENANT: &str = "default";
const AGENT: &str = "agent";

const CLASSES: [(&str, WriteClass); 2] = [("draft", WriteClass::Draft), ("write", WriteClass::Write)];
const KINDS: [(&str, PrincipalKind); 4] = [
    ("agent", PrincipalKind::Agent),
    ("user", PrincipalKind::User),
    ("operator", PrincipalKind::Operator),
    ("service", PrincipalKind::Service),
];
const ASSURANCES: [(&str, Assurance); 3] =
    [("local_uid", Assurance::LocalUid), ("token", Assurance::Token), ("console", Assurance::Console)];
const FLAGS: [bool; 2] = [true, false];

#[derive(Clone, Copy)]
enum Word {
    Deny,
    Approve,
    Allow,
}

const WORDS: [(&str, Word); 3] = [("deny", Word::Deny), ("approve", Word::Approve), ("allow", Word::Allow)];

pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Vec<Finding> {
    let mut findings = Findings::default();
    let remedy = "write the cases there, or name another file: writd policy test FILE";
    findings.add(FindingCode::UnreadableFile, "", format!("cannot be read: {error}"), remedy);
    place(file, None, &mut findings);
    findings.into_sorted()
}

/// A file from its text.
pub(super) fn parse(file: &str, text: &str) -> Result<CaseFile, Vec<Finding>> {
    let mut findings = Findings::default();
    let document = parse_yaml(text, &mut findings);
    let read = document.as_ref().map(|document| case_file(&document.value, &mut findings));
    place(file, document.as_ref(), &mut findings);
    match read {
        Some(read) if findings.is_empty() => Ok(read),
        Some(_) | None => Err(findings.into_sorted()),
    }
}

fn case_file(value: &Value, findings: &mut Findings) -> CaseFile {
    let mut fields = Fields::open(value, "", findings);
    let about = fields.text("about", findings);
    let at = fields.at("cases");
    let cases = fields.items("cases", findings).iter().enumerate();
    let cases = cases.filter_map(|(i, item)| case(item, &child(&at, &i.to_string()), findings)).collect();
    for (key, why) in [("about", "what the cases are about"), ("cases", "the cases")] {
        fields.need(key, FindingCode::MissingField, why, findings);
    }
    fields.done(findings);
    CaseFile { about: about.unwrap_or_default(), cases }
}

fn case(value: &Value, at: &str, findings: &mut Findings) -> Option<Case> {
    let mut fields = Fields::open(value, at, findings);
    let name = fields.text("case", findings);
    let given = fields.object("given", findings).and_then(|given| self::given(given, findings));
    let then = fields.object("then", findings).and_then(|then| self::then(then, findings));
    for (key, why) in [("case", "its name"), ("given", "the facts"), ("then", "what the table must say")] {
        fields.need(key, FindingCode::MissingField, why, findings);
    }
    fields.done(findings);
    Some(Case { name: name?, given: given?, then: then? })
}

fn time(text: &str) -> Result<Time, NotThis> {
    text.parse().map_err(|_| NotThis("a time with its offset, such as `2027-01-31T09:00:00Z`"))
}

fn given(mut fields: Fields<'_>, findings: &mut Findings) -> Option<Given> {
    let class = fields.one_of("class", &CLASSES, findings);
    let tool = fields.parsed("tool", findings, |text| text.parse::<ToolRef>());
    let tenant = fields.text("tenant", findings);
    let environment = fields.text("environment", findings);
    let (requester, owner, on_behalf_of) = requester(fields.object("requester", findings), findings);
    let target = target(fields.object("target", findings), findings);
    let args = mapping(&mut fields, "args", findings);
    let claims = fields.texts("claims", findings);
    let mut consequences = mapping(&mut fields, "consequences", findings);
    let at = fields.at("diff");
    let changes = fields.items("diff", findings).iter().enumerate();
    let changes =
        changes.filter_map(|(i, item)| changed(item, &child(&at, &i.to_string()), findings)).collect();
    let purpose = fields.text("purpose", findings);
    let now = fields.parsed("now", findings, time);
    for (key, why) in [("class", "draft or write"), ("tool", "which tool")] {
        fields.need(key, FindingCode::MissingField, why, findings);
    }
    if let Some(environment) = environment {
        let said = consequences.insert("environment".to_owned(), json!(environment));
        if said.is_some_and(|said| said != json!(environment)) {
            let message = "`consequences.environment` says something else";
            findings.add(FindingCode::BadValue, fields.at("environment"), message, "say it once");
        }
    }
    fields.done(findings);
    let tool = tool?;
    Some(Given {
        class: class?,
        tool: tool.name,
        version: tool.major.to_string(),
        tenant: tenant.unwrap_or_else(|| TENANT.to_owned()),
        requester,
        owner,
        on_behalf_of,
        target,
        args: Value::Object(args),
        claims,
        changes,
        consequences: Value::Object(consequences),
        run: String::new(),
        purpose: purpose.unwrap_or_default(),
        now: now.or_else(|| DEFAULT_NOW.parse().ok())?,
    })
}

fn mapping(fields: &mut Fields<'_>, name: &'static str, findings: &mut Findings) -> Map<String, Value> {
    let entries = fields.entries(name, findings);
    entries.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

type Asking = (Actor, Option<String>, Option<String>);

fn requester(fields: Option<Fields<'_>>, findings: &mut Findings) -> Asking {
    let actor = |name: String, kind, person, assurance| Actor { name, kind, person, assurance };
    let Some(mut fields) = fields else {
        let agent = actor(AGENT.to_owned(), PrincipalKind::Agent, AGENT.to_owned(), Assurance::LocalUid);
        return (agent, None, None);
    };
    let kind = fields.one_of("kind", &KINDS, findings).unwrap_or(PrincipalKind::Agent);
    let name = fields.text("name", findings).unwrap_or_else(|| kind.as_str().to_owned());
    let person = fields.text("person", findings).unwrap_or_else(|| name.clone());
    let assurance = fields.one_of("assurance", &ASSURANCES, findings).unwrap_or(Assurance::LocalUid);
    let owner = fields.text("owner", findings);
    let on_behalf_of = fields.text("on_behalf_of", findings);
    fields.done(findings);
    (actor(name, kind, person, assurance), owner, on_behalf_of)
}

fn target(fields: Option<Fields<'_>>, findings: &mut Findings) -> Target {
    let none = || Target { kind: String::new(), id: String::new(), scope: String::new(), version: None };
    let Some(mut fields) = fields else { return none() };
    let kind = fields.text("type", findings).unwrap_or_default();
    let id = fields.text("id", findings).unwrap_or_default();
    let scope = fields.text("scope", findings).unwrap_or_else(|| id.clone());
    let version = fields.get("version").and_then(version_text);
    fields.done(findings);
    Target { kind, id, scope, version }
}

fn changed(value: &Value, at: &str, findings: &mut Findings) -> Option<Changed> {
    let mut fields = Fields::open(value, at, findings);
    let field = fields.text("field", findings);
    let mut side = |name| fields.get(name).cloned().unwrap_or(Value::Null);
    let (before, after) = (side("before"), side("after"));
    fields.need("field", FindingCode::MissingField, "the pointer of the field", findings);
    fields.done(findings);
    Some(Changed { field: field?, before, after })
}

fn then(mut fields: Fields<'_>, findings: &mut Findings) -> Option<Then> {
    let at = fields.pointer().to_owned();
    let word = fields.one_of("verdict", &WORDS, findings);
    let rule = fields.text("rule", findings);
    let asked = Asked {
        persons: fields.count("persons", 1..=MAX_PERSONS, findings),
        groups: groups(&mut fields, findings),
        assurance: fields.one_of("assurance", &ASSURANCES, findings),
        reason_required: flag(&mut fields, "reason_required", findings),
        excluded: set(&mut fields, "excluded", findings),
    };
    let rules = set(&mut fields, "rules", findings);
    fields.need("verdict", FindingCode::MissingField, "what the table must say", findings);
    fields.done(findings);
    let mut refuse = |message: &str, remedy: &str| {
        findings.add(FindingCode::BadValue, at.clone(), message, remedy);
        None
    };
    let verdict = match (word?, rule) {
        (Word::Deny | Word::Allow, _) if asked != Asked::default() => {
            return refuse(
                "only an approval asks somebody",
                "remove what is asked, or say `verdict: approve`",
            );
        }
        (Word::Deny, Some(rule)) => Verdict::Deny(rule),
        (Word::Deny, None) => {
            let remedy = format!("add `rule`; `{NONE}` where no rule matches");
            return refuse("a denial names its rule", &remedy);
        }
        (Word::Approve | Word::Allow, Some(_)) => {
            return refuse("`rule` names the rule that denies", "use `rules` for all that match");
        }
        (Word::Approve, None) => Verdict::Approve(asked),
        (Word::Allow, None) => Verdict::Allow,
    };
    Some(Then { verdict, rules })
}

fn flag(fields: &mut Fields<'_>, name: &'static str, findings: &mut Findings) -> Option<bool> {
    let value = fields.get(name)?;
    let known = FLAGS.into_iter().find(|flag| *value == Value::Bool(*flag));
    if known.is_none() {
        wrong_type(&fields.at(name), "true or false", value, findings);
    }
    known
}

fn set(fields: &mut Fields<'_>, name: &'static str, findings: &mut Findings) -> Option<BTreeSet<String>> {
    fields.get(name)?;
    Some(fields.texts(name, findings).into_iter().collect())
}

fn groups(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<BTreeMap<String, u32>> {
    fields.get("groups")?;
    let at = fields.at("groups");
    let mut found = BTreeMap::new();
    for (group, count) in fields.entries("groups", findings) {
        let number = count.as_u64().and_then(|count| u32::try_from(count).ok());
        match number.filter(|count| (1..=MAX_PERSONS).contains(count)) {
            Some(count) => drop(found.insert(group.to_owned(), count)),
            None => wrong_type(&child(&at, group), "a small whole number of persons", count, findings),
        }
    }
    Some(found)
}

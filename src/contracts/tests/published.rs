//! The published schema of the format, `docs/contract.schema.json`, against the loader: what is shipped passes it, and what
//! it can say at all it says as the loader does.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::finding::Findings;
use super::super::schema::Schema;
use super::super::{FindingCode as Code, yaml};
use super::findings::{all_cases, sources};
use super::shipped_dir;

/// What a schema can say about one file. The others are about text, values, names or several places at once.
const SAYS: &[Code] = &[
    Code::UnknownKey,
    Code::WrongType,
    Code::MissingField,
    Code::BadValue,
    Code::OpenObject,
    Code::UnboundedString,
    Code::UnboundedArray,
    Code::UnboundedNumber,
    Code::RemoteRef,
    Code::MissingTarget,
    Code::MissingPreview,
    Code::MissingApproval,
    Code::MissingKey,
    Code::MissingRecovery,
    Code::MissingReceipt,
    Code::MissingTimeout,
    Code::MissingErrors,
    Code::MissingLimits,
    Code::MissingActor,
    Code::MissingCompensation,
    Code::DraftWithoutTtl,
    Code::NotExecutable,
    Code::BadErrorEntry,
    Code::WrongClass,
];
/// Examples of these codes that only the loader sees, each with the reason.
const ONLY_THE_LOADER: &[(&str, &str)] =
    &[("unbounded-string.pattern", "whether a pattern is bounded is not a matter of structure")];

fn published() -> Schema {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contract.schema.json");
    let source: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut findings = Findings::default();
    let schema = Schema::compile(&source, "", &mut findings);
    schema.unwrap_or_else(|| panic!("{:?}", findings.into_sorted()))
}

fn value(text: &str) -> Option<Value> {
    yaml::parse(text, &mut Findings::default()).map(|document| document.value)
}

fn contracts(dir: &Path, out: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.to_str() {
            _ if path.is_dir() => contracts(&path, out),
            Some(name) if name.ends_with(".tool.yaml") => {
                out.push((name.to_owned(), std::fs::read_to_string(&path).unwrap()));
            }
            _ => {}
        }
    }
}

#[test]
fn every_shipped_contract_passes_the_published_schema_and_names_it() {
    let (schema, mut all) = (published(), Vec::new());
    contracts(&shipped_dir(), &mut all);
    assert!(all.len() >= 3);
    for (name, text) in all {
        let found = schema.validate(&value(&text).unwrap());
        assert!(found.is_ok(), "{name}: {found:?}");
        let first = text.lines().next().unwrap();
        let named = first.strip_prefix("# yaml-language-server: $schema=").expect(&name);
        assert!(Path::new(&name).parent().unwrap().join(named).is_file(), "{name}: {first}");
    }
}

#[test]
fn what_a_schema_can_say_the_published_one_says_as_the_loader_does() {
    let (schema, mut wrong, mut said) = (published(), String::new(), BTreeSet::new());
    for (name, code, (file, from, to)) in all_cases().into_iter().filter(|(_, code, _)| SAYS.contains(code)) {
        let text =
            sources(Some((file, from, to))).into_iter().find(|source| source.file == file).unwrap().text;
        let refused = value(&text).is_none_or(|value| !schema.accepts(&value));
        let exempt = ONLY_THE_LOADER.iter().any(|(known, _)| *known == name);
        if refused == exempt {
            let _ = writeln!(wrong, "{name}: refused {refused}, exempt {exempt}");
        }
        said.insert(code);
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(said, SAYS.iter().copied().collect(), "every code has an example");
}

/// Every key that the loader asks for, or nothing where it is not a literal.
#[test]
fn every_key_of_the_loader_is_in_the_published_schema() {
    fn names(schema: &Value, out: &mut BTreeSet<String>) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    out.extend(properties.keys().cloned());
                }
                members.values().for_each(|member| names(member, out));
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, out)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut known = BTreeSet::new();
    names(published().source(), &mut known);
    let asks = [
        ".object(\"",
        ".text(\"",
        ".texts(\"",
        ".parsed(\"",
        ".one_of(\"",
        ".count(\"",
        ".items(\"",
        ".get(\"",
    ];
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contracts/resolve");
    let mut asked = BTreeSet::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for ask in asks {
            asked
                .extend(text.split(ask).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    assert!(asked.len() > 60, "{asked:?}");
    let missing: Vec<_> = asked.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

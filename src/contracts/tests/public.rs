//! Public data against the checker: the required tests of the JSON Schema Test Suite (draft 2020-12) through our wrapper of
//! the validator, and tool definitions and API descriptions as others publish them. Without the data a test says that it
//! did not run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::finding::Findings;
use super::super::schema::{Schema, Use, lint};
use super::super::{Catalog, FindingCode as Code, Source};
use super::findings::sources;

/// Groups of the suite that our wrapper decides otherwise on purpose: the file, the reason, the groups.
const DECIDED: &[(&str, &str, &[&str])] = &[
    (
        "format.json",
        "a format is asserted: a contract that names one means it",
        &[
            "email format",
            "regex format",
            "ipv4 format",
            "ipv6 format",
            "hostname format",
            "date format",
            "date-time format",
            "time format",
            "json-pointer format",
            "relative-json-pointer format",
            "iri format",
            "iri-reference format",
            "uri format",
            "uri-reference format",
            "uri-template format",
            "uuid format",
            "duration format",
        ],
    ),
    (
        "format.json",
        "a format that nothing checks is refused, not ignored",
        &["idn-email format", "idn-hostname format"],
    ),
    (
        "refRemote.json",
        "nothing is ever retrieved: a reference that leaves its schema is refused",
        &[
            "remote ref",
            "fragment within remote ref",
            "anchor within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "remote ref with ref to defs",
            "Location-independent identifier in remote ref",
            "retrieved nested refs resolve relative to their URI not $id",
            "remote HTTP ref with different $id",
            "remote HTTP ref with different URN $id",
            "remote HTTP ref with nested absolute ref",
            "$ref to $ref finds detached $anchor",
        ],
    ),
    (
        "dynamicRef.json",
        "these groups refer to remote schemas",
        &[
            "strict-tree schema, guards against misspelled properties",
            "tests for implementation dynamic anchor and reference link",
            "$ref and $dynamicAnchor are independent of order - $defs first",
            "$ref and $dynamicAnchor are independent of order - $ref first",
            "$ref to $dynamicRef finds detached $dynamicAnchor",
        ],
    ),
    (
        "vocabulary.json",
        "the dialect is always 2020-12 as a whole: another metaschema cannot switch a keyword off",
        &["schema that uses custom metaschema with with no validation vocabulary"],
    ),
];

fn shared(folder: &str) -> Option<PathBuf> {
    let base = std::env::var_os("WRITD_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let folder = base.join(folder);
    if folder.is_dir() {
        return Some(folder);
    }
    // Not eprintln!, which the test harness would keep to itself; and in one piece, as tests run side by side.
    let notice = format!("\n*** DID NOT RUN: no public test data at {} ***\n", folder.display());
    let _ = std::io::stderr().write_all(notice.as_bytes());
    None
}

fn files(folder: &Path, end: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && name.ends_with(end) {
            found.insert(name, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap());
        }
    }
    found
}

/// What a group of the suite comes to: nothing if every test is decided as it says.
fn group(group: &Value) -> Option<String> {
    let mut findings = Findings::default();
    let Some(schema) = Schema::compile(&group["schema"], "", &mut findings) else {
        let first = findings.into_sorted().remove(0);
        return Some(format!("not compiled: {} {} {}", first.code, first.pointer, first.message));
    };
    let wrong = group["tests"].as_array().unwrap().iter().filter(|test| {
        let before = test["data"].clone();
        let valid = schema.validate(&test["data"]).is_ok();
        assert_eq!(before, test["data"], "a check changes nothing");
        assert_eq!(valid, schema.accepts(&test["data"]), "{}", test["description"]);
        Some(valid) != test["valid"].as_bool()
    });
    let wrong: Vec<&str> = wrong.map(|test| test["description"].as_str().unwrap()).collect();
    (!wrong.is_empty()).then(|| format!("decided otherwise: {}", wrong.join("; ")))
}

#[test]
fn the_required_tests_of_the_json_schema_suite_pass_or_are_decided_by_name() {
    let Some(folder) = shared("json-schema-test-suite/tests/draft2020-12") else { return };
    let decided = DECIDED
        .iter()
        .flat_map(|(file, _, groups)| groups.iter().map(move |group| format!("{file}: {group}")));
    let mut left: BTreeSet<String> = decided.collect();
    assert_eq!(
        left.len(),
        DECIDED.iter().map(|(.., groups)| groups.len()).sum::<usize>(),
        "a group is decided twice"
    );
    let (mut count, mut wrong) = (0, Vec::new());
    for (file, groups) in files(&folder, ".json") {
        for one in groups.as_array().unwrap() {
            count += one["tests"].as_array().unwrap().len();
            let name = format!("{file}: {}", one["description"].as_str().unwrap());
            match (group(one), left.remove(&name)) {
                (None, false) | (Some(_), true) => {}
                (Some(found), false) => wrong.push(format!("{name}: {found}")),
                (None, true) => wrong.push(format!("{name}: passes now; take it off the list")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(left.is_empty(), "decided, but not there: {left:?}");
    assert!(count >= 1200, "only {count} tests");
}

/// A tool definition of others as a contract of ours: everything that it does not say stays as a shipped read says it.
fn contract(name: &str, input: &Value) -> Source {
    let read = sources(None).remove(0);
    let (head, rest) = read.text.split_once("\ninput:\n").unwrap();
    let (_, rest) = rest.split_once("\noutput:\n").unwrap();
    let head = head.replace("tool: get_customer", &format!("tool: {}", name.to_lowercase()));
    let rest = rest.replace("\"/customers/${args.customer_id}\"", "/anything");
    // JSON is YAML, as long as it stands on one line.
    Source { file: format!("{name}.tool.yaml"), text: format!("{head}\ninput: {input}\noutput:\n{rest}") }
}

#[test]
fn public_tool_definitions_neither_crash_the_checker_nor_pass_it_unfinished() {
    let Some(folder) = shared("github-mcp-tools/pkg/github/__toolsnaps__") else { return };
    let (mut count, mut codes) = (0, BTreeMap::<Code, usize>::new());
    for (file, tool) in files(&folder, ".snap") {
        count += 1;
        let input = &tool["inputSchema"];
        let mut findings = Findings::default();
        lint(input, "/input", Use::Input, &mut findings);
        // No definition has a closed root, so none is finished.
        assert!(!findings.is_empty(), "{file} gets past the lint unfinished");
        let findings = Catalog::from_sources(vec![contract(tool["name"].as_str().unwrap(), input)])
            .err()
            .unwrap_or_else(|| panic!("{file} becomes a contract unfinished"));
        for finding in findings {
            assert!(!finding.remedy.is_empty() && finding.line > 0, "{file}: {finding}");
            *codes.entry(finding.code).or_default() += 1;
        }
    }
    assert_eq!(count, 117);
    assert!(codes.get(&Code::OpenObject).is_some_and(|open| *open >= count - 20), "{codes:?}");
    for code in [Code::UnboundedString, Code::UnboundedNumber, Code::MissingKind] {
        assert!(codes.contains_key(&code), "{codes:?}");
    }
    assert!(!codes.contains_key(&Code::YamlSyntax), "{codes:?}");
}

/// A schema of an API description, with the others beside it.
fn schema_of(document: &Value, name: &str) -> Value {
    let all = &document["components"]["schemas"];
    let text = json!({"$ref": format!("#/$defs/{name}"), "$defs": all}).to_string();
    serde_json::from_str(&text.replace("#/components/schemas/", "#/$defs/")).unwrap()
}

#[test]
fn c42_the_union_of_58_without_a_tag_is_refused() {
    let Some(folder) = shared("openapi/adyen/json") else { return };
    let document = files(&folder, "CheckoutService-v71.json").remove("CheckoutService-v71.json").unwrap();
    let union = &document["components"]["schemas"]["PaymentRequest"]["properties"]["paymentMethod"]["oneOf"];
    assert_eq!(union.as_array().unwrap().len(), 58);
    let mut findings = Findings::default();
    let whole = schema_of(&document, "PaymentRequest");
    let root = json!({"type": "object", "additionalProperties": false, "$defs": whole["$defs"],
        "properties": {"paymentMethod": {"oneOf": serde_json::from_str::<Value>(
            &union.to_string().replace("#/components/schemas/", "#/$defs/")).unwrap()}}});
    lint(&root, "", Use::Input, &mut findings);
    let found = findings.into_sorted();
    let union = found.iter().find(|finding| finding.pointer == "/properties/paymentMethod/oneOf");
    assert_eq!(union.map(|finding| finding.code), Some(Code::NoDiscriminator));
}

#[test]
fn c44_the_carriers_of_a_public_api_are_checked_whole() {
    let Some(folder) = shared("openapi/paypal/openapi") else { return };
    let document = files(&folder, ".json").remove("checkout_orders_v2.json").unwrap();
    let carriers = &document["components"]["schemas"]["shipment_carrier"]["enum"];
    let carriers: Vec<&Value> = carriers.as_array().unwrap().iter().collect();
    assert_eq!(carriers.len(), 1276);
    let mut findings = Findings::default();
    let schema = Schema::compile(&json!({"properties": {"carrier": {"enum": carriers}}}), "", &mut findings);
    let schema = schema.unwrap();
    assert!(schema.accepts(&json!({"carrier": "FEDEX"})));
    let refused = schema.validate(&json!({"carrier": "NOPE_X"})).unwrap_err();
    assert!(serde_json::to_string(&refused).unwrap().len() < 2048);
}

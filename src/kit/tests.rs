//! The negative suite: every boundary that a shipped contract declares is refused at its place, by the admission of the
//! daemon, with nothing to send with.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::config::Config;

fn shipped() -> (Catalog, Parts) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows");
    let catalog = Catalog::load(&dir).unwrap_or_else(|findings| panic!("{findings:?}"));
    let parts = crate::daemon::compose_kit(&Config::default_for(Path::new("/nowhere")), catalog.clone());
    (catalog, parts.unwrap())
}

/// Where a schema declares something that can be overstepped, found by reading it as text, without any idea of what it
/// means: keywords in places where schemas stand.
fn declared(schema: &Value, at: &str, found: &mut BTreeSet<String>) {
    const BOUNDS: [&str; 24] = [
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "format",
        "maxItems",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "maxProperties",
        "minProperties",
        "not",
        "oneOf",
        "anyOf",
        "propertyNames",
    ];
    let Some(members) = schema.as_object() else { return };
    for (keyword, value) in members {
        let at = format!("{at}/{keyword}");
        let nothing = keyword.starts_with("min") && keyword != "minimum" && value == 0;
        match keyword.as_str() {
            "properties" | "$defs" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    declared(inner, &format!("{at}/{name}"), found);
                }
            }
            "items" | "additionalProperties" if value.is_object() => declared(value, &at, found),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
                    declared(inner, &format!("{at}/{i}"), found);
                }
            }
            _ => {}
        }
        let closed =
            ["additionalProperties", "unevaluatedProperties"].contains(&keyword.as_str()) && value == false;
        let names = keyword == "required" && value.as_array().is_some_and(|names| !names.is_empty());
        if closed || names || (BOUNDS.contains(&keyword.as_str()) && !nothing) {
            found.insert(at);
        }
    }
}

#[test]
fn every_boundary_of_every_shipped_contract_is_refused_at_its_place() {
    let (catalog, parts) = shipped();
    let mut boundaries = 0;
    for contract in catalog.list() {
        let name = format!("{} {}", contract.tool, contract.version);
        let suite = offline::suite_of(contract);
        assert!(suite.without.is_empty(), "{name}: boundaries without a case: {:?}", suite.without);
        let mut declared_at = BTreeSet::new();
        declared(contract.input().source(), "", &mut declared_at);
        let cases: BTreeSet<String> = suite.cases.iter().map(|case| case.boundary.schema.clone()).collect();
        let missed: Vec<_> = declared_at.difference(&cases).collect();
        assert!(missed.is_empty(), "{name}: {missed:?}");
        let tool = parts.tools.pinned(contract.fingerprint(), contract.body()).unwrap();
        let checks = offline::checks(contract, tool.as_ref(), &suite);
        let failed: Vec<_> = checks.iter().filter(|check| check.verdict == Verdict::Failed).collect();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
        let asked = checks.iter().filter(|check| check.part == Part::Boundary).count();
        assert_eq!(asked, suite.boundaries(), "{name}");
        boundaries += asked;
    }
    // The three contracts of the customers alone have so many.
    assert!(boundaries >= 38, "only {boundaries} boundaries were found");
}

#[test]
fn an_admission_that_takes_everything_fails_every_boundary() {
    let (catalog, parts) = shipped();
    let strict = catalog.get(&"commit_address_change.v2".parse().unwrap()).unwrap();
    let suite = offline::suite_of(&strict);
    // A contract of the same name whose schema forgot all bounds; a stored body may be like that.
    let mut body: Value = serde_json::from_slice(strict.body()).unwrap();
    body["input"] = serde_json::json!({"type": "object"});
    let lax = Contract::from_body(&serde_json::to_vec(&body).unwrap()).unwrap();
    let tool = parts.tools.pinned(lax.fingerprint(), lax.body()).unwrap();
    let checks = offline::checks(&strict, tool.as_ref(), &suite);
    let boundaries = checks.iter().filter(|check| check.part == Part::Boundary);
    let passed: Vec<_> = boundaries.filter(|check| check.verdict == Verdict::Passed).collect();
    // That the whole is an object is the one bound that is left.
    assert_eq!(passed.len(), 1, "{passed:#?}");
}

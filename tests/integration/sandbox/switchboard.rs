//! The switchboard itself: which requests a fault hits, how often, what it refuses, and chaos.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{ADDRESS, arm, change_of, confirm, refused, status};
use crate::support::sandbox::Sandbox;

#[test]
fn a_fault_hits_what_it_matches_as_often_as_it_says() {
    let sandbox = Sandbox::start();
    arm(&sandbox, "unavailable_before", json!({"times": 2, "match": {"customer_id": "C-5"}}));
    assert_eq!(confirm(&sandbox, "C-6", "a").answer().status, 201);
    assert_eq!(sandbox.get("/customers/C-5").status, 200, "without a method or path it is about writes");
    for expected in [503, 503, 201] {
        assert_eq!(confirm(&sandbox, "C-5", "b").answer().status, expected);
    }
    let listed = sandbox.faults();
    assert_eq!((&listed[0]["hits"], &listed[0]["times_left"]), (&json!(2), &json!(0)));
    arm(&sandbox, "expired_token", json!({"match": {"method": "GET", "path_prefix": "/customers/C-7"}}));
    assert_eq!(sandbox.get("/customers/C-8").status, 200);
    assert_eq!(sandbox.get("/customers/C-7").status, 401);
    arm(&sandbox, "reject", json!({"times": null, "match": {"key": "c"}}));
    for _ in 0..3 {
        assert_eq!(confirm(&sandbox, "C-5", "c").answer().status, 422);
    }
    sandbox.clear_faults();
    assert_eq!(confirm(&sandbox, "C-5", "c").answer().status, 201);
    for wrong in [
        json!({"fault": "no_such_fault"}),
        json!({"fault": "hang", "ms": 5}),
        json!({"fault": "hang", "times": 0}),
        json!({"fault": "hang", "match": {"methd": "GET"}}),
        json!({"fault": "apply_then_5xx", "status": 200}),
        json!([]),
    ] {
        let body = wrong.to_string();
        let answer = sandbox.request("POST", "/_sandbox/faults", &[], body.as_bytes()).answer();
        refused(&answer, 400, "INVALID_FAULT");
    }
    assert_eq!(sandbox.faults().len(), 0);
}

/// Which of 200 writes are hit by what, for a seed.
fn drawn(sandbox: &Sandbox, seed: u64) -> Vec<(u16, String)> {
    sandbox.reset();
    sandbox.chaos(json!({
        "seed": seed,
        "probabilities": {"unavailable_before": 0.2, "apply_then_5xx": {"p": 0.2, "status": 504}, "status_down": 1},
    }));
    let answers = (0..200).map(|number| {
        let answer = change_of(sandbox, &format!("C-{number}"), 1, &format!("k{number}"), ADDRESS).answer();
        (answer.status, format!("k{number}"))
    });
    answers.collect()
}

#[test]
fn chaos_is_the_same_for_the_same_seed() {
    let sandbox = Sandbox::start();
    let first = drawn(&sandbox, 1);
    let kinds: BTreeSet<u16> = first.iter().map(|(status, _)| *status).collect();
    assert_eq!(kinds, BTreeSet::from([200, 503, 504]));
    let applied = first.iter().filter(|(status, _)| *status != 503).count();
    assert_eq!(sandbox.effects()["total"], applied);
    assert_eq!(status(&sandbox, "k0").status, 503, "status queries are hit by status faults");
    assert_eq!(sandbox.get("/customers/C-1").status, 200, "reads are never hit");
    assert_eq!(drawn(&sandbox, 1), first);
    assert_ne!(drawn(&sandbox, 2), first);
    sandbox.clear_chaos();
    assert_eq!(status(&sandbox, "k_unknown").status, 404);
    let body = br#"{"seed":1,"probabilities":{"hang":0.6,"delay":0.6}}"#;
    refused(&sandbox.request("POST", "/_sandbox/chaos", &[], body).answer(), 400, "INVALID_CHAOS");
}

#[test]
fn the_readme_shows_every_fault_and_every_one_can_be_armed() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/customers/README.md"));
    let readme = readme.expect("the README");
    let sandbox = Sandbox::start();
    let mut shown = BTreeSet::new();
    for line in readme.lines().filter(|line| line.starts_with("| `")) {
        let Some((_, rest)) = line.split_once("`'{\"fault\"") else { continue };
        let body = format!("{{\"fault\"{}", rest.trim_end_matches(['`', '\'', ' ', '|']));
        let body: Value = serde_json::from_str(&body).expect("a fault is JSON");
        sandbox.fault(body.clone());
        let name = body["fault"].as_str().expect("a name").to_owned();
        assert!(line.starts_with(&format!("| `{name}` |")), "{line}");
        shown.insert(name);
    }
    let unknown = sandbox.request("POST", "/_sandbox/faults", &[], br#"{"fault":"?"}"#).answer().json();
    let detail = unknown["detail"].as_str().expect("a detail");
    let (_, expected) = detail.split_once("expected one of ").expect("the names");
    let known: BTreeSet<String> =
        expected.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    assert_eq!(shown, known);
}

//! What the service does when nothing interferes: versions, keys, receipts, refusals, the ledger.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{ADDRESS, arm, change, change_of, confirm, refused, status};
use crate::support::sandbox::Sandbox;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_change_moves_the_version_and_leaves_a_receipt() {
    let sandbox = Sandbox::start();
    let read = sandbox.get("/customers/C-1842");
    assert_eq!((read.status, read.header("etag")), (200, Some("\"17\"")));
    let before = read.json();
    assert_eq!(before["name"], "Marta Lindqvist");
    let answer = change(&sandbox, "run_1:op_1").answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("idempotent-replayed"), None);
    let body = answer.json();
    assert_eq!(body["customer_id"], "C-1842");
    assert_eq!((&body["previous_version"], &body["new_version"]), (&json!(17), &json!(18)));
    assert_eq!(body["changed_fields"], json!(["shipping_address"]));
    let receipt = &body["receipt"];
    assert_eq!((&receipt["operation_id"], &receipt["key"]), (&json!("op_1"), &json!("run_1:op_1")));
    assert_eq!(receipt["request_sha256"], sha256(ADDRESS));
    assert_eq!(receipt["before"]["shipping_address"], before["shipping_address"]);
    let after = sandbox.customer("C-1842");
    assert_eq!(after["version"], 18);
    assert_eq!(after["shipping_address"]["line1"], "Kungsgatan 5");
}

#[test]
fn the_same_key_gives_the_stored_answer_and_no_second_effect() {
    let sandbox = Sandbox::start();
    let first = change(&sandbox, "k").answer();
    let second = change(&sandbox, "k").answer();
    assert_eq!((first.status, &first.body), (second.status, &second.body));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    let other = change_of(&sandbox, "C-1842", 18, "k", br#"{"other":"bytes"}"#).answer();
    refused(&other, 422, "KEY_REUSED");
    refused(&change_of(&sandbox, "C-7", 1, "k", ADDRESS).answer(), 422, "KEY_REUSED");
    assert_eq!(sandbox.effects()["total"], 1);
    assert_eq!(sandbox.customer("C-1842")["version"], 18);
}

#[test]
fn a_stale_version_is_refused_and_the_key_stays_free() {
    let sandbox = Sandbox::start();
    assert_eq!(sandbox.bump("C-1842"), 18);
    let stale = change(&sandbox, "k").answer();
    refused(&stale, 409, "STALE");
    assert_eq!(stale.json()["current_version"], 18);
    assert_eq!(status(&sandbox, "k").status, 404);
    assert_eq!(change_of(&sandbox, "C-1842", 18, "k", ADDRESS).answer().status, 200);
    assert_eq!(sandbox.effects()["other_changes"], 1);
    assert_eq!(sandbox.effects_of("customer:C-1842"), 1);
}

#[test]
fn a_malformed_address_is_the_keys_answer_for_good() {
    let sandbox = Sandbox::start();
    let bodies: [&[u8]; 5] = [
        b"",
        b"\xff",
        br#"{"line1":"a","postal_code":"1","city":"c"}"#,
        br#"{"line1":"a","postal_code":"1","city":"c","country":"SE","more":1}"#,
        br#"{"line1":" ","postal_code":"1","city":"c","country":"SE"}"#,
    ];
    for (number, body) in bodies.iter().enumerate() {
        let key = format!("k{number}");
        let first = change_of(&sandbox, "C-1842", 17, &key, body).answer();
        refused(&first, 400, "INVALID_ADDRESS");
        let second = change_of(&sandbox, "C-1842", 17, &key, body).answer();
        assert_eq!((second.status, second.header("idempotent-replayed")), (400, Some("true")));
        let known = status(&sandbox, &key).json();
        assert_eq!((&known["status"], &known["error"]), (&json!("failed"), &first.json()));
    }
    assert_eq!(sandbox.effects()["total"], 0);
    let received = sandbox.requests();
    assert!(received.iter().any(|record| record["body_hex"] == "ff"));
}

#[test]
fn key_and_version_are_required_and_unknown_ids_do_not_exist() {
    let sandbox = Sandbox::start();
    let path = "/customers/C-1842/shipping-address";
    let put = |headers: &[(&str, &str)]| sandbox.request("PUT", path, headers, ADDRESS).answer();
    refused(&put(&[("if-match", "\"17\"")]), 400, "KEY_REQUIRED");
    refused(&put(&[("idempotency-key", "k")]), 400, "VERSION_REQUIRED");
    refused(&put(&[("idempotency-key", "k"), ("if-match", "17")]), 400, "INVALID_VERSION");
    refused(&put(&[("idempotency-key", "k"), ("idempotency-key", "l")]), 400, "KEY_REQUIRED");
    for id in ["C-", "C-12x", "C-1234567890", "X-1", "c-1", "%43-1%00"] {
        refused(&sandbox.get(&format!("/customers/{id}")), 404, "NO_SUCH_CUSTOMER");
        refused(&change_of(&sandbox, id, 1, "k", ADDRESS).answer(), 404, "NO_SUCH_CUSTOMER");
    }
    assert_eq!(sandbox.request("DELETE", "/customers/C-1", &[], b"").answer().status, 405);
    refused(&sandbox.get("/customers/C-1/else"), 404, "NO_SUCH_ROUTE");
    assert_eq!(sandbox.effects()["total"], 0);
    assert_eq!(sandbox.customer("C-123456789")["version"], 1);
}

#[test]
fn a_confirmation_is_an_effect_of_its_own() {
    let sandbox = Sandbox::start();
    let first = confirm(&sandbox, "C-1842", "k").answer();
    assert_eq!(first.status, 201);
    assert_eq!(confirm(&sandbox, "C-1842", "k").answer().body, first.body);
    assert_ne!(confirm(&sandbox, "C-1842", "l").answer().json()["message_id"], first.json()["message_id"]);
    assert_eq!((sandbox.effects_of("mail:C-1842"), sandbox.effects_under("k")), (2, 1));
    assert_eq!(sandbox.customer("C-1842")["version"], 17);
}

#[test]
fn the_status_of_a_key_tells_what_the_answer_told() {
    let sandbox = Sandbox::start();
    refused(&status(&sandbox, "run_1%3Aop%2F1"), 404, "NO_SUCH_OPERATION");
    let answer = change(&sandbox, "run_1:op/1").answer();
    let known = status(&sandbox, "run_1%3Aop%2F1").json();
    assert_eq!((&known["status"], &known["result"]), (&json!("succeeded"), &answer.json()));
    assert_eq!((&known["operation_id"], &known["request_sha256"]), (&json!("op_1"), &json!(sha256(ADDRESS))));
}

#[test]
fn the_ledger_has_every_request_as_sent_and_every_effect() {
    let sandbox = Sandbox::start();
    let headers = [("idempotency-key", "k"), ("if-match", "\"17\""), ("authorization", "Bearer very-secret")];
    sandbox.request("PUT", "/customers/C-1842/shipping-address?a=b", &headers, ADDRESS).answer();
    change(&sandbox, "l").answer();
    let ledger = sandbox.ledger();
    let kinds: Vec<&str> = ledger.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "effect", "request"]);
    let numbers: Vec<u64> = ledger.iter().map(|record| record["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(sandbox.ledger_from(1), ledger[1..]);
    let first = &ledger[0];
    assert_eq!(first["body"].as_str().unwrap().as_bytes(), ADDRESS);
    assert_eq!(first["path"], "/customers/C-1842/shipping-address?a=b");
    assert_eq!(first["headers"]["if-match"], "\"17\"");
    let file = std::fs::read_to_string(sandbox.ledger_path()).unwrap();
    assert!(!file.contains("very-secret"), "a credential stands in the ledger");
    assert_eq!((&ledger[1]["request"], &ledger[1]["key"]), (&json!(0), &json!("k")));
    assert_eq!((&ledger[1]["before_version"], &ledger[1]["after_version"]), (&json!(17), &json!(18)));
    for (name, value) in [("x-run-id", "run_1"), ("x-requested-by", "agent"), ("x-on-behalf-of", "user")] {
        assert_eq!(ledger[2]["headers"][name], value);
    }
    assert_ne!(ledger[0]["connection"], ledger[2]["connection"]);
}

#[test]
fn another_tenants_customers_are_there_and_are_not_shown() {
    let sandbox = Sandbox::start();
    for id in ["C-900000001", "C-999999999"] {
        refused(&sandbox.get(&format!("/customers/{id}")), 404, "NO_SUCH_CUSTOMER");
        refused(&change_of(&sandbox, id, 1, "k1", ADDRESS).answer(), 404, "NO_SUCH_CUSTOMER");
        refused(&confirm(&sandbox, id, "k2").answer(), 404, "NO_SUCH_CUSTOMER");
    }
    assert_eq!(sandbox.get("/customers/C-90000000").status, 200, "eight digits are ours");
    assert_eq!(sandbox.effects()["total"], 0);
    arm(&sandbox, "ignore_tenant", json!({"times": 2, "match": {"path_prefix": "/customers/"}}));
    assert_eq!(sandbox.get("/customers/C-900000001").json()["version"], 1);
    assert_eq!(change_of(&sandbox, "C-900000001", 1, "k3", ADDRESS).answer().status, 200);
}

#[test]
fn somebody_else_can_put_another_address() {
    let mut sandbox = Sandbox::start();
    let put = |body: &[u8]| sandbox.request("PUT", "/_sandbox/objects/C-7", &[], body).answer();
    assert_eq!(put(ADDRESS).json()["version"], 2);
    refused(&put(b"{}"), 400, "INVALID_OBJECT");
    let seen = sandbox.customer("C-7");
    assert_eq!((&seen["version"], &seen["shipping_address"]["line1"]), (&json!(2), &json!("Kungsgatan 5")));
    assert_eq!((&sandbox.effects()["total"], &sandbox.effects()["other_changes"]), (&json!(0), &json!(1)));
    sandbox.stop();
    sandbox.restart();
    assert_eq!(sandbox.customer("C-7"), seen, "the ledger knows");
}

#[test]
fn a_blind_service_has_the_effects_that_it_should_not_have() {
    for (fault, effects) in [("ignore_reuse", 2), ("ignore_version", 2), ("apply_twice", 3)] {
        let sandbox = Sandbox::start();
        assert_eq!(change(&sandbox, "k1").answer().status, 200);
        arm(&sandbox, fault, json!({"times": null}));
        let body = br#"{"line1":"Storgatan 1","postal_code":"111 43","city":"Stockholm","country":"SE"}"#;
        let (key, version) = match fault {
            "ignore_reuse" => ("k1", 18),
            "ignore_version" => ("k2", 17),
            _ => ("k2", 18),
        };
        change_of(&sandbox, "C-1842", version, key, body).answer();
        assert_eq!(sandbox.effects()["total"], effects, "{fault}");
    }
}

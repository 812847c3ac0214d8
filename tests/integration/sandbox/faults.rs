//! Each fault does what its name says: to the answer, and to the world.

use serde_json::{Value, json};

use super::{ADDRESS, arm, armed, change, confirm, eventually, refused, status};
use crate::support::{
    http::{self, Outcome},
    sandbox::Sandbox,
};

/// How many effects the customer has had, and that the ledger names the fault for the last write.
fn effects(sandbox: &Sandbox, fault: &str) -> u64 {
    assert_eq!(sandbox.writes().last().expect("a write")["fault"], fault);
    sandbox.effects_of("customer:C-1842")
}

/// After the fault is used up, the same key has one effect whatever happened before.
fn settles(sandbox: &Sandbox) {
    assert_eq!(change(sandbox, "k").answer().status, 200);
    assert_eq!(sandbox.effects_of("customer:C-1842"), 1);
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn connections_that_end_without_an_answer() {
    let cases = [
        ("drop_before_apply", json!({}), false, 0),
        ("drop_before_apply", json!({"reset": true}), true, 0),
        ("apply_then_drop", json!({}), false, 1),
        ("apply_then_reset", json!({}), true, 1),
    ];
    for (fault, more, reset, applied) in cases {
        let sandbox = armed(fault, more);
        let outcome = change(&sandbox, "k");
        match reset {
            true => assert!(matches!(outcome, Outcome::Reset), "{fault}: {outcome:?}"),
            false => assert!(matches!(outcome, Outcome::Closed), "{fault}: {outcome:?}"),
        }
        assert_eq!(effects(&sandbox, fault), applied, "{fault}");
        settles(&sandbox);
    }
}

#[test]
fn answers_that_say_no_without_looking() {
    let cases = [
        ("rate_limited", json!({"retry_after": 7}), 429),
        ("unavailable_before", json!({}), 503),
        ("reject", json!({"status": 418, "body": {"code": "TEAPOT"}}), 418),
        ("redirect", json!({"location": "http://127.0.0.1:9/x"}), 307),
        ("expired_token", json!({}), 401),
        ("other_tenant", json!({}), 404),
    ];
    for (fault, more, code) in cases {
        let sandbox = armed(fault, more);
        let answer = change(&sandbox, "k").answer();
        assert_eq!(answer.status, code, "{fault}");
        match fault {
            "rate_limited" => assert_eq!(answer.header("retry-after"), Some("7")),
            "redirect" => assert_eq!(answer.header("location"), Some("http://127.0.0.1:9/x")),
            "reject" => assert_eq!(answer.json(), json!({"code": "TEAPOT"})),
            "other_tenant" => assert_eq!(answer.body, sandbox.get("/customers/X-1").body),
            _ => {}
        }
        assert_eq!(effects(&sandbox, fault), 0, "{fault}");
        assert_eq!(status(&sandbox, "k").status, 404);
        settles(&sandbox);
    }
}

#[test]
fn answers_after_the_effect_that_do_not_tell_it() {
    let cases = [
        ("apply_then_malformed", json!({}), 200),
        ("apply_then_wrong_shape", json!({}), 200),
        ("apply_then_5xx", json!({"status": 502}), 502),
        ("unavailable_after", json!({}), 503),
        ("huge_body", json!({"bytes": 3_000_000}), 200),
        ("deep_body", json!({"depth": 1000}), 200),
        ("invalid_utf8_body", json!({}), 200),
        ("duplicate_key_body", json!({}), 200),
        ("surrogate_body", json!({}), 200),
    ];
    for (fault, more, code) in cases {
        let sandbox = armed(fault, more);
        let answer = change(&sandbox, "k").answer();
        assert_eq!(answer.status, code, "{fault}");
        let parsed = serde_json::from_slice::<Value>(&answer.body);
        match fault {
            "apply_then_malformed" | "invalid_utf8_body" | "surrogate_body" | "deep_body" => {
                assert!(parsed.is_err(), "{fault}");
            }
            "apply_then_wrong_shape" => assert_eq!(parsed.unwrap()["id"], 123),
            "huge_body" => {
                assert_eq!(answer.body.len(), 3_000_000);
                assert_eq!(parsed.unwrap()["padding"].as_str().unwrap().len(), 3_000_000 - 14);
            }
            "duplicate_key_body" => {
                let text = String::from_utf8(answer.body).unwrap();
                assert_eq!(text.matches("\"changed_fields\":").count(), 2);
            }
            _ => {}
        }
        assert_eq!(effects(&sandbox, fault), 1, "{fault}");
        settles(&sandbox);
    }
    let sandbox = armed("apply_then_partial_body", json!({}));
    let Outcome::Cut(answer) = change(&sandbox, "k") else { panic!("the body is not cut") };
    assert!(!answer.body.is_empty());
    assert_eq!(effects(&sandbox, "apply_then_partial_body"), 1);
    settles(&sandbox);
}

#[test]
fn work_that_comes_late_comes_also_when_the_client_has_gone() {
    for fault in ["delay", "late_arrival"] {
        let sandbox = armed(fault, json!({"ms": 300}));
        if fault == "late_arrival" {
            assert!(matches!(change(&sandbox, "k"), Outcome::Closed));
        } else {
            let headers = [("idempotency-key", "k"), ("if-match", "\"17\"")];
            let path = "/customers/C-1842/shipping-address";
            let client = http::send(sandbox.address(), "PUT", path, &headers, ADDRESS).unwrap();
            // One that goes before its request was read has asked for nothing.
            eventually("the request", || !sandbox.requests().is_empty());
            drop(client);
        }
        eventually("the late effect", || sandbox.effects_of("customer:C-1842") == 1);
        settles(&sandbox);
    }
    let sandbox = armed("delay", json!({"ms": 50}));
    assert_eq!(change(&sandbox, "k").answer().status, 200);
    let sandbox = armed("late_arrival", json!({"ms": 50, "status": 503}));
    assert_eq!(change(&sandbox, "k").answer().status, 503);
    eventually("the late effect", || sandbox.effects_of("customer:C-1842") == 1);
    // Late work of before a reset must not land after it: the second change would find version 18.
    let sandbox = armed("late_arrival", json!({"ms": 200}));
    assert!(matches!(change(&sandbox, "k"), Outcome::Closed));
    sandbox.reset();
    arm(&sandbox, "delay", json!({"ms": 400}));
    assert_eq!(change(&sandbox, "l").answer().status, 200);
    assert_eq!(sandbox.effects_under("k"), 0);
}

#[test]
fn an_effect_is_there_before_its_late_answer() {
    for fault in ["apply_then_delay", "hang"] {
        let sandbox = armed(fault, json!({}));
        sandbox.clear_faults();
        // Far longer than the test: the answer is never waited for.
        let more = if fault == "hang" { json!({}) } else { json!({"ms": 600_000}) };
        arm(&sandbox, fault, more);
        let headers = [("idempotency-key", "k"), ("if-match", "\"17\"")];
        let path = "/customers/C-1842/shipping-address";
        let waiting = http::send(sandbox.address(), "PUT", path, &headers, ADDRESS).unwrap();
        eventually("the request is received", || !sandbox.writes().is_empty());
        let applied = u64::from(fault == "apply_then_delay");
        assert_eq!(effects(&sandbox, fault), applied);
        waiting.set_nonblocking(true).unwrap();
        assert_eq!(waiting.peek(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        drop(waiting);
        settles(&sandbox);
    }
}

#[test]
fn status_endpoints_that_fail_or_lie() {
    let sandbox = Sandbox::start();
    let truth = change(&sandbox, "k").answer().json();
    arm(&sandbox, "status_down", json!({}));
    assert_eq!(status(&sandbox, "k").status, 503);
    arm(&sandbox, "status_down", json!({"close": true}));
    assert!(matches!(sandbox.request("GET", "/operations/k", &[], b""), Outcome::Closed));
    arm(&sandbox, "status_slow", json!({"ms": 20}));
    assert_eq!(status(&sandbox, "k").json()["result"], truth);
    arm(&sandbox, "status_wrong", json!({}));
    let wrong = status(&sandbox, "k").json();
    assert_eq!(wrong["status"], "succeeded");
    assert_ne!(wrong["operation_id"], "op_1");
    assert_ne!(wrong["request_sha256"], truth["receipt"]["request_sha256"]);
    arm(&sandbox, "status_in_progress", json!({}));
    assert_eq!(status(&sandbox, "k").json()["status"], "in_progress");
    arm(&sandbox, "status_lag", json!({"ms": 600_000, "times": null}));
    refused(&status(&sandbox, "k"), 404, "NO_SUCH_OPERATION");
    assert_eq!(sandbox.customer("C-1842")["version"], 18, "a lag is about the status only");
    sandbox.clear_faults();
    arm(&sandbox, "status_lag", json!({"ms": 1, "times": null}));
    eventually("the lag is over", || status(&sandbox, "k").status == 200);
    assert_eq!(status(&sandbox, "k").json()["result"], truth);
}

#[test]
fn twins_strangers_and_a_service_that_forgets() {
    let sandbox = armed("duplicate_delivery", json!({}));
    assert_eq!(change(&sandbox, "k").answer().header("idempotent-replayed"), None);
    let copies: Vec<Value> =
        sandbox.ledger().iter().filter_map(|record| record.get("redelivered").cloned()).collect();
    assert_eq!(copies, [json!(false), json!(true)]);
    settles(&sandbox);

    let sandbox = armed("version_bump", json!({}));
    let stale = change(&sandbox, "k").answer();
    refused(&stale, 409, "STALE");
    assert_eq!(stale.json()["current_version"], 18);
    assert_eq!(sandbox.effects_of("customer:C-1842"), 0);

    let sandbox = Sandbox::start();
    confirm(&sandbox, "C-1", "k").answer();
    arm(&sandbox, "ignore_key", json!({}));
    confirm(&sandbox, "C-1", "k").answer();
    assert_eq!(sandbox.effects()["keys_with_more_than_one"], json!(["k"]));
    assert_eq!(sandbox.effects_under("k"), 2);
}

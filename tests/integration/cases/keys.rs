//! Idempotency keys of the daemon's own API: one key, one operation, one set of arguments.

use std::{sync::Barrier, thread};

use serde_json::{Value, json};

use super::{Pair, lost_or_answered};
use crate::support::{
    daemon::{Daemon, Setup},
    http::{self, Outcome},
    sandbox::Sandbox,
    socket::{Trouble, address_change, code_of, id_of},
};

/// The caller goes away before the answer; with the same key it finds what it has missed.
#[test]
fn c08_a_caller_that_hangs_up_finds_its_operation_by_the_key() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let body = address_change("C-1", 1, "Kungsgatan 5");
    let path = format!("/v1/runs/{}/proposals", pair.run);
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    drop(pair.agent.open("POST", &path, &headers, body.to_string().as_bytes()).expect("it is sent"));
    let id = id_of(&pair.agent.post_keyed(&path, "k", &body).expect("an answer"));
    // And before the answer to the approval, which waits for the end of the write.
    let digest = pair.agent.operation(&id).expect("an operation")["proposal_sha256"].clone();
    let approve = json!({"digest": digest});
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    let headers = [("content-type", "application/json")];
    sandbox.fault(json!({"fault": "apply_then_delay", "ms": 300}));
    let stream =
        pair.alice.open("POST", &path, &headers, approve.to_string().as_bytes()).expect("it is sent");
    pair.agent
        .wait_until(&id, "on its way", |seen| seen["attempts"].as_array().is_some_and(|a| !a.is_empty()));
    drop(stream);
    found_again(&sandbox, &pair, &id);
    let again = pair.alice.command(&id, "approve", &approve).expect("the decision that stands");
    assert_eq!((&again["answer"], &again["state"]), (&json!("already"), &json!("succeeded")));
}

/// The daemon dies after the answer of the service was read, and after the outcome was stored.
#[test]
fn c08_a_daemon_that_dies_before_it_answers_is_found_by_the_key() {
    for point in ["P5", "P6"] {
        let sandbox = Sandbox::start();
        let mut daemon = Setup::new(&sandbox).fail_point(point).start();
        let pair = Pair::of(&daemon);
        let id = pair.proposed("k", "C-1");
        lost_or_answered(pair.alice.approve(&id));
        daemon.wait_killed();
        daemon.disarm();
        daemon.restart();
        found_again(&sandbox, &pair, &id);
    }
}

fn found_again(sandbox: &Sandbox, pair: &Pair, id: &str) {
    pair.agent.wait_state(id, &["succeeded"]);
    let body = address_change("C-1", 1, "Kungsgatan 5").to_string();
    let path = format!("/v1/runs/{}/proposals", pair.run);
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    let answer = pair.agent.send("POST", &path, &headers, body.as_bytes()).expect("an answer");
    assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, Some("true")));
    let again = answer.json();
    assert_eq!((again["id"].as_str(), &again["state"]), (Some(id), &json!("succeeded")));
    assert_eq!(again["outcome"]["new_version"], 2);
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
    let shown = pair.agent.operation(id).expect("an operation");
    let attempts = shown["attempts"].as_array().map(Vec::len);
    assert_eq!((shown["decisions"].as_array().map(Vec::len), attempts), (Some(1), Some(1)), "{shown:#}");
}

#[test]
fn c12_a_key_with_other_arguments_is_a_conflict_that_names_both() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    pair.agent.wait_state(&id, &["succeeded"]);
    let other = pair.agent.propose_address(&pair.run, "k", "C-1", 1, "Sveavägen 44");
    assert_eq!(code_of(&other), "IDEMPOTENCY_CONFLICT");
    let Err(Trouble::Refused(status, problem)) = other else { unreachable!("it has a code") };
    assert_eq!((status, &problem["effect"]), (409, &json!("none")), "{problem:#}");
    let detail = problem["detail"].as_str().expect("a detail");
    let stored = pair.agent.operation(&id).expect("an operation")["arguments_sha256"].clone();
    assert!(detail.contains('k'), "names the key: {detail}");
    assert!(problem.to_string().contains(stored.as_str().expect("a digest")), "{problem:#}");
    assert_eq!(pair.proposed("k", "C-1"), id, "the first result is still there");
    assert_eq!(sandbox.effects()["total"], 1);
}

#[test]
fn c13_twins_of_one_key_make_one_operation() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    for round in 0..4 {
        let (key, customer) = (format!("twins-{round}"), format!("C-{}", round + 1));
        let barrier = Barrier::new(50);
        let answers: Vec<(bool, http::Answer)> = thread::scope(|scope| {
            let (pair, key, customer, barrier) = (&pair, &key, &customer, &barrier);
            let one = |n: usize| {
                scope.spawn(move || {
                    let line1 = if n.is_multiple_of(2) { "A" } else { "B" };
                    let body = address_change(customer, 1, line1).to_string();
                    let path = format!("/v1/runs/{}/proposals", pair.run);
                    let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
                    barrier.wait();
                    let answer = pair.agent.send("POST", &path, &headers, body.as_bytes());
                    (line1 == "A", answer.expect("an answer"))
                })
            };
            let twins: Vec<_> = (0..50).map(one).collect();
            twins.into_iter().map(|twin| twin.join().expect("a twin")).collect()
        });
        let created = answers.iter().filter(|(_, answer)| answer.status == 201).count();
        let found = answers.iter().filter(|(_, answer)| answer.status == 200).count();
        let refused: Vec<_> = answers.iter().filter(|(_, answer)| answer.status >= 400).collect();
        assert_eq!((created, found, refused.len()), (1, 24, 25), "{answers:?}");
        for (_, answer) in &refused {
            assert_eq!((answer.status, &answer.json()["code"]), (409, &json!("IDEMPOTENCY_CONFLICT")));
        }
        let sides: Vec<bool> = refused.iter().map(|(side, _)| *side).collect();
        assert!(sides.iter().all(|side| *side == sides[0]), "all who lost had the other arguments");
        let ids: Vec<Value> = answers
            .iter()
            .filter(|(_, answer)| answer.status < 300)
            .map(|(_, a)| a.json()["id"].clone())
            .collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let id = ids[0].as_str().expect("an id");
        pair.alice.approve(id).expect("an approval");
        pair.agent.wait_state(id, &["succeeded"]);
        assert_eq!(sandbox.effects_of(&format!("customer:{customer}")), 1);
    }
    assert_eq!(pair.agent.operations("").expect("a list").len(), 4);
}

#[test]
fn c18_a_repeat_with_a_volatile_field_never_makes_a_second_effect() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let path = format!("/v1/runs/{}/proposals", pair.run);
    let body = |purpose: &str, line1: &str| {
        let mut body = address_change("C-1", 1, line1);
        body["purpose"] = json!(purpose);
        body
    };
    let first = pair.agent.post_keyed(&path, "k", &body("at 1000", "Kungsgatan 5")).expect("a proposal");
    // A stamp of the client that changes: in the arguments, and beside them.
    let stamped = pair.agent.post_keyed(&path, "k", &body("at 1000", "Kungsgatan 5, at 1007"));
    assert_eq!(code_of(&stamped), "IDEMPOTENCY_CONFLICT");
    match pair.agent.post_keyed(&path, "k", &body("at 1007", "Kungsgatan 5")) {
        Ok(found) => assert_eq!(found["id"], first["id"]),
        refused => assert_eq!(code_of(&refused), "IDEMPOTENCY_CONFLICT"),
    }
    let id = id_of(&first);
    pair.alice.approve(&id).expect("an approval");
    pair.agent.wait_state(&id, &["succeeded"]);
    assert_eq!(
        code_of(&pair.agent.post_keyed(&path, "k", &body("at 1000", "at 1008"))),
        "IDEMPOTENCY_CONFLICT"
    );
    assert_eq!((sandbox.effects()["total"].as_u64(), sandbox.writes().len()), (Some(1), 1));
    // The service's key is made of ids, not of what the caller sends.
    let sent = sandbox.writes()[0]["headers"]["idempotency-key"].clone();
    assert_eq!(sent, json!(format!("{}:{id}", pair.run)));
}

#[test]
fn c23_null_is_not_the_same_as_nothing() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let agent = daemon.client("agent");
    let run = id_of(&agent.open_run(&["send_confirmation.v1"]).expect("a run"));
    let propose = |key: &str, language: Option<Value>| {
        let mut arguments = json!({"customer_id": "C-1", "template": "address_changed"});
        if let Some(language) = language {
            arguments["language"] = language;
        }
        let body = json!({"tool": "send_confirmation.v1", "arguments": arguments, "purpose": "a test"});
        agent.propose(&run, key, &body)
    };
    let missing = propose("k", None).expect("a proposal");
    let shown = agent.operation(&id_of(&missing)).expect("an operation");
    assert_eq!(shown["arguments"]["language"], "en", "the default is in what is shown and approved");
    // Null is a value, and this contract does not take it; nor does the key pass for it.
    for key in ["k", "k2"] {
        let null = propose(key, Some(Value::Null));
        assert!(["INVALID_ARGUMENT", "IDEMPOTENCY_CONFLICT"].contains(&code_of(&null)), "{null:?}");
    }
    assert_eq!(code_of(&propose("k", Some(json!("sv")))), "IDEMPOTENCY_CONFLICT");
    daemon.client("alice").approve(&id_of(&missing)).expect("an approval");
    agent.wait_state(&id_of(&missing), &["succeeded"]);
    let sent = sandbox.writes();
    assert_eq!((sent.len(), &sent[0]["body"]), (1, &shown["request"]["body"]));
}

/// A request that is cut in the middle is no request.
#[test]
fn c08_half_a_request_leaves_nothing() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let path = format!("/v1/runs/{}/proposals", pair.run);
    let headers =
        [("content-type", "application/json"), ("idempotency-key", "k"), ("content-length", "9999")];
    let stream = pair.agent.open("POST", &path, &headers, b"{\"tool\":").expect("it is sent");
    stream.shutdown(std::net::Shutdown::Write).expect("a half-closed stream");
    if let Ok(Outcome::Answered(answer)) = http::receive(stream) {
        assert!(answer.status >= 400, "{answer:?}");
    }
    assert_eq!(pair.agent.operations("").expect("a list").len(), 0);
}

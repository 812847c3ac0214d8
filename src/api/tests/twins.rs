//! Keys and twins: one creates, the others find it; two clicks are one decision.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::{Got, OURS, Tester, proposal, text};

fn keyed(path: &str, key: &str, body: &Value) -> Request<Body> {
    let mut request = Tester::request("POST", path, "agent", Some(&body.to_string()));
    request.headers_mut().insert("Idempotency-Key", key.parse().unwrap());
    request
}

#[tokio::test]
async fn a_repeat_finds_the_first_answer() {
    let t = Tester::start();
    let run = t.open_run().await;
    let path = format!("/v1/runs/{run}/proposals");
    let first = t.send(OURS, keyed(&path, "k1", &proposal("set_note.v1", "a"))).await;
    let id = text(first.ok(201), "id");
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let again = t.send(OURS, keyed(&path, "k1", &proposal("set_note.v1", "a"))).await;
    assert_eq!(text(again.ok(200), "id"), id);
    assert_eq!(again.headers["idempotent-replayed"], "true");

    let other = t.send(OURS, keyed(&path, "k1", &proposal("set_note.v1", "b"))).await;
    assert_eq!(other.problem(409, "IDEMPOTENCY_CONFLICT")["operation_id"], json!(id));
    assert!(other.text.contains("arguments were"), "both hashes are named: {}", other.text);
    // The key belongs to its run.
    let elsewhere = format!("/v1/runs/{}/proposals", t.open_run().await);
    t.send(OURS, keyed(&elsewhere, "k1", &proposal("set_note.v1", "a"))).await.ok(201);
    // It still stands when the operation has ended.
    t.post("agent", &format!("/v1/operations/{id}/cancel"), &json!({})).await.ok(200);
    let late = t.send(OURS, keyed(&path, "k1", &proposal("set_note.v1", "a"))).await;
    assert_eq!((text(late.ok(200), "id"), &late.body["state"]), (id, &json!("cancelled")));
}

#[tokio::test]
async fn a_run_is_opened_once_per_key() {
    let t = Tester::start();
    let body = json!({"purpose": "nightly"});
    let first = t.send(OURS, keyed("/v1/runs", "night-1", &body)).await;
    let again = t.send(OURS, keyed("/v1/runs", "night-1", &body)).await;
    assert_eq!(text(first.ok(201), "id"), text(again.ok(200), "id"));
    assert_eq!(again.headers["idempotent-replayed"], "true");
    t.send(OURS, keyed("/v1/runs", "night-1", &json!({"purpose": "other"})))
        .await
        .problem(409, "IDEMPOTENCY_CONFLICT");
    for bad in ["", "é", &"k".repeat(256)] {
        let mut request = keyed("/v1/runs", "x", &body);
        let value = axum::http::HeaderValue::from_bytes(bad.as_bytes()).unwrap();
        request.headers_mut().insert("Idempotency-Key", value);
        let got = t.send(OURS, request).await;
        assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], "/Idempotency-Key");
    }
    let mut twice = keyed("/v1/runs", "x", &body);
    twice.headers_mut().append("Idempotency-Key", "y".parse().unwrap());
    t.send(OURS, twice).await.problem(400, "INVALID_ARGUMENT");
}

async fn all<F: Future<Output = Got> + Send + 'static>(asks: Vec<F>) -> Vec<Got> {
    let tasks: Vec<_> = asks.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

/// C13: 50 parallel proposals under one key, half of them with other arguments.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_twins_one_creates_and_the_others_are_told_the_truth() {
    let t = Arc::new(Tester::start());
    let path = format!("/v1/runs/{}/proposals", t.open_run().await);
    let asks = (0..50).map(|number| {
        let (t, path) = (Arc::clone(&t), path.clone());
        async move {
            let body = proposal("set_note.v1", if number % 2 == 0 { "a" } else { "b" });
            t.send(OURS, keyed(&path, "twin", &body)).await
        }
    });
    let answers = all(asks.collect()).await;
    let count = |status: u16| answers.iter().filter(|got| got.status.as_u16() == status).count();
    assert_eq!((count(201), count(200), count(409)), (1, 24, 25));
    let ids: BTreeSet<_> =
        answers.iter().filter(|got| got.status.is_success()).map(|got| text(&got.body, "id")).collect();
    assert_eq!(ids.len(), 1, "one operation");
    for got in answers.iter().filter(|got| got.status.as_u16() == 409) {
        got.problem(409, "IDEMPOTENCY_CONFLICT");
    }
    let listed = t.get("alice", "/v1/operations").await;
    assert_eq!(listed.ok(200)["items"].as_array().unwrap().len(), 1);
    let id = ids.first().unwrap();
    let digest = text(&t.get("alice", &format!("/v1/operations/{id}")).await.body, "proposal_sha256");
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);
    assert_eq!(t.world.service.ledger().len(), 1, "one effect");
}

/// C30: 20 parallel approvals by two people.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clicks_are_one_decision() {
    let t = Arc::new(Tester::start());
    let (id, digest) = t.propose("set_note.v1").await;
    let asks = (0..20).map(|number| {
        let (t, id, digest) = (Arc::clone(&t), id.clone(), digest.clone());
        async move {
            let name = if number % 2 == 0 { "alice" } else { "bob" };
            t.post(name, &format!("/v1/operations/{id}/approve?wait=20s"), &json!({"digest": digest})).await
        }
    });
    let answers = all(asks.collect()).await;
    let done: Vec<_> = answers.iter().filter(|got| got.ok(200)["answer"] == "done").collect();
    assert_eq!(done.len(), 1);
    let shown = t.get("alice", &format!("/v1/operations/{id}")).await;
    let decisions = shown.ok(200)["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    let who = decisions[0]["by"]["name"].as_str().unwrap();
    for got in answers.iter().filter(|got| got.body["answer"] == "already") {
        assert_eq!(got.body["words"], format!("it was approved by {who}"), "the losers are told who decided");
    }
    assert_eq!(t.world.service.ledger().len(), 1);
}

/// C30: approvals against denials. Whoever comes first has decided.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn approvals_and_denials_at_once_end_in_one_state() {
    let t = Arc::new(Tester::start());
    let (id, digest) = t.propose("set_note_later.v1").await;
    let asks = (0..20).map(|number| {
        let (t, id, digest) = (Arc::clone(&t), id.clone(), digest.clone());
        async move {
            if number % 2 == 0 {
                t.post("alice", &format!("/v1/operations/{id}/approve"), &json!({"digest": digest})).await
            } else {
                t.post("bob", &format!("/v1/operations/{id}/deny"), &json!({"reason": "no"})).await
            }
        }
    });
    let answers = all(asks.collect()).await;
    let done = answers.iter().filter(|got| got.body["answer"] == "done").count();
    assert_eq!(done, 1, "one decision");
    assert!(answers.iter().all(|got| !got.status.is_server_error()));
    let shown = t.get("alice", &format!("/v1/operations/{id}")).await;
    let counted: Vec<_> =
        shown.ok(200)["decisions"].as_array().unwrap().iter().filter(|d| d["void"] != json!(true)).collect();
    assert_eq!(counted.len(), 1, "{counted:?}");
    let expected = if counted[0]["verdict"] == "approve" { "approved" } else { "denied" };
    assert_eq!(shown.body["state"], expected);
    assert!(t.world.service.ledger().is_empty());
}

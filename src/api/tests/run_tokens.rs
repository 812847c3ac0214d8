//! The token of a run: worth its run and nothing else, shown once, and gone with it.

use serde_json::{Value, json};

use super::{NOBODY, Tester, proposal, text};
use crate::domain::Millis;

const ABSENT: &str = "op_7zzzzzzzzzzzzzzzzzzzzzzzzz";

/// Opens a run as the agent; answers with its id and its token.
async fn open(t: &Tester, more: &Value) -> (String, String) {
    let mut body = json!({"purpose": "tests", "tools": ["set_note.v1"]});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let got = t.post("agent", "/v1/runs", &body).await;
    (text(got.ok(201), "id"), text(&got.body, "token"))
}

async fn propose(t: &Tester, token: &str, run: &str) -> (String, String) {
    let path = format!("/v1/runs/{run}/proposals");
    let got = t.bear(token, "POST", &path, Some(&proposal("set_note.v1", "new"))).await;
    (text(got.ok(201), "id"), text(&got.body, "proposal_sha256"))
}

fn without_instance(body: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("instance").unwrap();
    body
}

#[tokio::test]
async fn it_does_the_work_of_its_run() {
    let t = Tester::start();
    let (run, token) = open(&t, &json!({})).await;
    assert!(token.starts_with("writd_r_"), "{token}");
    t.bear(&token, "GET", &format!("/v1/runs/{run}"), None).await.ok(200);
    let (id, digest) = propose(&t, &token, &run).await;
    t.post("alice", &format!("/v1/operations/{id}/approve?wait=20s"), &json!({"digest": digest}))
        .await
        .ok(200);
    let seen = t.bear(&token, "GET", &format!("/v1/operations/{id}"), None).await;
    assert_eq!(
        (&seen.ok(200)["state"], &seen.body["requester"]["name"]),
        (&json!("succeeded"), &json!("agent"))
    );
    assert_eq!(seen.body["requester"]["assurance"], "token");
    t.bear(&token, "GET", &format!("/v1/operations/{id}/events"), None).await.ok(200);
    let again = t.bear(&token, "POST", &format!("/v1/operations/{id}/commit"), Some(&json!({}))).await;
    assert_eq!(again.ok(200)["answer"], "already");
    assert_eq!(t.world.service.ledger().len(), 1);
}

#[tokio::test]
async fn it_is_worth_no_other_run_and_no_other_place() {
    let t = Tester::start();
    let (run, token) = open(&t, &json!({})).await;
    let (other, others_token) = open(&t, &json!({})).await;
    let (others_operation, _) = propose(&t, &others_token, &other).await;
    let body = proposal("set_note.v1", "x");
    let call = json!({"tool": "get_note.v1", "arguments": {"id": "n1"}});
    let of_runs: [(&str, &str, Option<&Value>); 3] =
        [("GET", "", None), ("POST", "/calls", Some(&call)), ("POST", "/proposals", Some(&body))];
    for (method, path, body) in of_runs {
        let ask = async |run: &str| t.bear(&token, method, &format!("/v1/runs/{run}{path}"), body).await;
        let (foreign, absent) = (ask(&other).await, ask("run_7zzzzzzzzzzzzzzzzzzzzzzzzz").await);
        foreign.problem(404, "NOT_FOUND");
        assert_eq!(without_instance(&foreign.body), without_instance(&absent.body), "{method} {path}");
    }
    let empty = json!({});
    let of_operations: [(&str, &str, Option<&Value>); 5] = [
        ("GET", "", None),
        ("GET", "?wait=1s", None),
        ("GET", "/events", None),
        ("POST", "/commit", Some(&empty)),
        ("POST", "/cancel", Some(&empty)),
    ];
    for (method, path, body) in of_operations {
        let ask = async |id: &str| t.bear(&token, method, &format!("/v1/operations/{id}{path}"), body).await;
        let (foreign, absent) = (ask(&others_operation).await, ask(ABSENT).await);
        foreign.problem(404, "NOT_FOUND");
        assert_eq!(without_instance(&foreign.body), without_instance(&absent.body), "{method} {path}");
    }
    let list = t.bear(&token, "GET", "/v1/operations", None).await;
    assert_eq!(list.ok(200)["items"], json!([]), "the writes of other runs are on no list");
    // Whatever else there is refuses it, and says nothing about what it was asked for.
    let reference = t.bear(&token, "GET", "/v1/inbox", None).await;
    reference.problem(403, "PERMISSION_DENIED");
    let closed = [
        ("GET", "/v1/contracts".to_owned()),
        ("GET", "/v1/catalog".to_owned()),
        ("GET", "/v1/tokens".to_owned()),
        ("POST", "/v1/runs".to_owned()),
        ("POST", format!("/v1/runs/{run}/cancel")),
        ("POST", format!("/v1/runs/{run}/token")),
        ("POST", format!("/v1/runs/{other}/token")),
        ("POST", format!("/v1/operations/{others_operation}/approve")),
        ("POST", format!("/v1/operations/{ABSENT}/abandon")),
        ("POST", "/v1/catalog/reload".to_owned()),
        ("POST", "/v1/restore/accept".to_owned()),
    ];
    for (method, path) in closed {
        let got = t.bear(&token, method, &path, (method == "POST").then_some(&empty)).await;
        assert_eq!(without_instance(&got.body), without_instance(&reference.body), "{method} {path}");
    }
}

#[tokio::test]
async fn it_is_shown_once_and_a_new_one_ends_the_one_before() {
    let t = Tester::start();
    let body = json!({"purpose": "tests", "tools": ["set_note.v1"]}).to_string();
    let keyed = || {
        let mut request = Tester::request("POST", "/v1/runs", "agent", Some(&body));
        request.headers_mut().insert("idempotency-key", "night-1".parse().unwrap());
        request
    };
    let first = t.send(super::OURS, keyed()).await;
    let (run, old) = (text(first.ok(201), "id"), text(&first.body, "token"));
    let replay = t.send(super::OURS, keyed()).await;
    assert_eq!((text(replay.ok(200), "id"), &replay.body["token"]), (run.clone(), &Value::Null));
    let path = format!("/v1/runs/{run}");
    assert!(!t.get("agent", &path).await.text.contains("writd_r_"));
    let reissue = format!("{path}/token");
    let second = t.post("agent", &reissue, &json!({})).await;
    let new = text(second.ok(201), "token");
    assert_ne!(old, new);
    t.bear(&old, "GET", &path, None).await.problem(401, "UNAUTHENTICATED");
    t.bear(&new, "GET", &path, None).await.ok(200);
    // Who sees the run is not who opened it; who does not see it learns nothing.
    t.post("alice", &reissue, &json!({})).await.problem(403, "PERMISSION_DENIED");
    let ask = async |run: &str| {
        let path = format!("/v1/runs/{run}/token");
        t.send(super::MALLORY, Tester::request("POST", &path, "", Some("{}"))).await
    };
    let (foreign, absent) = (ask(&run).await, ask("run_7zzzzzzzzzzzzzzzzzzzzzzzzz").await);
    foreign.problem(404, "NOT_FOUND");
    assert_eq!(without_instance(&foreign.body), without_instance(&absent.body));
}

#[tokio::test]
async fn it_dies_with_its_run_its_deadline_and_the_token_behind_it() {
    let t = Tester::start();
    let reference = t.bear("x", "GET", "/v1/operations", None).await.text;
    let is_dead = async |token: &str| {
        assert_eq!(t.bear(token, "GET", "/v1/operations", None).await.text, reference);
    };
    let (run, cancelled) = open(&t, &json!({})).await;
    t.post("agent", &format!("/v1/runs/{run}/cancel"), &json!({})).await.ok(200);
    is_dead(&cancelled).await;
    t.post("agent", &format!("/v1/runs/{run}/token"), &json!({})).await.problem(504, "DEADLINE_EXCEEDED");
    let (secret, id) = t.token(&json!({"principal": "agent"})).await;
    let opened = t.bear(&secret, "POST", "/v1/runs", Some(&json!({"purpose": "tests"}))).await;
    let behind = text(opened.ok(201), "token");
    t.bear(&behind, "GET", "/v1/operations", None).await.ok(200);
    t.post("oscar", &format!("/v1/tokens/{id}/revoke"), &json!({})).await.ok(200);
    is_dead(&behind).await;
    let now = crate::ports::Clock::now(t.world.clock.as_ref());
    let deadline = now.plus(Millis::secs(60)).to_string();
    let (_, timed) = open(&t, &json!({ "deadline": deadline })).await;
    t.bear(&timed, "GET", "/v1/operations", None).await.ok(200);
    t.world.clock.forward(Millis::secs(61));
    is_dead(&timed).await;
    let (_, disabled) = open(&t, &json!({})).await;
    t.world.directory.ban("agent");
    is_dead(&disabled).await;
}

#[tokio::test]
async fn a_stream_shows_the_run_and_ends_with_its_token() {
    use http_body_util::BodyExt as _;
    let t = Tester::start();
    let (run, token) = open(&t, &json!({})).await;
    let (other, others) = open(&t, &json!({})).await;
    propose(&t, &others, &other).await;
    propose(&t, &token, &run).await;
    let mut request = Tester::bearing(&token, "GET", "/v1/events", None);
    request.headers_mut().insert("Last-Event-ID", "0".parse().unwrap());
    let response = t.service.answer(crate::api::Peer { uid: NOBODY }, request).await;
    let mut body = response.into_body();
    let mut seen = String::new();
    while !seen.contains("event: proposed") {
        let frame = body.frame().await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    assert!(!seen.contains(&other), "{seen}");
    t.post("agent", &format!("/v1/runs/{run}/token"), &json!({})).await.ok(201);
    while let Some(frame) = body.frame().await {
        seen.push_str(std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap());
    }
    assert!(seen.contains("event: problem") && seen.contains("UNAUTHENTICATED"), "{seen}");
    assert!(!seen.contains("writd_r_"));
}

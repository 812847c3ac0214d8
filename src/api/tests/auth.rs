//! Who calls, and what nobody learns.

use serde_json::json;

use super::{EVE, Got, MALLORY, OURS, Tester, settings};
use crate::api::wire::{Health, HealthState, Progress};
use crate::api::{Api, Peer};

/// The body without the place it came from.
fn without_instance(got: &Got) -> serde_json::Value {
    let mut body = got.body.clone();
    body.as_object_mut().unwrap().remove("instance").expect("problems say which request they answer");
    body
}

#[tokio::test]
async fn a_foreign_name_is_answered_like_one_that_does_not_exist() {
    let t = Tester::start();
    let foreign = t.get("eve", "/v1/catalog").await;
    let unknown = t.get("nobody", "/v1/catalog").await;
    foreign.problem(401, "UNAUTHENTICATED");
    assert_eq!(foreign.text, unknown.text);
    let stranger = t.send(4711, Tester::request("GET", "/v1/catalog", "agent", None)).await;
    stranger.problem(401, "UNAUTHENTICATED");
    let mut twice = Tester::request("GET", "/v1/catalog", "agent", None);
    twice.headers_mut().append("Writd-As", "alice".parse().unwrap());
    t.send(OURS, twice).await.problem(401, "UNAUTHENTICATED");
    let mut not_text = Tester::request("GET", "/v1/catalog", "", None);
    let bytes = axum::http::HeaderValue::from_bytes(b"al\xffice").unwrap();
    not_text.headers_mut().insert("Writd-As", bytes);
    assert_eq!(t.send(OURS, not_text).await.text, unknown.text);
}

#[tokio::test]
async fn a_request_without_a_peer_is_nobodys() {
    let t = Tester::start();
    use hyper::service::Service as _;
    let router = hyper_util::service::TowerToHyperService::new(crate::api::routes::router(
        t.api.clone(),
        crate::api::routes::Door::Socket,
    ));
    let request = Tester::request("GET", "/v1/catalog", "", None);
    assert_eq!(router.call(request).await.unwrap().status(), 401);
}

#[tokio::test]
async fn a_foreign_id_is_answered_like_one_that_does_not_exist() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let unknown = "op_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    let approve = json!({"digest": digest}).to_string();
    let reason = json!({"reason": "x"}).to_string();
    let resolve = json!({"outcome": "applied", "note": "x"}).to_string();
    let asks: [(&str, &str, Option<&str>); 12] = [
        ("GET", "", None),
        ("GET", "?wait=5s", None),
        ("GET", "/events", None),
        ("POST", "/approve", Some(&approve)),
        ("POST", "/deny", Some(&reason)),
        ("POST", "/revoke", Some("{}")),
        ("POST", "/commit", Some("{}")),
        ("POST", "/cancel", Some("{}")),
        ("POST", "/reconcile", Some("{}")),
        ("POST", "/resolve", Some(&resolve)),
        ("POST", "/abandon", Some(&reason)),
        ("POST", "/compensate", Some("{}")),
    ];
    for (uid, who) in [(EVE, "another tenant"), (MALLORY, "another agent")] {
        for (method, path, body) in asks {
            let ask = async |id: &str| {
                t.send(uid, Tester::request(method, &format!("/v1/operations/{id}{path}"), "", body)).await
            };
            let foreign = ask(&id).await;
            foreign.problem(404, "NOT_FOUND");
            for other in [unknown, "op_x", "run_7zzzzzzzzzzzzzzzzzzzzzzzzz", "%00", "%ff"] {
                let other = ask(other).await;
                assert_eq!(without_instance(&foreign), without_instance(&other), "{who}: {method} {path}");
                let (a, b) = (foreign.text.len(), other.text.len());
                let (a_place, b_place) = (&foreign.body["instance"], &other.body["instance"]);
                let (a_place, b_place) = (a_place.as_str().unwrap().len(), b_place.as_str().unwrap().len());
                assert_eq!(a - a_place, b - b_place, "the bytes differ only in the instance");
            }
        }
    }
    assert_eq!(t.get("agent", &format!("/v1/operations/{id}")).await.ok(200)["events"], 1);
}

#[tokio::test]
async fn a_foreign_run_is_answered_like_one_that_does_not_exist() {
    let t = Tester::start();
    let run = t.open_run().await;
    let body = super::proposal("set_note.v1", "x").to_string();
    for (method, path, body) in
        [("GET", "", None), ("POST", "/proposals", Some(body.as_str())), ("POST", "/cancel", Some("{}"))]
    {
        let ask = async |run: &str| {
            t.send(MALLORY, Tester::request(method, &format!("/v1/runs/{run}{path}"), "", body)).await
        };
        let (foreign, unknown) = (ask(&run).await, ask("run_7zzzzzzzzzzzzzzzzzzzzzzzzz").await);
        foreign.problem(404, "NOT_FOUND");
        assert_eq!(without_instance(&foreign), without_instance(&unknown));
    }
}

#[tokio::test]
async fn before_the_engine_is_there_only_health_is_told() {
    let api = Api::new(settings());
    let service = api.service();
    let ask = async |path: &str, uid: u32| {
        super::read(service.answer(Peer { uid }, Tester::request("GET", path, "", None)).await).await
    };
    api.progress(Progress { phase: "reading operations".to_owned(), done: 7, total: Some(10) });
    let health: Health = serde_json::from_value(ask("/healthz", 4711).await.ok(200).clone()).unwrap();
    assert_eq!(health.state, HealthState::Starting);
    assert_eq!(health.progress.map(|progress| progress.done), Some(7));
    for path in ["/readyz", "/v1/operations", "/v1/inbox", "/v1/events"] {
        let got = ask(path, OURS).await;
        let problem = got.problem(503, "UNAVAILABLE");
        assert_eq!((&problem["retry_after"], &problem["retryable"]), (&json!(1), &json!(true)));
        assert_eq!(got.headers["retry-after"], "1");
        assert!(got.text.contains("reading operations (7 of 10)"), "{}", got.text);
    }
    // Who is not known learns nothing about the start.
    ask("/v1/operations", 4711).await.problem(401, "UNAUTHENTICATED");
    let t = Tester::start();
    api.ready(t.world.handle.clone());
    assert_eq!(ask("/readyz", 4711).await.ok(200)["state"], "ready");
    ask("/v1/operations", OURS).await.ok(200);
    api.stop();
    ask("/readyz", OURS).await.problem(503, "UNAVAILABLE");
    assert_eq!(ask("/healthz", OURS).await.ok(200)["state"], "stopping");
}

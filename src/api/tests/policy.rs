//! `/v1/policy/explain`: who sees what of the table, and that asking changes nothing.

use serde_json::json;

use super::{EVE, OURS, Tester};
use crate::domain::operation::Requirement;

fn about(id: &str) -> String {
    format!("/v1/policy/explain?operation={id}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_in_force_is_asked_on_the_stored_facts_beside_what_was_asked() {
    let tester = Tester::start();
    let (id, _) = tester.propose("set_note.v1").await;
    let got = tester.get("alice", &about(&id)).await;
    let body = got.ok(200);
    assert_eq!((&body["operation"], &body["verdict"]), (&json!(id), &json!("approve")), "{}", got.text);
    assert_eq!(body["rules"][0]["rule"], "one-person");
    assert_eq!(body["rules"][0]["condition"], "now.hour < 24");
    assert_eq!(body["rules"].as_array().map(Vec::len), Some(1), "rules of other tenants are not shown");
    assert_eq!((&body["stored"]["compared"], &body["stored"]["satisfied"]), (&json!("same"), &json!(false)));
    assert!(body.get("dry_run").is_none());

    tester.world.policy.asks(Requirement::of(2));
    let body = tester.get("alice", &about(&id)).await.ok(200).clone();
    assert_eq!(body["stored"]["compared"], "stricter");
    assert_eq!(body["stored"]["missing"], json!([{"count": 2}]));
    let program = tester.get("agent", &about(&id)).await.ok(200).clone();
    assert!(program["rules"][0].get("condition").is_none(), "a program sees no condition: {program}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_of_another_tenant_is_one_that_does_not_exist() {
    let tester = Tester::start();
    let (id, _) = tester.propose("set_note.v1").await;
    let absent = id.chars().rev().collect::<String>();
    let eve = |path: String| tester.send(EVE, Tester::request("GET", &path, "", None));
    let invisible = eve(about(&id)).await;
    invisible.problem(404, "NOT_FOUND");
    let never = crate::domain::ids::OperationId::from_u128(7).to_string();
    let missing = eve(about(&never)).await;
    let without = |got: &super::Got| {
        let mut body = got.body.clone();
        body["instance"].take();
        body
    };
    assert_eq!(without(&invisible), without(&missing));
    eve(about(&absent)).await.problem(400, "INVALID_ARGUMENT");
    eve("/v1/policy/explain".to_owned()).await.problem(400, "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_goes_the_way_of_a_proposal_and_leaves_nothing() {
    let tester = Tester::start();
    let run = tester.open_run().await;
    let mut body = json!({"run": run, "tool": "set_note.v1", "arguments": {"id": "n1", "text": "new"}});
    let got = tester.post("agent", "/v1/policy/explain", &body).await;
    let told = got.ok(200);
    assert_eq!((&told["dry_run"], &told["verdict"]), (&json!(true), &json!("approve")), "{}", got.text);
    assert!(told.get("operation").is_none() && told.get("stored").is_none());
    body["based_on"] = json!(3);
    tester.post("agent", "/v1/policy/explain", &body).await.problem(409, "VERSION_CONFLICT");
    body["based_on"] = json!(17);
    tester.post("agent", "/v1/policy/explain", &body).await.ok(200);
    body["tool"] = json!("draft_note.v1");
    tester.post("agent", "/v1/policy/explain", &body).await.problem(403, "PERMISSION_DENIED");
    body["tool"] = json!("set_note.v1");
    // Only the opener of the run asks in it.
    let other =
        tester.send(OURS, Tester::request("POST", "/v1/policy/explain", "alice", Some(&body.to_string())));
    assert!(!other.await.status.is_success());
    let list = tester.get("alice", "/v1/operations").await.ok(200).clone();
    assert_eq!((&list["items"], tester.world.service.writes()), (&json!([]), 0));
}

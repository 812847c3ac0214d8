//! Every command: what it does, what it refuses, and what a refusal says about the operation.

use serde_json::json;

use super::{Tester, text};
use crate::engine::testing::Behaviour;

#[tokio::test]
async fn a_denial_keeps_its_reason() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/deny");
    t.post("alice", &path, &json!({"reason": "  "})).await.problem(400, "INVALID_ARGUMENT");
    let got = t.post("alice", &path, &json!({"reason": "wrong note"})).await;
    assert_eq!((&got.ok(200)["answer"], &got.body["state"]), (&json!("done"), &json!("denied")));
    let shown = t.get("agent", &format!("/v1/operations/{id}")).await;
    assert_eq!(shown.ok(200)["decisions"][0]["note"], "wrong note");
    let late = t.post("bob", &format!("/v1/operations/{id}/approve"), &json!({"digest": digest})).await;
    let problem = late.problem(403, "DENIED");
    assert_eq!(
        (&problem["operation_id"], &problem["state"], &problem["effect"]),
        (&json!(id), &json!("denied"), &json!("none"))
    );
    assert!(t.world.service.ledger().is_empty());
}

#[tokio::test]
async fn the_requester_never_decides() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve");
    t.post("agent", &path, &json!({"digest": digest})).await.problem(403, "APPROVER_NOT_AUTHORIZED");
    t.post("oscar", &path, &json!({"digest": digest})).await.problem(403, "APPROVER_NOT_AUTHORIZED");
    assert_eq!(t.get("agent", &format!("/v1/operations/{id}")).await.ok(200)["decisions"], json!([]));
}

#[tokio::test]
async fn another_digest_records_nothing() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve");
    let other =
        if digest.starts_with('0') { digest.replacen('0', "1", 1) } else { format!("0{}", &digest[1..]) };
    let got = t.post("alice", &path, &json!({"digest": other})).await;
    assert_eq!(got.problem(409, "PROPOSAL_CHANGED")["state"], "proposed");
    for bad in [json!(digest.to_uppercase()), json!(digest[1..]), json!(7), json!(null)] {
        let got = t.post("alice", &path, &json!({"digest": bad})).await;
        assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], "/digest");
        assert!(!got.text.contains(&digest[1..]), "values are not repeated: {}", got.text);
    }
    let missing = t.post("alice", &path, &json!({})).await;
    assert_eq!(missing.problem(400, "INVALID_ARGUMENT")["pointer"], "/digest");
    assert_eq!(t.get("agent", &format!("/v1/operations/{id}")).await.ok(200)["events"], 1);
}

#[tokio::test]
async fn an_approval_is_taken_back_before_the_commit() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note_later.v1").await;
    let at = |verb: &str| format!("/v1/operations/{id}/{verb}");
    t.post("agent", &at("commit"), &json!({})).await.problem(409, "APPROVAL_REQUIRED");
    assert_eq!(
        t.post("alice", &at("approve"), &json!({"digest": digest})).await.ok(200)["state"],
        "approved"
    );
    assert_eq!(t.post("alice", &at("revoke"), &json!({})).await.ok(200)["state"], "proposed");
    t.post("agent", &at("commit"), &json!({})).await.problem(409, "APPROVAL_REQUIRED");
    t.post("bob", &at("approve"), &json!({"digest": digest})).await.ok(200);
    t.post("bob", &at("commit"), &json!({})).await.problem(403, "PERMISSION_DENIED");
    // A body without members may be left out.
    let request = Tester::request("POST", &at("commit?wait=20s"), "agent", None);
    let got = t.send(super::OURS, request).await;
    assert_eq!((&got.ok(200)["answer"], &got.body["state"]), (&json!("done"), &json!("succeeded")));
    let again = t.post("agent", &at("commit"), &json!({})).await;
    assert_eq!(again.ok(200)["answer"], "already");
    assert_eq!(again.body["outcome"]["receipt"], json!({"note": "n1", "version": 18}));
    assert_eq!(t.world.service.ledger().len(), 1);
}

#[tokio::test]
async fn what_waits_is_cancelled_and_what_runs_is_not() {
    let t = Tester::start();
    let (id, _) = t.propose("set_note.v1").await;
    let got = t.post("agent", &format!("/v1/operations/{id}/cancel"), &json!({"reason": "not needed"})).await;
    assert_eq!(got.ok(200)["state"], "cancelled");

    t.world.service.behave(Behaviour::Hangs);
    let (id, digest) = t.propose("set_note.v1").await;
    t.post("alice", &format!("/v1/operations/{id}/approve"), &json!({"digest": digest})).await.ok(200);
    let got = t.post("agent", &format!("/v1/operations/{id}/cancel"), &json!({})).await;
    assert_eq!((&got.ok(200)["answer"], &got.body["state"]), (&json!("already"), &json!("executing")));
    assert_eq!(got.body["no_more_attempts"], true);
    t.world.service.release();
    let got = t.get("agent", &format!("/v1/operations/{id}?wait=20s")).await;
    assert_eq!(got.ok(200)["state"], "succeeded", "the outcome is still learned");
}

#[tokio::test]
async fn an_unknown_outcome_is_settled_by_an_operator_only() {
    let t = Tester::start();
    let id = t.unknown().await;
    let at = |verb: &str| format!("/v1/operations/{id}/{verb}");
    let shown = t.get("oscar", &format!("/v1/operations/{id}?wait=20s")).await;
    assert_eq!(shown.ok(200)["effect"], "unknown");
    assert_eq!(shown.body["doubt"]["cause"], "connection lost: connection reset");
    assert_eq!(shown.body["attempts"][0]["result"], "lost");

    let settled =
        json!({"outcome": "applied", "receipt": {"note": "n1", "version": 18}, "note": "seen in the log"});
    let got = t.post("agent", &at("resolve"), &settled).await;
    let problem = got.problem(403, "PERMISSION_DENIED");
    assert_eq!((&problem["state"], &problem["effect"]), (&json!("unknown"), &json!("unknown")));
    assert_eq!(t.post("oscar", &at("reconcile"), &json!({})).await.ok(200)["state"], "unknown");
    let of_another = json!({"outcome": "applied", "receipt": {"note": "n2", "version": 18}, "note": "seen"});
    let got = t.post("oscar", &at("resolve"), &of_another).await;
    assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], "/receipt");
    t.post("agent", &at("resolve"), &of_another).await.problem(403, "PERMISSION_DENIED");
    let got = t.post("oscar", &at("resolve"), &settled).await;
    assert_eq!((&got.ok(200)["state"], &got.body["effect"]), (&json!("succeeded"), &json!("applied")));
    assert_eq!(got.body["outcome"]["evidence"], "operator");
    assert_eq!(got.body["outcome"]["receipt"], json!({"note": "n1", "version": 18}));
    assert_eq!(t.world.service.ledger().len(), 1);
}

#[tokio::test]
async fn a_receipt_is_redacted_for_who_looks_at_it() {
    let t = Tester::start();
    let id = t.unknown().await;
    let receipt = json!({"note": "n1", "version": 18, "secret": "s3cret", "expires_at": "2026-08-01"});
    let settled = json!({"outcome": "applied", "receipt": receipt, "note": "seen in the log"});
    let path = format!("/v1/operations/{id}/resolve");
    assert_eq!(t.post("oscar", &path, &settled).await.ok(200)["outcome"]["receipt"], receipt);
    for (who, sees) in [("agent", false), ("alice", true), ("oscar", true)] {
        let shown = t.get(who, &format!("/v1/operations/{id}")).await.ok(200).clone();
        assert_eq!(shown["outcome"]["receipt"]["secret"].is_string(), sees, "{who}");
        let result = &shown["result"];
        assert_eq!((&result["ok"], &result["new_version"]), (&json!(true), &json!(18)), "{who}");
        assert_eq!((&result["expires_at"], &result["untrusted"]), (&json!("2026-08-01"), &json!(true)));
        let events = t.get(who, &format!("/v1/operations/{id}/events")).await.ok(200).to_string();
        assert_eq!(events.contains("s3cret"), sees, "{who}: {events}");
    }
}

#[tokio::test]
async fn a_resolution_that_contradicts_itself_is_refused() {
    let t = Tester::start();
    let id = t.unknown().await;
    let path = format!("/v1/operations/{id}/resolve");
    let bad = [
        (json!({"outcome": "failed", "retry": true, "note": "x"}), "/retry"),
        (json!({"outcome": "not_applied", "receipt": {}, "note": "x"}), "/receipt"),
        (json!({"outcome": "perhaps", "note": "x"}), "/outcome"),
        (json!({"outcome": "failed"}), "/note"),
        (json!({"outcome": "failed", "note": "x", "retry": "yes"}), "/retry"),
    ];
    for (body, pointer) in bad {
        let got = t.post("oscar", &path, &body).await;
        assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], pointer);
    }
    let again = json!({"outcome": "not_applied", "retry": true, "note": "looked"});
    let got = t.post("oscar", &path, &again).await;
    assert_eq!(
        got.problem(409, "INVALID_TRANSITION")["effect"],
        "unknown",
        "its contract allows one attempt"
    );
    let got = t.post("oscar", &path, &json!({"outcome": "not_applied", "note": "looked"})).await;
    assert_eq!((&got.ok(200)["state"], &got.body["effect"]), (&json!("failed"), &json!("none")));
}

#[tokio::test]
async fn an_operator_may_give_up() {
    let t = Tester::start();
    let id = t.unknown().await;
    let path = format!("/v1/operations/{id}/abandon");
    t.post("alice", &path, &json!({"reason": "x"})).await.problem(403, "PERMISSION_DENIED");
    let got = t.post("oscar", &path, &json!({"reason": "nobody can tell"})).await;
    assert_eq!((&got.ok(200)["state"], &got.body["effect"]), (&json!("abandoned"), &json!("unknown")));
}

#[tokio::test]
async fn a_compensation_is_refused_cleanly() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);
    let before = t.get("oscar", &format!("/v1/operations/{id}")).await;
    let got = t.post("oscar", &format!("/v1/operations/{id}/compensate"), &json!({})).await;
    let problem = got.problem(422, "UNSUPPORTED_TOOL");
    assert_eq!((&problem["effect"], &problem["retryable"]), (&json!("applied"), &json!(false)));
    assert_eq!(text(problem, "state"), "succeeded");
    assert_eq!(t.get("oscar", &format!("/v1/operations/{id}")).await.body, before.body);
}

#[tokio::test]
async fn a_restore_is_accepted_by_operators() {
    let t = Tester::start();
    t.post("agent", "/v1/restore/accept", &json!({})).await.problem(403, "PERMISSION_DENIED");
    assert_eq!(t.post("oscar", "/v1/restore/accept", &json!({})).await.ok(200), &json!({"epoch": 0}));
}

#[tokio::test]
async fn who_may_not_write_any_more_does_not() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note_later.v1").await;
    t.post("alice", &format!("/v1/operations/{id}/approve"), &json!({"digest": digest})).await.ok(200);
    t.world.directory.ban("agent");
    let got = t.post("agent", &format!("/v1/operations/{id}/commit"), &json!({})).await;
    assert_eq!(got.problem(403, "PERMISSION_DENIED")["state"], "approved");
    assert!(t.world.service.ledger().is_empty());
}

#[tokio::test]
async fn a_service_that_was_never_reached_has_no_effect() {
    let t = Tester::start();
    t.world.service.behave(Behaviour::Down);
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    let got = t.post("alice", &path, &json!({"digest": digest})).await;
    assert_eq!((&got.ok(200)["state"], &got.body["effect"]), (&json!("failed"), &json!("none")));
    assert_eq!(got.body["outcome"]["evidence"], "nothing_sent");
}

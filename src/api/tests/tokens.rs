//! Tokens of principals: who makes them, what they are worth, and what nobody learns about them.

use serde_json::{Value, json};

use super::{NOBODY, OURS, Tester, text};
use crate::domain::Millis;
use crate::domain::journal::Fact;
use crate::domain::principal::Principal;

const WRONG: [&str; 4] = [
    "",
    "writd_t_",
    "writd_t_0000000000000000000000000000000000000000000000000000000000000000",
    "writd_r_7zzzzzzzzzzzzzzzzzzzzzzzzz_0000000000000000000000000000000000000000000000000000000000000000",
];

#[tokio::test]
async fn a_token_speaks_for_its_principal_and_the_journal_says_how_it_was_known() {
    let t = Tester::start();
    let (alice, id) = t.token(&json!({"principal": "alice"})).await;
    assert!(alice.starts_with("writd_t_"), "{alice}");
    let (operation, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{operation}/approve?wait=20s");
    let got = t.bear(&alice, "POST", &path, Some(&json!({"digest": digest}))).await;
    assert_eq!(got.ok(200)["state"], "succeeded", "{}", got.text);
    let seen = t.bear(&alice, "GET", &format!("/v1/operations/{operation}"), None).await;
    let by = &seen.ok(200)["decisions"][0]["by"];
    assert_eq!((&by["name"], &by["assurance"]), (&json!("alice"), &json!("token")), "{}", seen.text);
    // Neither lists nor events nor the store have the secret.
    let list = t.get("oscar", "/v1/tokens").await;
    assert_eq!(text(&list.ok(200)["items"][0], "id"), id);
    assert_eq!(list.body["items"][0]["state"], "active");
    let bits = alice.strip_prefix("writd_t_").unwrap();
    assert!(!list.text.contains(bits));
    let entries = t.world.handle.journal(0, 1000, &t.world.directory.principal_named("oscar")).unwrap().0;
    assert!(entries.iter().any(|entry| entry.name == "token_created"));
    for entry in &entries {
        assert!(!String::from_utf8_lossy(&entry.payload).contains(bits));
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_token_is_answered_alike_and_never_by_the_account() {
    let t = Tester::start();
    let ask = async |token: &str| t.send(OURS, Tester::bearing(token, "GET", "/v1/operations", None)).await;
    let (revoked, id) = t.token(&json!({"principal": "agent"})).await;
    let (expired, _) = t.token(&json!({"principal": "agent", "expires_in": "10m"})).await;
    let (banned, _) = t.token(&json!({"principal": "bob"})).await;
    for good in [&revoked, &expired, &banned] {
        ask(good).await.ok(200);
    }
    t.post("oscar", &format!("/v1/tokens/{id}/revoke"), &json!({})).await.ok(200);
    t.world.clock.forward(Millis::secs(601));
    t.world.directory.ban("bob");
    let reference = ask("x").await;
    reference.problem(401, "UNAUTHENTICATED");
    for wrong in WRONG.into_iter().chain([revoked.as_str(), &expired, &banned]) {
        assert_eq!(ask(wrong).await.text, reference.text, "{wrong}");
    }
    for header in ["Basic eDp4", "Bearer", "bearer", "", "Bearer  x", "Bearer \u{e9}"] {
        let mut request = Tester::request("GET", "/v1/operations", "", None);
        request
            .headers_mut()
            .insert("authorization", axum::http::HeaderValue::from_bytes(header.as_bytes()).unwrap());
        assert_eq!(t.send(OURS, request).await.text, reference.text, "{header}");
    }
    let (good, _) = t.token(&json!({"principal": "agent"})).await;
    let mut twice = Tester::bearing(&good, "GET", "/v1/operations", None);
    twice.headers_mut().append("authorization", format!("Bearer {good}").parse().unwrap());
    assert_eq!(t.send(OURS, twice).await.text, reference.text);
    let mut named = Tester::bearing(&good, "GET", "/v1/operations", None);
    named.headers_mut().insert("Writd-As", "alice".parse().unwrap());
    t.send(OURS, named).await.problem(400, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn only_an_administrator_makes_tokens_and_only_within_bounds() {
    let t = Tester::start();
    let make = async |name: &str, body: Value| t.post(name, "/v1/tokens", &body).await;
    for name in ["agent", "alice"] {
        make(name, json!({"principal": name})).await.problem(403, "PERMISSION_DENIED");
        t.get(name, "/v1/tokens").await.problem(403, "PERMISSION_DENIED");
        let path = "/v1/tokens/tok_7zzzzzzzzzzzzzzzzzzzzzzzzz/revoke";
        t.post(name, path, &json!({})).await.problem(403, "PERMISSION_DENIED");
    }
    let wrong = [
        (json!({"principal": "nobody"}), "/principal"),
        (json!({"principal": "eve"}), "/principal"),
        (json!({"principal": "alice", "roles": ["approver", "admin"]}), "/roles"),
        (json!({"principal": "alice", "roles": ["king"]}), "/roles"),
        (json!({"principal": "alice", "roles": ["approver", "approver"]}), "/roles"),
        (json!({"principal": "alice", "expires_in": "3h"}), "/expires_in"),
        (json!({"principal": "alice", "expires_in": "0s"}), "/expires_in"),
        (json!({"principal": "alice", "on_behalf_of": "bob"}), "/on_behalf_of"),
        (json!({"principal": "agent", "on_behalf_of": "eve"}), "/on_behalf_of"),
        (json!({"principal": "agent", "on_behalf_of": "mallory"}), "/on_behalf_of"),
        (json!({"principal": "alice", "tenant": "other"}), "/tenant"),
    ];
    for (body, pointer) in wrong {
        let got = make("oscar", body.clone()).await;
        assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], pointer, "{body}: {}", got.text);
    }
    let elsewhere = make("oscar", json!({"principal": "eve"})).await;
    assert_eq!(elsewhere.text, make("oscar", json!({"principal": "nobody"})).await.text);
    assert_eq!(t.get("oscar", "/v1/tokens").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn a_token_has_no_role_that_was_not_asked_for() {
    let t = Tester::start();
    let (auditor, _) = t.token(&json!({"principal": "oscar", "roles": ["auditor"]})).await;
    t.bear(&auditor, "GET", "/v1/operations", None).await.ok(200);
    t.bear(&auditor, "GET", "/v1/tokens", None).await.problem(403, "PERMISSION_DENIED");
    let body = json!({"principal": "agent"});
    t.bear(&auditor, "POST", "/v1/tokens", Some(&body)).await.problem(403, "PERMISSION_DENIED");
}

#[tokio::test]
async fn tokens_of_another_tenant_are_not_there() {
    let t = Tester::start();
    let (_, id) = t.token(&json!({"principal": "agent"})).await;
    let mut root = super::principal("root", super::PrincipalKind::Operator, &[super::Role::Admin]);
    root.tenant = "other".to_owned();
    t.world.directory.know(root.clone());
    let handle = &t.world.handle;
    assert!(handle.tokens(&root).unwrap().0.is_empty());
    let foreign = handle.revoke_token(id.parse().unwrap(), &root).await.unwrap_err();
    let absent = handle.revoke_token(crate::domain::ids::TokenId::from_u128(1), &root).await.unwrap_err();
    assert_eq!(foreign, absent);
    let (entries, _) = handle.journal(0, 1000, &root).unwrap();
    assert!(entries.iter().all(|entry| !entry.name.starts_with("token_")));
    assert_eq!(t.get("oscar", "/v1/tokens").await.body["items"][0]["state"], "active");
}

#[tokio::test]
async fn a_delegation_is_recorded_and_keeps_what_was_done_for_others_apart() {
    let t = Tester::start();
    let (for_bob, _) = t.token(&json!({"principal": "agent", "on_behalf_of": "bob"})).await;
    let (for_alice, _) = t.token(&json!({"principal": "agent", "on_behalf_of": "alice"})).await;
    let open = json!({"purpose": "tests", "tools": ["set_note.v1"]});
    let keyed = |token: &str| {
        let mut request = Tester::bearing(token, "POST", "/v1/runs", Some(&open));
        request.headers_mut().insert("idempotency-key", "k".parse().unwrap());
        request
    };
    let bobs = t.send(NOBODY, keyed(&for_bob)).await;
    assert_eq!(bobs.ok(201)["on_behalf_of"], "bob");
    let run = text(&bobs.body, "id");
    let alices = t.send(NOBODY, keyed(&for_alice)).await;
    assert_ne!(text(alices.ok(201), "id"), run, "a key of one person does not find the run of another");
    let path = format!("/v1/runs/{run}");
    t.bear(&for_alice, "GET", &path, None).await.problem(404, "NOT_FOUND");
    t.get("agent", &path).await.problem(404, "NOT_FOUND");
    let body = super::proposal("set_note.v1", "new");
    let proposed = t.bear(&for_bob, "POST", &format!("{path}/proposals"), Some(&body)).await;
    let (id, digest) = (text(proposed.ok(201), "id"), text(&proposed.body, "proposal_sha256"));
    let approve = format!("/v1/operations/{id}/approve");
    let bob = t.post("bob", &approve, &json!({"digest": digest})).await;
    bob.problem(403, "APPROVER_NOT_AUTHORIZED");
    // Bob is disabled after the approval: nothing is executed for him.
    t.world.directory.ban("bob");
    let got = t.post("alice", &format!("{approve}?wait=1s"), &json!({"digest": digest})).await;
    assert_ne!(got.ok(200)["state"], "succeeded", "{}", got.text);
    assert_eq!(t.world.service.ledger().len(), 0);
}

#[tokio::test]
async fn a_revoked_token_is_stored_as_revoked_once() {
    let t = Tester::start();
    let (secret, id) = t.token(&json!({"principal": "agent"})).await;
    let path = format!("/v1/tokens/{id}/revoke");
    let body = json!({});
    let (one, two) = tokio::join!(t.post("oscar", &path, &body), t.post("oscar", &path, &body));
    assert_eq!((one.ok(200)["state"].as_str(), one.text.as_str()), (Some("revoked"), two.text.as_str()));
    let oscar: Principal = t.world.directory.principal_named("oscar");
    let (entries, _) = t.world.handle.journal(0, 1000, &oscar).unwrap();
    let revoked = entries.iter().filter(|entry| entry.name == "token_revoked").count();
    assert_eq!(revoked, 1);
    let made = entries.iter().find(|entry| entry.name == "token_created").unwrap();
    assert!(matches!(crate::engine::fact_of(made), Ok(Some(Fact::TokenCreated { .. }))));
    t.bear(&secret, "GET", "/v1/operations", None).await.problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_damaged_record_keeps_nobody_from_revoking_another_token() {
    use crate::store::records::keys;
    use crate::store::{Batch, Record};
    let t = Tester::start();
    let (secret, id) = t.token(&json!({"principal": "agent"})).await;
    let (damaged, _) = t.token(&json!({"principal": "agent"})).await;
    let sha256 = crate::domain::Digest::of(damaged.as_bytes());
    let record = Record { version: 1, payload: vec![1, 2] };
    t.world.store.commit(&Batch::new().put(keys::token(sha256), record)).unwrap();
    let list = t.get("oscar", "/v1/tokens").await;
    assert_eq!((list.ok(200)["items"].as_array().unwrap().len(), &list.body["unreadable"]), (1, &json!(1)));
    t.post("oscar", &format!("/v1/tokens/{id}/revoke"), &json!({})).await.ok(200);
    t.bear(&secret, "GET", "/v1/operations", None).await.problem(401, "UNAUTHENTICATED");
    assert!(!t.bear(&damaged, "GET", "/v1/operations", None).await.status.is_success());
}

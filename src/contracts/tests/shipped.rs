use serde_json::{Value, json};

use super::super::*;
use super::{shipped, tool};

pub(super) fn args() -> Value {
    json!({"customer_id": "C-1842", "destination":
        {"line1": "Sveavägen 44", "postal_code": "111 34", "city": "Stockholm", "country": "SE"}})
}

pub(super) fn before() -> Value {
    json!({"customer_id": "C-1842", "name": "Marta Lindqvist", "email": "m@example.test", "version": 17,
        "internal_notes": "secret", "shipping_address":
        {"line1": "Storgatan 12", "postal_code": "114 55", "city": "Stockholm", "country": "SE"}})
}

pub(super) fn render(contract: &Contract) -> crate::domain::request::RenderedRequest {
    let (args, before) = (args(), before());
    let target = contract.target(&args, &before).unwrap();
    contract
        .render_write(&WriteContext {
            origin: "http://127.0.0.1:9000",
            args: &args,
            before: &before,
            target: &target,
            operation: "op_1",
            run: "run_1",
            requester: "agent-7",
            on_behalf_of: Some("marta"),
            key: "run_1:op_1",
        })
        .unwrap()
}

#[test]
fn the_shipped_contracts_are_clean_and_survive_their_stored_body() {
    let catalog = shipped();
    let names: Vec<String> = catalog.list().map(|one| format!("{} {}", one.tool, one.version)).collect();
    let wanted = [
        "cancel_work_order 1.0",
        "commit_address_change 2.1",
        "create_work_order_draft 1.0",
        "get_asset 1.0",
        "get_customer 1.0",
        "get_maintenance_history 1.0",
        "notify_contractor 1.0",
        "search_sop 1.0",
        "send_confirmation 1.0",
        "submit_work_order 1.0",
        "update_work_order_draft 1.0",
    ];
    assert_eq!(names, wanted);
    for contract in catalog.list() {
        let again = Contract::from_body(contract.body()).unwrap();
        assert_eq!(again.body(), contract.body());
        assert_eq!(again.fingerprint(), contract.fingerprint());
        assert_eq!(again.fingerprint(), crate::domain::Digest::of(contract.body()));
    }
    assert_eq!(catalog.fingerprint(), shipped().fingerprint());
}

#[test]
fn the_write_is_rendered_with_key_version_and_actor() {
    let request = render(&tool("commit_address_change.v2"));
    assert_eq!(request.method, "PUT");
    assert_eq!(request.base, "crm");
    assert_eq!(request.path, "/customers/C-1842/shipping-address");
    let headers: Vec<String> =
        request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(
        headers,
        [
            "content-type: application/json",
            "if-match: \"17\"",
            "idempotency-key: run_1:op_1",
            "x-operation-id: op_1",
            "x-run-id: run_1",
            "x-requested-by: agent-7",
            "x-on-behalf-of: marta"
        ]
    );
    assert_eq!(
        String::from_utf8(request.body.unwrap()).unwrap(),
        r#"{"city":"Stockholm","country":"SE","line1":"Sveavägen 44","postal_code":"111 34"}"#
    );
}

#[test]
fn the_proposal_shows_target_changes_and_consequences() {
    let contract = tool("commit_address_change.v2");
    let (args, before) = (args(), before());
    let (read, with) = contract.preview_read(&args).unwrap();
    assert_eq!((read.to_string().as_str(), with), ("get_customer.v1", json!({"customer_id": "C-1842"})));
    let target = contract.target(&args, &before).unwrap();
    assert_eq!((target.id.as_str(), target.version.as_deref()), ("C-1842", Some("17")));
    let changes = contract.changes(&args, &before).unwrap();
    let seen: Vec<&str> = changes.iter().map(|change| change.field.as_str()).collect();
    assert_eq!(seen, ["/shipping_address/line1", "/shipping_address/postal_code"]);
    assert_eq!(changes[0].before, Some(json!("Storgatan 12")));
    assert_eq!(
        contract.effect_text(&args, &before).unwrap(),
        "Replace the shipping address of customer C-1842"
    );
    assert_eq!(contract.consequences(&args, &before).unwrap()["affected_count"], 1);
    let result = json!({"receipt": {"before": {"shipping_address": {"city": "Old"}}}});
    let (undo, with) = contract.compensation_args(&args, &before, &result).unwrap().unwrap();
    assert_eq!(undo.to_string(), "commit_address_change.v2");
    assert_eq!(with, json!({"customer_id": "C-1842", "destination": {"city": "Old"}}));
}

#[test]
fn a_create_has_no_version_and_its_defaults_are_filled_in() {
    let contract = tool("send_confirmation.v1");
    let args = contract.with_defaults(&json!({"customer_id": "C-1", "template": "address_changed"}));
    assert_eq!(args["language"], "en");
    contract.validate_input(&args).unwrap();
    let target = contract.target(&args, &before()).unwrap();
    assert_eq!((target.id.as_str(), target.version.as_deref()), ("C-1", Some(TARGET_ABSENT)));
    let changes = contract.changes(&args, &before()).unwrap();
    assert_eq!(changes.len(), 2);
    assert!(changes.iter().all(|change| change.before.is_none()));
    assert!(contract.compensation_args(&args, &before(), &json!({})).unwrap().is_none());
}

#[test]
fn reads_are_rendered_redacted_and_judged() {
    let contract = tool("get_customer.v1");
    let actor = Actor { origin: "http://x", run: "run_1", requester: "agent-7", on_behalf_of: None };
    let request = contract.render_read(&json!({"customer_id": "C-1842"}), &actor).unwrap();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/customers/C-1842"));
    assert_eq!(request.body, None);
    let seen = contract.redact_for("agent", &before());
    assert_eq!(seen.get("internal_notes"), None);
    assert_eq!(seen["email"], "[redacted]");
    let answer = |status, body| Answer { status, headers: Vec::new(), body: AnswerBody::Json(body) };
    assert_eq!(contract.classify_read(&answer(200, before())), ReadOutcome::Output(before()));
    let mut extra = before();
    extra["surprise"] = json!(1);
    for (answer, wanted) in [
        (answer(200, extra), "OUTPUT_INVALID"),
        (answer(404, json!({"code": "NO_SUCH_CUSTOMER"})), "NOT_FOUND"),
        (answer(404, json!({"code": "NO_SUCH_ROUTE"})), "UNAVAILABLE"),
        (answer(307, json!({})), "UNAVAILABLE"),
    ] {
        let ReadOutcome::Failed { code, .. } = contract.classify_read(&answer) else { panic!("{answer:?}") };
        assert_eq!(code, wanted, "{answer:?}");
    }
}

#[test]
fn violations_name_the_schema_and_never_the_value() {
    let contract = tool("commit_address_change.v2");
    let secret = "hunter2-".repeat(4000);
    let wrong = json!({"customer_id": secret, "destination": {"line1": 5, "city": secret, "extra": secret}});
    let violations = contract.validate_input(&wrong).unwrap_err();
    let text = serde_json::to_string(&violations).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.len() < 2048, "{}", text.len());
    let pointers: Vec<&str> = violations.iter().map(|violation| violation.pointer.as_str()).collect();
    assert!(pointers.contains(&"/destination/extra") && pointers.contains(&"/customer_id"), "{pointers:?}");
    let many: serde_json::Map<String, Value> = (0..5000).map(|i| (format!("k{i}"), json!(i))).collect();
    let violations = contract.validate_input(&Value::Object(many)).unwrap_err();
    assert!(serde_json::to_string(&violations).unwrap().len() < 2048);
}

#[test]
fn contracts_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Contract>();
    shared::<Catalog>();
}

#[test]
fn arguments_cannot_leave_their_place_in_a_request() {
    let contract = tool("commit_address_change.v2");
    for (id, version, operation) in [
        ("..", "17", "op_1"),
        ("C-1", "17\"\r\nX-Evil: 1", "op_1"),
        ("C-1", "17", "op_1\n"),
        ("C-1", "17", "op%0d%0a"),
        ("", "17", "op_1"),
    ] {
        let args = json!({"customer_id": id, "destination": {}});
        let target = Target {
            kind: "customer".into(),
            id: id.into(),
            scope: id.into(),
            version: Some(version.into()),
        };
        let context = WriteContext {
            origin: "http://x",
            args: &args,
            before: &Value::Null,
            target: &target,
            operation,
            run: "run_1",
            requester: "a",
            on_behalf_of: None,
            key: "k",
        };
        assert!(contract.render_write(&context).is_err(), "{id:?} {version:?} {operation:?}");
    }
}

#[test]
fn a_stored_body_that_is_damaged_is_refused_and_a_stricter_rule_does_not_strand_it() {
    assert!(Contract::from_body(b"{").is_err());
    assert!(Contract::from_body(b"{}").is_err());
    let contract = tool("get_customer.v1");
    let mut body: Value = serde_json::from_slice(contract.body()).unwrap();
    // A rule of the checker, not a need of the execution: an open object.
    body["output"]["additionalProperties"] = json!(true);
    assert!(Contract::from_body(&serde_json::to_vec(&body).unwrap()).is_ok());
    body.as_object_mut().unwrap().remove("timeout");
    assert!(Contract::from_body(&serde_json::to_vec(&body).unwrap()).is_err());
}

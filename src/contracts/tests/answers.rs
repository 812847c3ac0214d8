//! How answers are judged: ambiguous is the default.

use serde_json::{Value, json};

use super::super::*;
use super::shipped::render;
use super::tool;
use crate::domain::operation::Effect;
use crate::domain::{Digest, Millis};

fn expect(body: &[u8]) -> Expect<'static> {
    Expect { key: "run_1:op_1", operation: "op_1", body_sha256: Digest::of(body), version: Some("17") }
}

fn answer(status: u16, body: Value) -> Answer {
    Answer { status, headers: vec![("retry-after".into(), "3".into())], body: AnswerBody::Json(body) }
}

fn receipt(body: &[u8]) -> Value {
    json!({
        "customer_id": "C-1842", "previous_version": 17, "new_version": 18,
        "changed_fields": ["shipping_address"], "committed_at": "2026-07-19T00:00:00Z",
        "receipt": {
            "id": "rcp_1", "operation_id": "op_1", "key": "run_1:op_1",
            "request_sha256": Digest::of(body).to_string(),
            "before": {"shipping_address": {"line1": "a", "postal_code": "b", "city": "c", "country": "SE"}}
        }
    })
}

fn is_ambiguous(contract: &Contract, answer: &Answer, body: &[u8]) {
    let said = contract.classify(answer, &expect(body));
    assert!(matches!(said, Classified::Ambiguous { .. }), "{answer:?} gave {said:?}");
}

#[test]
fn success_needs_status_schema_and_evidence() {
    let contract = tool("commit_address_change.v2");
    let body = render(&contract).body.unwrap();
    let Classified::Receipt(found) = contract.classify(&answer(200, receipt(&body)), &expect(&body)) else {
        panic!("no receipt")
    };
    assert_eq!(found.new_version.as_deref(), Some("18"));
    assert_eq!(found.previous_version.as_deref(), Some("17"));
    assert_eq!(found.id.as_deref(), Some("rcp_1"));
    assert_eq!(found.changed_fields.as_deref(), Some(&["shipping_address".to_owned()][..]));
    assert_eq!(found.data, receipt(&body));
    let by_hand = contract.admit_receipt(&receipt(&body), &expect(&body)).unwrap();
    assert_eq!(by_hand, *found);
    for other in [json!({}), json!({"id": "rcp_1"}), receipt(b"another body")] {
        contract.admit_receipt(&other, &expect(&body)).unwrap_err();
    }

    let spoil = |pointer: &str, value: Value| {
        let mut spoiled = receipt(&body);
        *spoiled.pointer_mut(pointer).unwrap() = value;
        answer(200, spoiled)
    };
    for spoiled in [
        spoil("/receipt/operation_id", json!("op_2")),
        spoil("/receipt/key", json!("run_1:op_2")),
        spoil("/receipt/request_sha256", json!("0".repeat(64))),
        spoil("/new_version", json!("18")),
        spoil("/previous_version", json!(16)),
        spoil("/receipt/before", json!({})),
        answer(200, json!({})),
        answer(201, receipt(&body)),
        answer(202, receipt(&body)),
        answer(307, receipt(&body)),
        Answer { body: AnswerBody::Empty, ..answer(200, Value::Null) },
        Answer { body: AnswerBody::Unreadable("cut off".into()), ..answer(200, Value::Null) },
    ] {
        is_ambiguous(&contract, &spoiled, &body);
    }
    let mut extra = receipt(&body);
    extra["surprise"] = json!(true);
    is_ambiguous(&contract, &answer(200, extra), &body);
}

#[test]
fn only_declared_errors_are_errors() {
    let contract = tool("commit_address_change.v2");
    let said = |status, body| contract.classify(&answer(status, body), &expect(b""));
    assert_eq!(
        said(409, json!({"code": "STALE", "current_version": 18})),
        Classified::Failed {
            code: "VERSION_CONFLICT".into(),
            effect: Effect::None,
            current_version: Some("18".into())
        }
    );
    let Classified::Failed { code, effect, .. } = said(400, json!({"code": "INVALID_ADDRESS"})) else {
        panic!()
    };
    assert_eq!((code.as_str(), effect), ("INVALID_ARGUMENT", Effect::None));
    assert_eq!(
        said(429, json!({"code": "RATE_LIMITED"})),
        Classified::NoEffectRetryable { code: "RATE_LIMITED".into(), retry_after: Some(Millis::secs(3)) }
    );
    assert!(matches!(said(503, json!({"code": "UNAVAILABLE_BEFORE"})), Classified::NoEffectRetryable { .. }));
    let at = |date: &str, retry_after: &str| {
        let mut late = answer(429, json!({"code": "RATE_LIMITED"}));
        late.headers = vec![("date".into(), date.into()), ("Retry-After".into(), retry_after.into())];
        match contract.classify(&late, &expect(b"")) {
            Classified::NoEffectRetryable { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        }
    };
    let noon = "Sun, 06 Nov 1994 12:00:00 GMT";
    assert_eq!(at(noon, "Sun, 06 Nov 1994 12:01:30 GMT"), Some(Millis::secs(90)));
    assert_eq!(at(noon, "Sun, 06 Nov 1994 11:00:00 GMT"), Some(Millis::secs(0)));
    assert_eq!(
        at(noon, "Mon, 07 Nov 1994 13:00:00 GMT"),
        Some(Millis::secs(24 * 3600)),
        "no longer than a day"
    );
    assert_eq!(at(noon, "soon"), None);
    for (status, body) in [
        (503, json!({"code": "UNAVAILABLE"})),
        (503, json!({})),
        (500, json!({"code": "INTERNAL"})),
        (409, json!({"code": "OTHER"})),
        (409, json!("STALE")),
        (422, json!({"code": "KEY_REUSED"})),
        (400, json!({"code": "STALE"})),
        (404, json!({"code": "NO_SUCH_ROUTE"})),
        (301, json!({})),
        (100, json!({})),
    ] {
        is_ambiguous(&contract, &answer(status, body), b"");
    }
    let html = Answer { body: AnswerBody::Unreadable("not JSON".into()), ..answer(503, Value::Null) };
    is_ambiguous(&contract, &html, b"");
}

#[test]
fn a_status_decides_only_with_matching_evidence() {
    let contract = tool("commit_address_change.v2");
    let body = render(&contract).body.unwrap();
    let said =
        |status, answer_body: Value| contract.classify_status(&answer(status, answer_body), &expect(&body));
    let about = |status: &str, member: &str, value: Value| {
        json!({"status": status, "operation_id": "op_1",
            "request_sha256": Digest::of(&body).to_string(), member: value})
    };
    let StatusAnswer::Succeeded(found) = said(200, about("succeeded", "result", receipt(&body))) else {
        panic!()
    };
    assert_eq!(found.new_version.as_deref(), Some("18"));
    assert_eq!(
        said(200, about("failed", "error", json!({"code": "INVALID_ADDRESS", "detail": "x"}))),
        StatusAnswer::Failed { code: "INVALID_ARGUMENT".into(), effect: Effect::None }
    );
    assert_eq!(said(200, about("in_progress", "x", json!(1))), StatusAnswer::InProgress { remote: None });
    assert_eq!(said(404, json!({"code": "NO_SUCH_OPERATION"})), StatusAnswer::NotFound);

    let mut other = about("succeeded", "result", receipt(&body));
    other["operation_id"] = json!("op_of_somebody_else");
    let mut digest = about("failed", "error", json!({"code": "INVALID_ADDRESS"}));
    digest["request_sha256"] = json!("0".repeat(64));
    for (status, body) in [
        (200, other),
        (200, digest),
        (200, about("succeeded", "result", json!({}))),
        (200, about("succeeded", "no_result", json!({}))),
        (200, about("failed", "error", json!({"code": "WHO_KNOWS"}))),
        (200, about("failed", "error", json!({"code": "KEY_REUSED"}))),
        (200, about("confused", "error", json!(null))),
        (200, json!({"status": "in_progress"})),
        (404, json!({"code": "NO_SUCH_ROUTE"})),
        (404, json!(null)),
        (503, json!({"code": "NO_SUCH_OPERATION"})),
        (500, json!([])),
    ] {
        let answer = said(status, body);
        assert!(matches!(answer, StatusAnswer::Inconclusive { .. }), "{answer:?}");
    }
    let html = Answer { body: AnswerBody::Unreadable("not JSON".into()), ..answer(404, Value::Null) };
    let said = contract.classify_status(&html, &expect(&body));
    assert!(matches!(said, StatusAnswer::Inconclusive { .. }), "{said:?}");
}

#[test]
fn the_status_request_asks_by_the_key_as_one_segment() {
    let contract = tool("commit_address_change.v2");
    let context = StatusContext {
        origin: "http://x",
        key: "run_1:op_1",
        operation: "op_1",
        run: "run_1",
        args: &Value::Null,
    };
    let request = contract.render_status(&context).unwrap();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/operations/run_1%3Aop_1"));
    assert_eq!(request.base, "crm");
}

#[test]
fn c46_an_output_that_does_not_fit_is_never_a_failed_write() {
    let contract = tool("commit_address_change.v2");
    let body = render(&contract).body.unwrap();
    let mut wrong_type = receipt(&body);
    wrong_type["receipt"]["id"] = json!(123_456);
    let mut extra = receipt(&body);
    extra["surprise"] = json!("hunter2");
    for output in
        [json!({"id": 123_456}), wrong_type, extra, json!({"error": "hunter2"}), json!("hunter2"), json!([])]
    {
        let said = contract.classify(&answer(200, output.clone()), &expect(&body));
        let Classified::Ambiguous { cause } = said else { panic!("{output} gave {said:?}") };
        assert!(!cause.contains("hunter2") && !cause.contains("123456"), "no raw output in: {cause}");
    }
}

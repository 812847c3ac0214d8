use serde_json::json;

use super::*;

#[test]
fn parts_of_a_partial_effect_are_read_or_nothing_is() {
    let entry = ErrorEntry {
        status: 409,
        body: Vec::new(),
        code: "PARTIAL_EFFECT".into(),
        effect: Effect::Partial,
        retry_after: false,
        current_version: None,
        effects: Some("/effects".parse().unwrap()),
    };
    let answer = |body| Answer { status: 409, headers: Vec::new(), body: AnswerBody::Json(body) };
    let body = json!({"effects": [{"name": "order", "state": "applied", "receipt": {"id": 1}},
        {"name": "mail", "state": "none"}]});
    let Classified::Partial { effects, .. } = declared(&entry, &answer(body)) else { panic!() };
    assert_eq!((effects[0].state, effects[1].state), (Effect::Applied, Effect::None));
    for wrong in [json!({}), json!({"effects": []}), json!({"effects": [{"name": "x", "state": "maybe"}]})] {
        assert!(matches!(declared(&entry, &answer(wrong)), Classified::Ambiguous { .. }));
    }
}

#[test]
fn a_pause_that_a_service_asks_for_is_bounded() {
    let with = |value: &str| Answer {
        status: 429,
        headers: vec![("Retry-After".into(), value.into())],
        body: AnswerBody::Empty,
    };
    assert_eq!(with("7").retry_after(), Some(Millis::secs(7)));
    assert_eq!(with("99999999").retry_after(), Some(Millis::secs(MAX_RETRY_AFTER_S)));
    assert_eq!(with("Wed, 21 Oct 2026 07:28:00 GMT").retry_after(), None);
    assert_eq!(with("-1").retry_after(), None);
}

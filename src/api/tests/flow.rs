//! The main job through the API: propose, look, approve, executed once, history.

use serde_json::json;

use super::{Tester, proposal, text};
use crate::api::wire::{CommandAnswer, EventView, OperationDetail, OperationView, Page, RunView};
use crate::domain::operation::{Effect, State};

#[tokio::test]
async fn a_write_goes_from_proposal_to_receipt() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;

    let shown = t.get("alice", &format!("/v1/operations/{id}")).await;
    let detail: OperationDetail = serde_json::from_value(shown.ok(200).clone()).unwrap();
    assert_eq!(detail.summary.proposal_sha256.to_string(), digest);
    assert_eq!(detail.summary.effect_text, "Replace the text of note n1");
    assert_eq!(detail.summary.target.version, Some(json!(17)));
    assert_eq!(detail.changes[0].before, Some(json!("old")));
    assert_eq!(detail.changes[0].after, Some(json!("new")));
    assert_eq!(detail.arguments, json!({"id": "n1", "text": "new"}));
    assert_eq!(detail.consequences, json!({"environment": "test", "affected_count": 1}));
    assert_eq!(detail.request.body.as_deref(), Some("{\"text\":\"new\"}"));
    assert_eq!((detail.request.method.as_str(), detail.request.path.as_str()), ("PUT", "/notes/n1"));
    assert!(detail.summary.clocks.decide_remaining_ms.is_some_and(|ms| ms > 0 && ms <= 600_000));
    assert_eq!((detail.summary.approvals, detail.summary.approvals_needed), (0, 1));
    assert!(detail.assurance_note.is_some());
    assert!(t.world.service.ledger().is_empty(), "nothing is sent before the approval");

    let path = format!("/v1/operations/{id}/approve?wait=20s");
    let got = t.post("alice", &path, &json!({"digest": digest, "note": "fine"})).await;
    let answer: CommandAnswer = serde_json::from_value(got.ok(200).clone()).unwrap();
    assert_eq!(got.body["answer"], "done");
    assert_eq!((answer.operation.state, answer.operation.effect), (State::Succeeded, Effect::Applied));
    let outcome = answer.operation.outcome.unwrap();
    assert_eq!(outcome.receipt, Some(json!({"note": "n1", "version": 18})));
    assert_eq!(outcome.new_version, Some(json!(18)));
    assert_eq!(t.world.service.ledger().len(), 1);

    let shown = t.get("agent", &format!("/v1/operations/{id}")).await;
    let detail: OperationDetail = serde_json::from_value(shown.ok(200).clone()).unwrap();
    assert_eq!(
        (detail.decisions[0].by.name.as_str(), detail.decisions[0].note.as_deref()),
        ("alice", Some("fine"))
    );
    assert_eq!(detail.attempts[0].result, "final");
}

#[tokio::test]
async fn the_history_is_told_page_by_page() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);

    let whole = t.get("alice", &format!("/v1/operations/{id}/events")).await;
    let whole: Page<EventView> = serde_json::from_value(whole.ok(200).clone()).unwrap();
    let names: Vec<_> = whole.items.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["proposed", "approved", "execution_started", "succeeded"]);
    assert_eq!(whole.items[3].data.as_ref().unwrap()["receipt"], json!({"note": "n1", "version": 18}));
    assert_eq!(whole.items.iter().map(|event| event.number).collect::<Vec<_>>(), [1, 2, 3, 4]);

    let mut seen = Vec::new();
    let mut cursor = String::from("0");
    loop {
        let path = format!("/v1/operations/{id}/events?limit=3&cursor={cursor}");
        let page: Page<EventView> = serde_json::from_value(t.get("alice", &path).await.body).unwrap();
        seen.extend(page.items);
        match page.next {
            Some(next) => cursor = next,
            None => break,
        }
    }
    assert_eq!(seen, whole.items);
}

#[tokio::test]
async fn runs_are_opened_shown_and_cancelled() {
    let t = Tester::start();
    let run = t.open_run().await;
    let got = t.get("agent", &format!("/v1/runs/{run}")).await;
    let view: RunView = serde_json::from_value(got.ok(200).clone()).unwrap();
    assert!(view.open);
    assert_eq!(view.tools, ["set_note.v1", "set_note_later.v1"]);

    let path = format!("/v1/runs/{run}/calls");
    let got = t.post("agent", &path, &json!({"tool": "get_note.v1", "arguments": {"id": "n1"}})).await;
    assert_eq!(got.ok(200)["data"], json!({"id": "n1", "text": "old", "version": 17}), "redacted");
    assert_eq!(got.body["classification"], "untrusted");

    let path = format!("/v1/runs/{run}/proposals");
    let waiting = text(t.post("agent", &path, &proposal("set_note.v1", "new")).await.ok(201), "id");
    let got = t.post("agent", &format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!((got.ok(200)["open"].clone(), got.body["end"].clone()), (json!(false), json!("cancelled")));
    assert_eq!(t.get("agent", &format!("/v1/operations/{waiting}")).await.ok(200)["state"], "cancelled");
    t.post("agent", &path, &proposal("set_note.v1", "x")).await.problem(504, "DEADLINE_EXCEEDED");
}

#[tokio::test]
async fn a_wait_ends_when_more_events_are_known() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note_later.v1").await;
    let path = format!("/v1/operations/{id}?wait=20s&after=1");
    let (waited, _) = tokio::join!(t.get("agent", &path), async {
        tokio::task::yield_now().await;
        t.post("alice", &format!("/v1/operations/{id}/approve"), &json!({"digest": digest})).await.ok(200);
    });
    assert_eq!(waited.ok(200)["state"], "approved");
    assert_eq!(waited.body["events"], 2);
    // What is known to be short is answered at once, whatever the wait.
    let at_once = t.get("agent", &format!("/v1/operations/{id}?wait=20s&after=1")).await;
    assert_eq!(at_once.ok(200)["events"], 2);
}

#[tokio::test]
async fn a_wait_of_nothing_answers_what_is_there() {
    let t = Tester::start();
    let (id, _) = t.propose("set_note.v1").await;
    let got = t.get("agent", &format!("/v1/operations/{id}?wait=0s")).await;
    let view: OperationView = serde_json::from_value(got.ok(200).clone()).unwrap();
    assert_eq!(view.state, State::Proposed);
}

#[tokio::test]
async fn a_stop_answers_long_polls_early() {
    let t = Tester::start();
    let (id, _) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}?wait=20s");
    let (got, ()) = tokio::join!(t.get("agent", &path), async {
        tokio::task::yield_now().await;
        t.api.stop();
    });
    assert_eq!(got.ok(200)["state"], "proposed");
}

//! Lists: pages of operations, the inbox, the catalog.

use serde_json::json;

use super::{MALLORY, Tester, proposal, text};
use crate::api::wire::{CatalogView, ContractView, InboxView, OperationView, Page};
use crate::domain::Millis;

async fn page(t: &Tester, query: &str) -> Page<OperationView> {
    let got = t.get("alice", &format!("/v1/operations{query}")).await;
    serde_json::from_value(got.ok(200).clone()).unwrap()
}

#[tokio::test]
async fn pages_show_every_operation_once_newest_first() {
    let t = Tester::start();
    let run = t.open_run().await;
    let mut made = Vec::new();
    for number in 0..7 {
        let body = proposal("set_note.v1", &format!("text {number}"));
        let got = t.post("agent", &format!("/v1/runs/{run}/proposals"), &body).await;
        made.push(text(got.ok(201), "id"));
    }
    for id in &made[..3] {
        t.post("agent", &format!("/v1/operations/{id}/cancel"), &json!({})).await.ok(200);
    }
    made.reverse();
    for query in ["", "&state=proposed&state=cancelled", "&state=cancelled,proposed"] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = page(&t, &format!("?limit=2{query}{cursor}")).await;
            assert!(page.items.len() <= 2);
            seen.extend(page.items.iter().map(|operation| operation.id.to_string()));
            match page.next {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, made, "{query}");
    }
    let cancelled = page(&t, "?state=cancelled").await;
    assert_eq!(cancelled.items.len(), 3);
    // Another agent of the tenant sees none of it, an approver all.
    let got = t.send(MALLORY, Tester::request("GET", "/v1/operations", "", None)).await;
    assert_eq!(got.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn lists_carry_no_receipts() {
    let t = Tester::start();
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);
    let page = page(&t, "?state=succeeded").await;
    let outcome = page.items[0].outcome.as_ref().unwrap();
    assert_eq!((outcome.receipt.as_ref(), outcome.new_version.as_ref()), (None, Some(&json!(18))));
}

#[tokio::test]
async fn the_inbox_has_two_queues_and_says_whose_turn_it_is() {
    let t = Tester::start();
    let unknown = t.unknown().await;
    t.world.service.put("n1", 17, "old");
    let (proposed, _) = t.propose("set_note.v1").await;
    let inbox = async |name: &str| -> InboxView {
        serde_json::from_value(t.get(name, "/v1/inbox").await.ok(200).clone()).unwrap()
    };
    let alices = inbox("alice").await;
    assert_eq!((alices.approvals_total, alices.unknown_total), (1, 1));
    assert_eq!(alices.approvals[0].operation.id.to_string(), proposed);
    assert!(alices.approvals[0].yours && !alices.unknown[0].yours);
    let oscars = inbox("oscar").await;
    assert_eq!(oscars.unknown[0].operation.id.to_string(), unknown);
    assert!(!oscars.approvals[0].yours && oscars.unknown[0].yours && !oscars.unknown[0].paused);
    assert_eq!(oscars.approvals[0].why_not.as_deref(), Some("this needs the role `approver`"));
    // After the escalation time it is paused, and stands first.
    t.world.clock.forward(Millis::secs(1000));
    let path = format!("/v1/operations/{unknown}?wait=20s&after=4");
    assert!(t.get("oscar", &path).await.ok(200)["doubt"]["paused"].is_string());
    let oscars = inbox("oscar").await;
    assert!(oscars.unknown[0].paused && oscars.unknown[0].operation.needs_operator);
}

#[tokio::test]
async fn the_catalog_is_shown() {
    let t = Tester::start();
    let catalog: CatalogView =
        serde_json::from_value(t.get("alice", "/v1/catalog").await.ok(200).clone()).unwrap();
    assert_eq!(
        catalog.tools,
        [
            "draft_note.v1",
            "get_note.v1",
            "set_note.v1",
            "set_note_again.v1",
            "set_note_brief.v1",
            "set_note_brief_again.v1",
            "set_note_later.v1",
            "set_note_looked_at.v1",
            "set_note_read.v1",
            "set_note_read_later.v1"
        ]
    );
    let contracts: Page<ContractView> =
        serde_json::from_value(t.get("alice", "/v1/contracts").await.ok(200).clone()).unwrap();
    let classes: Vec<_> = contracts.items.iter().map(|contract| contract.class.as_str()).collect();
    assert_eq!((&classes[..2], &classes[2..]), (&["draft", "read"][..], &["write"; 8][..]));
}

//! The facilities service itself, driven as a process: it is the judge of the other tests, so it is tested first.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use super::{CASE, Desk, draft_body, refused, service, work_order_of};

/// How long a version of a draft lives.
const DAY: Duration = Duration::from_secs(24 * 3600);

#[test]
fn a_work_order_goes_from_its_draft_to_its_cancellation() {
    let sandbox = service();
    let desk = Desk::of(&sandbox);
    let asset = desk.get("assets/AHU-3F-02");
    assert_eq!((asset.status, asset.header("etag")), (200, Some("\"184\"")));
    assert_eq!(asset.json()["open_cases"][0]["case_id"], CASE);
    let drafted = desk.draft_under("k1");
    assert_eq!(drafted.status, 201);
    let (id, drafted) = (work_order_of(&drafted.json()), drafted.json());
    assert_eq!((&drafted["state"], &drafted["version"]), (&json!("draft"), &json!(1)));
    assert_eq!(
        (&drafted["receipt"]["key"], &drafted["receipt"]["operation_id"]),
        (&json!("k1"), &json!("op_desk"))
    );
    let edited = desk.edit(&id, 1, "k2", "Fire damper is closed.");
    assert_eq!(edited.json()["changed_fields"], json!(["summary"]));
    assert_eq!((&edited.json()["previous_version"], &edited.json()["new_version"]), (&json!(1), &json!(2)));
    let submitted = desk.submit(&id, 2, "k3");
    assert_eq!((submitted.status, &submitted.json()["state"]), (201, &json!("submitted")));
    assert_eq!(desk.get("assets/AHU-3F-02").json()["open_cases"], json!([]), "somebody works on it now");
    refused(&desk.edit(&id, 3, "k4", "Too late."), 409, "NOT_A_DRAFT");
    refused(&desk.draft_under("k5"), 409, "CASE_HAS_ORDER");
    let told = format!("work-orders/{id}/notifications");
    let note = desk.write("POST", &told, 3, "k6", &json!({"contractor_id": "CTR-NORDKYL"}));
    assert_eq!((note.status, &note.json()["contractor_name"]), (201, &json!("Nordkyl AB")));
    let elevators = desk.write("POST", &told, 3, "k7", &json!({"contractor_id": "CTR-LYFTEN"}));
    refused(&elevators, 422, "UNKNOWN_CONTRACTOR");
    let path = format!("work-orders/{id}/cancellation");
    let cancelled = desk.write("POST", &path, 3, "k8", &json!({"reason": "already_fixed"}));
    assert_eq!((cancelled.status, &cancelled.json()["new_version"]), (200, &json!(4)));
    refused(
        &desk.write("POST", &told, 4, "k9", &json!({"contractor_id": "CTR-NORDKYL"})),
        409,
        "NOT_SUBMITTED",
    );
    assert_eq!((&desk.order(&id)["state"], &desk.order(&id)["version"]), (&json!("cancelled"), &json!(4)));
    let effects = sandbox.effects();
    assert_eq!(effects["total"], 5);
    for kind in ["edit", "order", "cancellation", "notification"] {
        assert_eq!(sandbox.effects_of(&format!("{kind}:{id}")), 1, "{kind}");
    }
    assert_eq!(sandbox.effects_of("draft:HTL-084/AHU-3F-02"), 1);
}

#[test]
fn the_same_key_gives_the_stored_answer_and_another_body_is_refused() {
    let mut sandbox = service();
    let first = Desk::of(&sandbox).draft_under("k");
    let again = Desk::of(&sandbox).draft_under("k");
    assert_eq!(
        (again.status, &again.body, again.header("idempotent-replayed")),
        (201, &first.body, Some("true"))
    );
    let desk = Desk::of(&sandbox);
    let path = "assets/AHU-3F-02/work-orders";
    refused(&desk.write("POST", path, 184, "k", &draft_body("low")), 422, "KEY_REUSED");
    refused(
        &desk.write("POST", "assets/ELV-01/work-orders", 52, "k", &draft_body("high")),
        422,
        "KEY_REUSED",
    );
    // A refusal for good is the key's answer; one that other facts would lift is not.
    let mut wrong = draft_body("high");
    wrong["action"] = json!("submit");
    refused(&desk.write("POST", path, 184, "bad", &wrong), 400, "INVALID_WORK_ORDER");
    refused(&desk.write("POST", path, 183, "stale", &draft_body("high")), 409, "STALE");
    assert_eq!(desk.get_raw("/operations/bad").json()["status"], "failed");
    refused(&desk.get_raw("/operations/stale"), 404, "NO_SUCH_OPERATION");
    // All of it is in the ledger, and true after a kill.
    sandbox.kill();
    sandbox.restart();
    let desk = Desk::of(&sandbox);
    assert_eq!(desk.draft_under("k").body, first.body);
    assert_eq!(desk.get_raw("/operations/k").json()["result"], first.json());
    assert_eq!(sandbox.effects()["total"], 1);
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn another_hotel_looks_like_nothing_at_all() {
    let sandbox = service();
    let (desk, other) = (Desk::of(&sandbox), Desk::of_the_other(&sandbox));
    let id = desk.drafted();
    let strange = desk.get_raw("/hotels/HTL-117/assets/AHU-3F-02");
    let unknown = desk.get("assets/AHU-3F-03");
    refused(&strange, 404, "NO_SUCH_ASSET");
    assert_eq!(strange.body, unknown.body, "nobody learns that it exists");
    assert_eq!(strange.json()["needs"], "person");
    assert_eq!(other.get("assets/AHU-3F-02").json()["version"], 61, "it does exist");
    refused(&other.submit(&id, 1, "k"), 404, "NO_SUCH_WORK_ORDER");
    refused(&other.get(&format!("assets/AHU-3F-02?work_order_id={id}")), 404, "NO_SUCH_WORK_ORDER");
    // Nor what became of a key.
    assert_eq!(desk.submit(&id, 1, "mine").status, 201);
    assert_eq!(desk.get_raw("/operations/mine").status, 200);
    refused(&other.get_raw("/operations/mine"), 404, "NO_SUCH_OPERATION");
    // Without a credential there is nothing, not even that.
    for path in ["/hotels/HTL-084/assets/AHU-3F-02", "/operations/mine"] {
        refused(&sandbox.get(path), 401, "NOT_AUTHENTICATED");
    }
    let wrong = [("authorization", "Bearer sandbox-htl-08")];
    let answer = sandbox.request("GET", "/hotels/HTL-084/assets/AHU-3F-02", &wrong, b"").answer();
    refused(&answer, 401, "NOT_AUTHENTICATED");
    let file = std::fs::read_to_string(sandbox.ledger_path()).expect("the ledger");
    assert!(!file.contains("sandbox-htl-084"), "a credential stands in the ledger");
}

#[test]
fn a_draft_that_nobody_submits_ends_by_itself() {
    let sandbox = service();
    let desk = Desk::of(&sandbox);
    let id = desk.drafted();
    sandbox.forward(DAY - Duration::from_secs(3600));
    assert_eq!(desk.edit(&id, 1, "e", "Each version has its own day.").status, 200);
    sandbox.forward(DAY - Duration::from_secs(3600));
    assert_eq!(desk.order(&id)["state"], "draft");
    sandbox.forward(Duration::from_secs(3600));
    assert_eq!(desk.order(&id)["state"], "expired");
    refused(&desk.submit(&id, 2, "s"), 409, "DRAFT_EXPIRED");
    refused(&desk.edit(&id, 2, "f", "Too late."), 409, "DRAFT_EXPIRED");
    assert_eq!(sandbox.effects_of(&format!("order:{id}")), 0);
    // What was submitted in time does not expire.
    let id = desk.drafted();
    assert_eq!(desk.submit(&id, 1, "t").status, 201);
    sandbox.forward(DAY * 3);
    assert_eq!(desk.order(&id)["state"], "submitted");
}

#[test]
fn the_priority_is_the_services_own_and_a_late_edit_is_refused() {
    let sandbox = service();
    let desk = Desk::of(&sandbox);
    let path = "assets/AHU-3F-02/work-orders";
    let mut priorities = BTreeSet::new();
    for claim in ["low", "normal", "high", "emergency"] {
        let drafted = desk.write("POST", path, 184, claim, &draft_body(claim)).json();
        priorities.insert(drafted["priority"].as_str().expect("a priority").to_owned());
        assert_eq!(desk.order(&work_order_of(&drafted))["urgency_claim"], claim, "it is kept, as a claim");
    }
    assert_eq!(priorities, BTreeSet::from(["P2".to_owned()]), "a claim moves nothing");
    let id = desk.drafted();
    assert_eq!(desk.edit(&id, 1, "first", "Damper closed.").status, 200);
    let late = desk.edit(&id, 1, "second", "Belt broken.");
    refused(&late, 409, "STALE");
    assert_eq!(late.json()["current_version"], 2);
    assert_eq!(desk.order(&id)["summary"], "Damper closed.");
    assert_eq!(sandbox.bump("HTL-084/AHU-3F-02"), 185);
    refused(&desk.draft_under("old facts"), 409, "STALE");
}

#[test]
fn what_does_not_fit_the_asset_is_refused() {
    let sandbox = service();
    let desk = Desk::of(&sandbox);
    let draft = |key: &str, member: &str, value: Value| {
        let mut body = draft_body("high");
        body[member] = value;
        desk.write("POST", "assets/AHU-3F-02/work-orders", 184, key, &body)
    };
    refused(&draft("a", "case_id", json!("FAC-2026-0718-0007")), 422, "CASE_MISMATCH");
    refused(&draft("b", "sop_id", json!("SOP-ELV-002")), 422, "UNKNOWN_PROCEDURE");
    refused(&draft("c", "summary", json!(" \n")), 400, "INVALID_WORK_ORDER");
    refused(&draft("d", "symptom", json!("haunted")), 400, "INVALID_WORK_ORDER");
    for path in ["assets/ahu-3f-02", "assets/AHU-3F", "assets/AHU"] {
        refused(&desk.get(path), 404, "NO_SUCH_ASSET");
    }
    refused(&desk.get("assets/AHU-3F-02?limit=1"), 400, "INVALID_QUERY");
    let found = desk.get("procedures?equipment=air_handling&text=damper+noise").json();
    let ids: Vec<&Value> =
        found["procedures"].as_array().expect("a list").iter().map(|one| &one["sop_id"]).collect();
    assert_eq!(ids, ["SOP-AHU-011", "SOP-AHU-014"]);
    assert_eq!(sandbox.effects()["total"], 0);
}

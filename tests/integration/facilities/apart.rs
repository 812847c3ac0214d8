//! What is kept apart: hotels, the agent's tools from the workflow's, and the outcomes of two writes.

use serde_json::{Value, json};

use super::{CANCEL, CREATE, Desk, House, NOTIFY, SUBMIT, UPDATE, order_args, with};
use crate::support::socket::{Reply, Trouble, code_of};

/// A refusal without what differs from one to the next.
fn words(reply: &Reply) -> Value {
    let Err(Trouble::Refused(status, problem)) = reply else { panic!("not refused: {reply:?}") };
    json!([status, problem["code"], problem["title"], problem["detail"], problem["effect"]])
}

#[test]
fn the_other_hotels_asset_of_the_same_name_is_refused_at_the_read() {
    let house = House::open();
    let run = house.workflow_run();
    let read = |hotel: &str, asset: &str| {
        house.workflow.call(&run, "get_asset.v1", &json!({"hotel_id": hotel, "asset_id": asset}))
    };
    let other = read("HTL-117", "AHU-3F-02");
    assert_eq!(code_of(&other), "NOT_FOUND");
    assert_eq!(words(&other), words(&read("HTL-084", "AHU-9Z-99")), "nobody learns that it exists");
    // Nor is a write to it ever proposed: its preview is that read.
    let order = {
        let desk = Desk::of_the_other(&house.sandbox);
        let body = json!({
            "case_id": "FAC-2026-0719-0043", "symptom": "wrong_temperature", "summary": "Too warm.",
            "urgency_claim": "low", "sop_id": "SOP-AHU-014",
        });
        super::work_order_of(&desk.write("POST", "assets/AHU-3F-02/work-orders", 61, "k", &body).json())
    };
    for hotel in ["HTL-117", "HTL-084"] {
        let arguments = json!({"hotel_id": hotel, "asset_id": "AHU-3F-02", "work_order_id": order});
        let refused = house.propose(&house.workflow, &run, SUBMIT, &arguments, 1);
        assert_eq!(code_of(&refused), "NOT_FOUND", "{hotel}");
    }
    assert_eq!(house.workflow.operations("").expect("a list").len(), 0);
    assert_eq!(house.sandbox.writes().len(), 1, "only the desk of the other hotel has written");
    assert_eq!(house.sandbox.effects_of(&format!("order:{order}")), 0);
}

#[test]
fn an_agents_run_without_submit_and_notify_proposes_neither() {
    let house = House::open();
    let id = house.desk().drafted();
    // Its tools are what it was opened with, whatever it is told later.
    let run = house.agent_run();
    for (tool, arguments) in
        [(SUBMIT, order_args(&id)), (NOTIFY, with(order_args(&id), "contractor_id", "CTR-NORDKYL"))]
    {
        let refused = house.propose(&house.agent, &run, tool, &arguments, 1);
        assert_eq!(code_of(&refused), "PERMISSION_DENIED", "{tool}");
    }
    // The workflow's run is no way either.
    let other = house.workflow_run();
    let refused = house.propose(&house.agent, &other, SUBMIT, &order_args(&id), 1);
    assert_eq!(code_of(&refused), "NOT_FOUND");
    assert_eq!(house.sandbox.writes().len(), 1, "only the desk has written");
    assert_eq!(house.alice.operations("").expect("a list").len(), 0);
}

#[test]
fn submitted_and_not_told_is_shown_as_exactly_that() {
    let house = House::open();
    let (id, run) = (house.desk().drafted(), house.workflow_run());
    assert_eq!(house.done(&run, SUBMIT, &order_args(&id), 1)["state"], "succeeded");
    // The contractor for elevators does not come for the air.
    let told = house.done(&run, NOTIFY, &with(order_args(&id), "contractor_id", "CTR-LYFTEN"), 2);
    assert_eq!(
        (&told["state"], &told["effect"], &told["outcome"]["code"]),
        (&json!("failed"), &json!("none"), &json!("PRECONDITION_FAILED")),
        "{told:#}"
    );
    let mut shown: Vec<Value> = house
        .alice
        .operations("")
        .expect("a list")
        .iter()
        .map(|operation| json!([operation["tool"], operation["state"], operation["effect"]]))
        .collect();
    shown.reverse();
    assert_eq!(
        json!(shown),
        json!([["submit_work_order", "succeeded", "applied"], ["notify_contractor", "failed", "none"],])
    );
    assert_eq!(house.sandbox.effects_of(&format!("order:{id}")), 1);
    assert_eq!(house.sandbox.effects_of(&format!("notification:{id}")), 0);
    assert_eq!(house.desk().order(&id)["state"], "submitted", "and it stays submitted");
}

#[test]
fn the_lock_gives_the_agent_drafts_and_the_workflow_what_is_executed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/workflows/catalog.lock");
    let lock = std::fs::read_to_string(path).expect("the lock");
    let (agent, workflow) = lock.split_once("\nworkflow:\n").expect("two roles");
    for tool in [SUBMIT, CANCEL, NOTIFY] {
        let line = format!("  {}:\n", tool.trim_end_matches(".v1"));
        assert!(workflow.contains(&line) && !agent.contains(&line), "{tool}");
    }
    for tool in [CREATE, UPDATE] {
        let line = format!("  {}:\n", tool.trim_end_matches(".v1"));
        assert!(agent.contains(&line) && !workflow.contains(&line), "{tool}");
    }
}

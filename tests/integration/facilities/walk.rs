//! The way of a work order through open runs: read, approved, submitted, told.

use serde_json::json;

use super::{CANCEL, CASE, Desk, House, NOTIFY, SUBMIT, order_args, with};
use crate::support::socket::{code_of, id_of};

#[test]
fn from_a_fault_report_to_a_submitted_order_and_a_told_contractor() {
    let house = House::open();
    // The agent reads what it needs; how to get into the plant room is not for it.
    let run = id_of(&house.agent.open_run(&[SUBMIT]).expect("a run"));
    let asset_args = json!({"hotel_id": "HTL-084", "asset_id": "AHU-3F-02"});
    let asset = house.agent.call(&run, "get_asset.v1", &asset_args).expect("an asset");
    assert_eq!((&asset["data"]["version"], &asset["classification"]), (&json!(184), &json!("untrusted")));
    assert_eq!(asset["data"]["open_cases"][0]["case_id"], CASE);
    assert!(asset["data"].get("access_notes").is_none(), "{asset}");
    let history = house.agent.call(&run, "get_maintenance_history.v1", &asset_args).expect("a history");
    assert_eq!(history["data"]["entries"].as_array().map(Vec::len), Some(3));
    let search = json!({"hotel_id": "HTL-084", "equipment": "air_handling", "text": "no air flow"});
    let found = house.agent.call(&run, "search_sop.v1", &search).expect("procedures");
    assert_eq!(found["data"]["procedures"][0]["sop_id"], "SOP-AHU-011");
    assert_eq!(house.sandbox.writes().len(), 0, "reads write nothing");

    let id = house.desk().drafted();
    let run = house.workflow_run();
    let proposed = house.propose(&house.workflow, &run, SUBMIT, &order_args(&id), 1).expect("a proposal");
    let operation = id_of(&proposed);
    let shown = house.alice.operation(&operation).expect("an operation");
    let change = json!([{"pointer": "/work_order/state", "before": "draft", "after": "submitted"}]);
    assert_eq!(shown["changes"], change, "{shown:#}");
    assert_eq!(shown["consequences"]["priority"], "P2");
    assert_eq!(shown["consequences"]["urgency_claim"], "high");
    assert_eq!(house.sandbox.effects_of(&format!("order:{id}")), 0, "nobody has approved");
    house.alice.approve(&operation).expect("an approval");
    let submitted = house.workflow.wait_state(&operation, &["succeeded"]);
    assert_eq!((&submitted["effect"], &submitted["outcome"]["new_version"]), (&json!("applied"), &json!(2)));

    let told = house.done(&run, NOTIFY, &with(order_args(&id), "contractor_id", "CTR-NORDKYL"), 2);
    assert_eq!((&told["state"], &told["effect"]), (&json!("succeeded"), &json!("applied")), "{told:#}");

    assert_eq!(house.desk().order(&id)["state"], "submitted");
    let effects: Vec<_> =
        house.sandbox.ledger().into_iter().filter(|record| record["type"] == "effect").collect();
    let objects: Vec<_> = effects.iter().map(|effect| effect["object"].clone()).collect();
    assert_eq!(
        objects,
        [json!("draft:HTL-084/AHU-3F-02"), json!(format!("order:{id}")), json!(format!("notification:{id}"))]
    );
    for effect in &effects[1..] {
        assert_eq!((&effect["requested_by"], &effect["run_id"]), (&json!("workflow"), &json!(run)));
    }
    assert_eq!(effects[1]["operation_id"], operation);
    house.sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn a_submitted_order_is_cancelled_by_a_write_of_its_own() {
    let house = House::open();
    let (id, run) = (house.desk().drafted(), house.workflow_run());
    // An order that is still a draft has nothing to cancel.
    let early = house.done(&run, CANCEL, &with(order_args(&id), "reason", "duplicate"), 1);
    assert_eq!(
        (&early["state"], &early["effect"], &early["outcome"]["code"]),
        (&json!("failed"), &json!("none"), &json!("PRECONDITION_FAILED"))
    );
    assert_eq!(house.done(&run, SUBMIT, &order_args(&id), 1)["state"], "succeeded");
    let cancelled = house.done(&run, CANCEL, &with(order_args(&id), "reason", "compensation"), 2);
    assert_eq!((&cancelled["state"], &cancelled["outcome"]["new_version"]), (&json!("succeeded"), &json!(3)));
    assert_eq!(house.desk().order(&id)["state"], "cancelled");
    // Nobody is told of an order that was cancelled: the version says so before anything is proposed.
    let contractor = with(order_args(&id), "contractor_id", "CTR-NORDKYL");
    let late = house.propose(&house.workflow, &run, NOTIFY, &contractor, 2);
    assert_eq!(code_of(&late), "VERSION_CONFLICT");
    assert_eq!(house.sandbox.effects_of(&format!("notification:{id}")), 0);
}

#[test]
fn a_draft_that_was_changed_after_the_approval_is_not_submitted() {
    let house = House::open();
    let (id, run) = (house.desk().drafted(), house.workflow_run());
    house.sandbox.fault(json!({"fault": "version_bump", "match": {"id": id}}));
    let overtaken = house.done(&run, SUBMIT, &order_args(&id), 1);
    assert_eq!(
        (&overtaken["state"], &overtaken["effect"], &overtaken["outcome"]["code"]),
        (&json!("failed"), &json!("none"), &json!("VERSION_CONFLICT")),
        "{overtaken:#}"
    );
    assert_eq!(overtaken["outcome"]["current_version"], 2);
    assert_eq!(house.sandbox.effects_of(&format!("order:{id}")), 0);
    assert_eq!(Desk::of(&house.sandbox).order(&id)["state"], "draft");
}

#[test]
fn a_draft_that_expired_is_not_submitted() {
    let house = House::open();
    let (id, run) = (house.desk().drafted(), house.workflow_run());
    house.sandbox.forward(std::time::Duration::from_secs(24 * 3600));
    let expired = house.done(&run, SUBMIT, &order_args(&id), 1);
    assert_eq!(
        (&expired["state"], &expired["effect"], &expired["outcome"]["code"]),
        (&json!("failed"), &json!("none"), &json!("PRECONDITION_FAILED")),
        "{expired:#}"
    );
    assert_eq!(house.sandbox.effects_of(&format!("order:{id}")), 0);
    assert_eq!(house.desk().order(&id)["state"], "expired");
}

#[test]
fn a_lost_answer_of_a_submission_is_settled_by_its_key() {
    let house = House::open();
    let (id, run) = (house.desk().drafted(), house.workflow_run());
    house.sandbox.fault(json!({"fault": "apply_then_drop", "match": {"id": id}}));
    house.sandbox.fault(json!({"fault": "status_down", "times": null}));
    let proposed = house.propose(&house.workflow, &run, SUBMIT, &order_args(&id), 1).expect("a proposal");
    let operation = id_of(&proposed);
    house.alice.approve(&operation).expect("an approval");
    let lost = house.workflow.wait_state(&operation, &["unknown"]);
    assert_eq!(lost["effect"], "unknown");
    // While nobody knows, nothing else is done to the order.
    let contractor = with(order_args(&id), "contractor_id", "CTR-NORDKYL");
    let waiting = house.propose(&house.workflow, &run, NOTIFY, &contractor, 2).expect("a proposal");
    house.alice.approve(&id_of(&waiting)).expect("an approval");
    assert_eq!(house.sandbox.effects_of(&format!("notification:{id}")), 0);
    house.sandbox.clear_faults();
    let settled = house.workflow.wait_state(&operation, &["succeeded"]);
    assert_eq!((&settled["effect"], &settled["outcome"]["new_version"]), (&json!("applied"), &json!(2)));
    assert_eq!(settled["attempts"].as_array().map(Vec::len), Some(1));
    let sent: Vec<_> = house
        .sandbox
        .writes()
        .into_iter()
        .filter(|write| write["path"] == format!("/hotels/HTL-084/work-orders/{id}/submission"))
        .collect();
    assert_eq!((sent.len(), house.sandbox.effects_of(&format!("order:{id}"))), (1, 1));
    house.workflow.wait_state(&id_of(&waiting), &["succeeded"]);
    house.sandbox.assert_at_most_one_effect_per_key();
}

//! Drafts: nobody decides about them, they reach nobody, and they end by themselves. Everything else of a write holds.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    CREATE, House, NOTIFY, PEOPLE, SUBMIT, TOKEN, UPDATE, draft_args, order_args, service, settled,
    update_args, with, work_order_of,
};
use crate::support::{
    daemon::Setup,
    socket::{Trouble, code_of, id_of},
};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The work order that a draft has made.
#[track_caller]
fn made(operation: &Value) -> String {
    assert_eq!(
        (&operation["state"], &operation["effect"]),
        (&json!("succeeded"), &json!("applied")),
        "{operation:#}"
    );
    work_order_of(&operation["outcome"]["receipt"])
}

#[test]
fn the_whole_walk_from_the_agents_draft_to_the_told_contractor() {
    let house = House::open();
    let run = house.agent_run();
    let asset = json!({"hotel_id": "HTL-084", "asset_id": "AHU-3F-02"});
    let seen = house.agent.call(&run, "get_asset.v1", &asset).expect("an asset");
    let version = seen["data"]["version"].as_u64().expect("a version");
    let drafted = house.drafted(&run, CREATE, &draft_args("emergency"), version);
    let id = made(&drafted);
    assert_eq!((&drafted["approvals_needed"], &drafted["approvals"]), (&json!(0), &json!(0)));
    let by = drafted["decisions"][0]["by"]["name"].as_str().expect("the table that allows it");
    assert!(by.starts_with("policy:") && drafted["policy"]["matched"][0]["says"] == "allow", "{drafted:#}");
    assert_eq!(drafted["outcome"]["receipt"]["priority"], "P2", "the claim moves nothing");
    assert_eq!(drafted["result"]["expires_at"], drafted["outcome"]["receipt"]["expires_at"]);
    assert!(drafted["result"]["expires_at"].is_string(), "{drafted:#}");
    let edited = house.drafted(&run, UPDATE, &update_args(&id, "The fire damper is closed."), 1);
    assert_eq!(made(&edited), id);
    assert_eq!(edited["result"]["changed_fields"], json!(["summary", "urgency_claim"]));

    // What the agent has drafted reaches somebody only through the workflow, and a person.
    let order = format!("order:{id}");
    assert_eq!(house.sandbox.effects_of(&order), 0);
    let run = house.workflow_run();
    let submitted = house.done(&run, SUBMIT, &order_args(&id), 2);
    assert_eq!((&submitted["state"], &submitted["outcome"]["new_version"]), (&json!("succeeded"), &json!(3)));
    assert_eq!(submitted["consequences"]["summary"], "The fire damper is closed.");
    let told = house.done(&run, NOTIFY, &with(order_args(&id), "contractor_id", "CTR-NORDKYL"), 3);
    assert_eq!(told["state"], "succeeded", "{told:#}");
    let effects: Vec<_> =
        house.sandbox.ledger().into_iter().filter(|record| record["type"] == "effect").collect();
    let by: Vec<_> = effects.iter().map(|effect| json!([effect["object"], effect["requested_by"]])).collect();
    assert_eq!(
        json!(by),
        json!([
            ["draft:HTL-084/AHU-3F-02", "agent"],
            [format!("edit:{id}"), "agent"],
            [order, "workflow"],
            [format!("notification:{id}"), "workflow"],
        ])
    );
    house.sandbox.assert_at_most_one_effect_per_key();
    // At the most talkative level, the log has no word of what was written, and nothing of the credential.
    let log = house.daemon.log();
    assert!(log.contains("ready"), "it does say something");
    for word in [TOKEN, "vents", "damper", "emergency", "Nordkyl"] {
        assert!(!log.contains(word), "`{word}` stands in the log");
    }
}

#[test]
fn what_the_service_refuses_is_a_declared_failure() {
    let house = House::open();
    let (run, workflow) = (house.agent_run(), house.workflow_run());
    let [id, twin] = [(); 2].map(|()| house.desk().drafted());
    assert_eq!(house.done(&workflow, SUBMIT, &order_args(&id), 1)["state"], "succeeded");
    let args = draft_args("high");
    let of_another = with(args.clone(), "case_id", "FAC-2026-0718-0007");
    let for_elevators = with(args.clone(), "sop_id", "SOP-ELV-002");
    for (ended, code) in [
        (house.drafted(&run, CREATE, &of_another, 184), "PRECONDITION_FAILED"),
        (house.drafted(&run, CREATE, &args, 184), "CONFLICT"),
        (house.drafted(&run, CREATE, &for_elevators, 184), "CONFLICT"),
        (
            house.drafted(&run, UPDATE, &with(update_args(&twin, "x"), "sop_id", "SOP-ELV-002"), 1),
            "PRECONDITION_FAILED",
        ),
        (house.drafted(&run, UPDATE, &update_args(&id, "Too late."), 2), "CONFLICT"),
        (house.done(&workflow, SUBMIT, &order_args(&id), 2), "CONFLICT"),
        (house.done(&workflow, SUBMIT, &order_args(&twin), 1), "CONFLICT"),
    ] {
        assert_eq!(
            (&ended["state"], &ended["effect"], &ended["outcome"]["code"]),
            (&json!("failed"), &json!("none"), &json!(code)),
            "{ended:#}"
        );
    }
    assert_eq!(house.sandbox.effects()["total"], 3, "two drafts and one submission");
}

#[test]
fn a_credential_that_is_not_known_reaches_nothing() {
    let sandbox = service();
    let daemon = Setup::facilities(&sandbox, "sandbox-htl-000").append(PEOPLE).start();
    let agent = daemon.client("agent");
    let run = id_of(&agent.open_run(&[CREATE]).expect("a run"));
    let asset = json!({"hotel_id": "HTL-084", "asset_id": "AHU-3F-02"});
    assert_eq!(code_of(&agent.call(&run, "get_asset.v1", &asset)), "PERMISSION_DENIED");
    let body = json!({
        "tool": CREATE, "arguments": draft_args("high"), "based_on": 184, "purpose": "a fault was reported",
    });
    assert_eq!(code_of(&agent.propose(&run, "k", &body)), "PERMISSION_DENIED");
    assert_eq!(sandbox.writes().len(), 0);
}

#[test]
fn a_late_update_is_refused_with_the_current_version() {
    let house = House::open();
    let (run, id) = (house.agent_run(), house.desk().drafted());
    assert_eq!(house.desk().edit(&id, 1, "desk", "The damper is closed.").status, 200);
    // Before anything is sent: the preview sees another version than the agent has read.
    let late = house.propose(&house.agent, &run, UPDATE, &update_args(&id, "Belt broken."), 1);
    let Err(Trouble::Refused(_, problem)) = &late else { panic!("not refused: {late:?}") };
    assert_eq!(
        (&problem["code"], &problem["pointer"], &problem["current_version"]),
        (&json!("VERSION_CONFLICT"), &json!("/based_on"), &json!(2))
    );
    assert_eq!(house.sandbox.effects_of(&format!("edit:{id}")), 1);
    // In the moment between the preview and the write: the service compares, and refuses.
    house.sandbox.fault(json!({"fault": "version_bump", "match": {"id": id}}));
    let overtaken = house.drafted(&run, UPDATE, &update_args(&id, "Belt broken."), 2);
    assert_eq!(
        (&overtaken["state"], &overtaken["effect"], &overtaken["outcome"]["code"]),
        (&json!("failed"), &json!("none"), &json!("VERSION_CONFLICT")),
        "{overtaken:#}"
    );
    assert_eq!(overtaken["outcome"]["current_version"], 3);
    assert_eq!(house.sandbox.effects_of(&format!("edit:{id}")), 1);
    assert_eq!(house.desk().order(&id)["summary"], "The damper is closed.");
    let again = house.drafted(&run, UPDATE, &update_args(&id, "Damper closed, belt broken."), 3);
    assert_eq!(again["result"]["new_version"], 4, "{again:#}");
}

#[test]
fn an_expired_draft_is_neither_updated_nor_submitted() {
    let house = House::open();
    let run = house.agent_run();
    let id = made(&house.drafted(&run, CREATE, &draft_args("low"), 184));
    house.sandbox.forward(DAY);
    let seen = house.agent.call(&run, "get_asset.v1", &order_args(&id)).expect("an asset");
    assert_eq!(seen["data"]["work_order"]["state"], "expired");
    let workflow = house.workflow_run();
    for late in [
        house.drafted(&run, UPDATE, &update_args(&id, "Once more."), 1),
        house.done(&workflow, SUBMIT, &order_args(&id), 1),
    ] {
        assert_eq!(
            (&late["state"], &late["effect"], &late["outcome"]["code"]),
            (&json!("failed"), &json!("none"), &json!("PRECONDITION_FAILED")),
            "{late:#}"
        );
    }
    for kind in ["order", "edit"] {
        assert_eq!(house.sandbox.effects_of(&format!("{kind}:{id}")), 0);
    }
    assert_eq!(house.desk().order(&id)["state"], "expired");
}

#[test]
fn a_lost_answer_of_a_draft_is_settled_by_its_key() {
    let house = House::open();
    let run = house.agent_run();
    house.sandbox.fault(json!({"fault": "apply_then_drop"}));
    let body = json!({
        "tool": CREATE, "arguments": draft_args("high"), "based_on": 184, "purpose": "a fault was reported",
    });
    let proposed = house.agent.propose(&run, "the agent's key", &body).expect("a proposal");
    let id = id_of(&proposed);
    let done = house.agent.wait_until(&id, "settled", settled);
    made(&done);
    assert_eq!(done["attempts"].as_array().map(Vec::len), Some(1));
    // The agent starts again and asks for the same: it is the same draft.
    let again = house.agent.propose(&run, "the agent's key", &body).expect("the same");
    assert_eq!(id_of(&again), id);
    assert_eq!(house.sandbox.writes().len(), 1);
    assert_eq!(house.sandbox.effects_of("draft:HTL-084/AHU-3F-02"), 1);
}

#[test]
fn an_unknown_asset_needs_a_person_and_old_facts_make_no_draft() {
    let house = House::open();
    let run = house.agent_run();
    for (hotel, asset) in [("HTL-084", "AHU-3F-20"), ("HTL-117", "AHU-3F-02")] {
        let mut arguments = draft_args("high");
        arguments["hotel_id"] = json!(hotel);
        arguments["asset_id"] = json!(asset);
        let refused = house.propose(&house.agent, &run, CREATE, &arguments, 184);
        assert_eq!(code_of(&refused), "NOT_FOUND", "{hotel} {asset}");
    }
    let old = house.propose(&house.agent, &run, CREATE, &draft_args("high"), 183);
    assert_eq!(code_of(&old), "VERSION_CONFLICT");
    let reader = id_of(&house.agent.open_run(&[UPDATE]).expect("a run"));
    let without = house.propose(&house.agent, &reader, CREATE, &draft_args("high"), 184);
    assert_eq!(code_of(&without), "PERMISSION_DENIED");
    assert_eq!((house.sandbox.writes().len(), house.sandbox.effects()["total"].as_u64()), (0, Some(0)));
}

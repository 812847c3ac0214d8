//! The second system: a hotel group's maintenance. The real daemon with the shipped contracts before the real service;
//! each fact is held against the service's own ledger.
//!
//! Names: `agent` drafts and submits nothing, `workflow` submits and notifies after `alice` has approved. The desk is
//! the staff of the hotel, who speak to the service itself.

mod apart;
mod drafts;
mod service;
mod walk;

use serde_json::{Value, json};

use super::support::{
    daemon::{Daemon, Setup},
    http::Answer,
    sandbox::{FACILITIES, Sandbox},
    socket::{Client, Reply, fresh_key, id_of},
};

/// The credential of HTL-084.
const TOKEN: &str = "sandbox-htl-084";
/// The credential of the other hotel.
const OTHER_TOKEN: &str = "sandbox-htl-117";
/// The fault report of the handbook.
const CASE: &str = "FAC-2026-0719-0042";

const CREATE: &str = "create_work_order_draft.v1";
const UPDATE: &str = "update_work_order_draft.v1";
const SUBMIT: &str = "submit_work_order.v1";
const CANCEL: &str = "cancel_work_order.v1";
const NOTIFY: &str = "notify_contractor.v1";

/// Who may speak to the daemon.
const PEOPLE: &str = r#"
[[principal]]
name = "agent"
kind = "agent"
roles = ["agent"]
uids = ["self"]
default = true

[[principal]]
name = "workflow"
kind = "service"
roles = ["agent"]
uids = ["self"]

[[principal]]
name = "alice"
kind = "user"
roles = ["approver"]
uids = ["self"]

[[principal]]
name = "oscar"
kind = "operator"
roles = ["operator", "auditor"]
uids = ["self"]
"#;

/// The service, without a daemon.
fn service() -> Sandbox {
    Sandbox::start_of(FACILITIES)
}

/// A caller of the service itself, with the credential of one hotel.
struct Desk<'a> {
    sandbox: &'a Sandbox,
    hotel: &'static str,
    credential: String,
}

impl<'a> Desk<'a> {
    fn of(sandbox: &'a Sandbox) -> Self {
        Self { sandbox, hotel: "HTL-084", credential: format!("Bearer {TOKEN}") }
    }

    fn of_the_other(sandbox: &'a Sandbox) -> Self {
        Self { sandbox, hotel: "HTL-117", credential: format!("Bearer {OTHER_TOKEN}") }
    }

    /// A read below its hotel.
    fn get(&self, path: &str) -> Answer {
        self.get_raw(&format!("/hotels/{}/{path}", self.hotel))
    }

    fn get_raw(&self, path: &str) -> Answer {
        self.sandbox.request("GET", path, &[("authorization", &self.credential)], b"").answer()
    }

    /// A write below its hotel.
    fn write(&self, method: &str, path: &str, version: u64, key: &str, body: &Value) -> Answer {
        let version = format!("\"{version}\"");
        let headers = [
            ("authorization", self.credential.as_str()),
            ("idempotency-key", key),
            ("if-match", &version),
            ("x-operation-id", "op_desk"),
            ("x-requested-by", "desk"),
        ];
        let path = format!("/hotels/{}/{path}", self.hotel);
        self.sandbox.request(method, &path, &headers, body.to_string().as_bytes()).answer()
    }

    /// Drafts an order for the fault report of the handbook.
    fn draft_under(&self, key: &str) -> Answer {
        self.write("POST", "assets/AHU-3F-02/work-orders", 184, key, &draft_body("high"))
    }

    /// The same; the id of the work order.
    fn drafted(&self) -> String {
        work_order_of(&self.draft_under(&fresh_key()).json())
    }

    fn edit(&self, id: &str, version: u64, key: &str, summary: &str) -> Answer {
        let body = json!({
            "symptom": "no_airflow", "summary": summary, "urgency_claim": "high", "sop_id": "SOP-AHU-011",
        });
        self.write("PUT", &format!("work-orders/{id}"), version, key, &body)
    }

    fn submit(&self, id: &str, version: u64, key: &str) -> Answer {
        self.write("POST", &format!("work-orders/{id}/submission"), version, key, &json!({}))
    }

    /// The work order as the service has it now.
    fn order(&self, id: &str) -> Value {
        self.get(&format!("assets/AHU-3F-02?work_order_id={id}")).json()["work_order"].clone()
    }
}

/// What a draft says; only the claim differs.
fn draft_body(urgency_claim: &str) -> Value {
    json!({
        "case_id": CASE,
        "symptom": "no_airflow",
        "summary": "No air from the vents in 312 to 318 since the night.",
        "urgency_claim": urgency_claim,
        "sop_id": "SOP-AHU-011",
    })
}

fn work_order_of(answer: &Value) -> String {
    answer["work_order_id"].as_str().unwrap_or_else(|| panic!("no work order in {answer}")).to_owned()
}

/// A daemon with the credential of HTL-084, and everybody who speaks to it.
struct House {
    sandbox: Sandbox,
    daemon: Daemon,
    agent: Client,
    workflow: Client,
    alice: Client,
}

impl House {
    fn open() -> Self {
        let sandbox = service();
        let setup = Setup::facilities(&sandbox, TOKEN).append(PEOPLE);
        let daemon = setup.config("log", "level", "\"trace\"").start();
        let [agent, workflow, alice] = ["agent", "workflow", "alice"].map(|name| daemon.client(name));
        Self { sandbox, daemon, agent, workflow, alice }
    }

    fn desk(&self) -> Desk<'_> {
        Desk::of(&self.sandbox)
    }

    /// A run of the workflow with all its tools.
    fn workflow_run(&self) -> String {
        id_of(&self.workflow.open_run(&[SUBMIT, CANCEL, NOTIFY]).expect("a run"))
    }

    /// A run of the agent: drafts, and nothing that anybody executes.
    fn agent_run(&self) -> String {
        id_of(&self.agent.open_run(&[CREATE, UPDATE]).expect("a run"))
    }

    /// Proposes a draft as the agent and waits until it has ended: nobody decides about it.
    #[track_caller]
    fn drafted(&self, run: &str, tool: &str, arguments: &Value, based_on: u64) -> Value {
        let proposed = self.propose(&self.agent, run, tool, arguments, based_on).expect("a proposal");
        self.agent.wait_until(&id_of(&proposed), "settled", settled)
    }

    /// Proposes, under a key of its own.
    fn propose(&self, who: &Client, run: &str, tool: &str, arguments: &Value, based_on: u64) -> Reply {
        let body = json!({
            "tool": tool, "arguments": arguments, "based_on": based_on, "purpose": "a fault was reported",
        });
        who.propose(run, &fresh_key(), &body)
    }

    /// Proposes as the workflow, has it approved, and waits until it has ended.
    #[track_caller]
    fn done(&self, run: &str, tool: &str, arguments: &Value, based_on: u64) -> Value {
        let proposed = self.propose(&self.workflow, run, tool, arguments, based_on).expect("a proposal");
        let id = id_of(&proposed);
        self.alice.approve(&id).expect("an approval");
        self.workflow.wait_until(&id, "settled", settled)
    }
}

/// The arguments that name a work order of the air handling unit.
fn order_args(id: &str) -> Value {
    json!({"hotel_id": "HTL-084", "asset_id": "AHU-3F-02", "work_order_id": id})
}

/// The arguments of a draft for the fault report of the handbook.
fn draft_args(urgency_claim: &str) -> Value {
    let mut arguments = draft_body(urgency_claim);
    arguments["hotel_id"] = json!("HTL-084");
    arguments["asset_id"] = json!("AHU-3F-02");
    arguments
}

/// The arguments of an update of a draft.
fn update_args(id: &str, summary: &str) -> Value {
    let mut arguments = draft_args("high");
    arguments.as_object_mut().expect("an object").remove("case_id");
    arguments["work_order_id"] = json!(id);
    arguments["summary"] = json!(summary);
    arguments
}

/// Ended, and known how.
fn settled(operation: &Value) -> bool {
    !operation["outcome"].is_null() && operation["state"] != "unknown"
}

fn with(mut arguments: Value, name: &str, value: &str) -> Value {
    arguments[name] = json!(value);
    arguments
}

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)));
}

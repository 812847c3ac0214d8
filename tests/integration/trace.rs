//! One trace from the client to the service, on every hop.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::support::daemon::Setup;
use super::support::sandbox::Sandbox;
use super::support::socket::{address_change, id_of, judge};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn parts(request: &Value) -> (String, String) {
    let header = request["headers"]["traceparent"].as_str().unwrap_or_else(|| panic!("no trace: {request}"));
    let parts: Vec<&str> = header.split('-').collect();
    assert_eq!((parts.len(), parts[0], parts[3]), (4, "00", "01"), "{header}");
    (parts[1].to_owned(), parts[2].to_owned())
}

#[test]
fn a_trace_goes_from_the_client_to_the_service_on_every_hop() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let body = json!({"purpose": "moved", "tools": ["commit_address_change.v2"]}).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ];
    let opened = agent.send("POST", "/v1/runs", &headers, body.as_bytes()).expect("an answer");
    let run = id_of(&judge(opened).expect("a run"));
    agent.call(&run, "get_customer.v1", &json!({"customer_id": "C-1842"})).expect("a read");
    let id =
        id_of(&agent.propose(&run, "k", &address_change("C-1842", 17, "Kungsgatan 5")).expect("a proposal"));
    // Its answer is lost, so the status protocol is asked, too; and all of that by another process.
    sandbox.fault(json!({"fault": "apply_then_drop"}));
    daemon.restart();
    alice.approve(&id).expect("an approval");
    let done = agent.wait_state(&id, &["succeeded"]);
    assert_eq!((&done["trace_id"], &done["result"]["trace_id"]), (&json!(TRACE), &json!(TRACE)));
    let requests = sandbox.requests();
    let methods: BTreeSet<&str> = requests.iter().filter_map(|request| request["method"].as_str()).collect();
    assert_eq!(methods, BTreeSet::from(["GET", "PUT"]), "reads, the attempt and the status query");
    assert!(requests.len() >= 4, "{requests:#?}");
    let spans: BTreeSet<String> = requests
        .iter()
        .map(|request| {
            let (trace, span) = parts(request);
            assert_eq!(trace, TRACE, "{request}");
            span
        })
        .collect();
    assert_eq!(spans.len(), requests.len(), "each hop is a span of its own");
}

#[test]
fn without_a_trace_or_with_a_broken_one_a_run_has_its_own() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let agent = daemon.client("agent");
    let mut traces = BTreeSet::new();
    for given in [None, Some("00-broken-01"), Some("")] {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(given.map(|given| ("traceparent", given)));
        let body = json!({"purpose": "moved", "tools": []}).to_string();
        let opened = agent.send("POST", "/v1/runs", &headers, body.as_bytes()).expect("an answer");
        let run = id_of(&judge(opened).expect("a run"));
        agent.call(&run, "get_customer.v1", &json!({"customer_id": "C-1842"})).expect("a read");
        traces.insert(parts(sandbox.requests().last().expect("a request")).0);
    }
    assert_eq!(traces.len(), 3);
}

//! The negative suite through the real daemon: every input just outside a boundary is refused at its place, and the
//! service never hears of it.

use std::path::Path;

use serde_json::{Value, json};
use writd::contracts::{Catalog, EffectClass};
use writd::kit::offline::suite_of;

use crate::support::{
    daemon::Daemon,
    sandbox::Sandbox,
    socket::{Trouble, fresh_key, id_of},
};

#[test]
fn the_daemon_refuses_every_input_outside_a_boundary_and_sends_nothing() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let agent = daemon.client("agent");
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/customers");
    let catalog = Catalog::load(&dir).expect("the shipped contracts are clean");
    let writes: Vec<String> = catalog
        .list()
        .filter(|contract| contract.class() != EffectClass::Read)
        .map(|contract| contract.tool_ref().to_string())
        .collect();
    let run = id_of(&agent.open_run(&writes.iter().map(String::as_str).collect::<Vec<_>>()).expect("a run"));
    let mut asked = 0;
    for contract in catalog.list() {
        let tool = contract.tool_ref().to_string();
        for case in suite_of(contract).cases {
            let reply = if contract.class() == EffectClass::Read {
                agent.call(&run, &tool, &case.input)
            } else {
                let body = json!({"tool": tool, "arguments": case.input, "purpose": "the negative suite"});
                agent.propose(&run, &fresh_key(), &body)
            };
            let Err(Trouble::Refused(_, refusal)) = reply else { panic!("{case:?}: {reply:?}") };
            let place = format!("/arguments{}", case.refused_at);
            let places: Vec<&Value> =
                refusal["errors"].as_array().into_iter().flatten().map(|error| &error["pointer"]).collect();
            assert_eq!(refusal["code"], "INVALID_ARGUMENT", "{case:?}: {refusal}");
            assert!(places.iter().any(|found| **found == place.as_str()), "{case:?}: {refusal}");
            asked += 1;
        }
    }
    assert!(asked >= 38, "only {asked} inputs were tried");
    assert_eq!(sandbox.requests(), Vec::<Value>::new(), "nothing was sent");
}

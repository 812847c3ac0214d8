//! The helpers that drive a real daemon do what they say; everything below relies on them.

use serde_json::json;

use super::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Trouble, code_of, id_of},
};

#[test]
fn an_address_change_goes_from_the_proposal_to_the_receipt() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    let read = agent.call(&run, "get_customer.v1", &json!({"customer_id": "C-1842"})).expect("a read");
    assert_eq!(read["data"]["version"], 17, "{read}");
    let proposal = agent.propose_address(&run, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal");
    let id = id_of(&proposal);
    assert_eq!(code_of(&agent.approve(&id)), "APPROVER_NOT_AUTHORIZED");
    alice.approve(&id).expect("an approval");
    let done = agent.wait_state(&id, &["succeeded"]);
    assert_eq!((&done["effect"], &done["outcome"]["new_version"]), (&json!("applied"), &json!(18)));
    assert_eq!((sandbox.effects_of("customer:C-1842"), sandbox.writes().len()), (1, 1));
    assert_eq!(agent.operations("state=succeeded").expect("a list").len(), 1);
    assert_eq!(agent.events(&id).expect("events").len() as u64, done["events"].as_u64().expect("a count"));
    assert!(daemon.stop().success(), "{}", daemon.log());
    assert!(matches!(agent.operation(&id), Err(Trouble::NobodyThere(_))));
}

#[test]
fn a_daemon_that_was_killed_comes_back_on_the_same_directory() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).fail_point("P4").start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    let id = id_of(&agent.propose_address(&run, "k1", "C-7", 1, "Kungsgatan 5").expect("a proposal"));
    // The daemon may die before it has answered this.
    drop(alice.approve(&id));
    daemon.wait_killed();
    daemon.disarm();
    daemon.restart();
    let done = agent.wait_state(&id, &["succeeded"]);
    assert_eq!(done["attempts"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!((sandbox.effects_of("customer:C-7"), sandbox.writes().len()), (1, 1));
}

//! What became of a write that was not answered: found by evidence, never by the passing of time.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{CONTRACT, Pair, lost_or_answered, questions, writes_to};
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::PATIENCE,
};

/// Waits for a fact of another process.
#[track_caller]
fn eventually(what: &str, true_now: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !true_now() {
        assert!(Instant::now() < until, "never happened: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn paused(operation: &Value) -> bool {
    operation["state"] == "unknown" && !operation["doubt"]["paused"].is_null()
}

/// What the command `writd` prints as JSON.
fn cli(daemon: &Daemon, arguments: &[&str]) -> Value {
    let output = daemon.command(arguments).arg("--json").output().expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn c01_a_long_call_is_not_sent_again_while_it_still_runs() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "delay", "ms": 4000}));
    // The contract says how late work may still arrive; within that, "not found" means nothing.
    let daemon = Setup::new(&sandbox)
        .contract(CONTRACT, "timeout: 5s", "timeout: 1s")
        .contract(CONTRACT, "settle: 200ms", "settle: 60s")
        .start();
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    pair.agent.wait_state(&id, &["unknown"]);
    assert_eq!(sandbox.effects_of("customer:C-1"), 0, "it still works on it");
    let done = pair.agent.wait_state(&id, &["succeeded", "failed"]);
    assert_eq!((&done["state"], &done["effect"]), (&json!("succeeded"), &json!("applied")), "{done:#}");
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
    assert!(questions(&sandbox) > 1, "it was asked about while it ran");
    assert_eq!(done["attempts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn c01_a_late_answer_on_the_kept_connection_settles_it() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "apply_then_delay", "ms": 1500}));
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let daemon = Setup::new(&sandbox).contract(CONTRACT, "timeout: 5s", "timeout: 1s").start();
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    pair.agent.wait_until(&id, "unknown once", |seen| seen["attempts"][0]["result"] == "lost");
    let done = pair.agent.wait_until(&id, "settled", |seen| seen["state"] != "unknown");
    assert_eq!(done["state"], "succeeded", "{done:#}");
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
}

#[test]
fn c10_not_found_is_no_proof_while_the_downstream_lags() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "apply_then_drop"}));
    sandbox.fault(json!({"fault": "status_lag", "ms": 2000, "times": null}));
    let daemon = Setup::new(&sandbox).contract(CONTRACT, "settle: 200ms", "settle: 60s").start();
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    let done = pair.agent.wait_until(&id, "settled", |seen| !seen["outcome"].is_null());
    assert_eq!((&done["state"], &done["effect"]), (&json!("succeeded"), &json!("applied")), "{done:#}");
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
    let requests = sandbox.requests();
    let lied = requests.iter().filter(|request| request["fault"] == "status_lag").count();
    assert!(lied > 1, "the service has said more than once that it knows nothing: {lied}");
}

/// The second contract of the case: it does not say what "not found" means, so a person is asked.
#[test]
fn c10_without_a_word_on_not_found_a_person_is_asked() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "apply_then_drop"}));
    // For ever: whoever takes "not found" for an answer gives a wrong one.
    sandbox.fault(json!({"fault": "status_lag", "ms": 3_600_000, "times": null}));
    let word = "not_found: no_effect";
    let daemon = Setup::new(&sandbox)
        .contract(CONTRACT, word, "not_found: inconclusive")
        .config("reconcile", "escalate_after", "\"1s\"")
        .start();
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    let seen = pair.agent.wait_until(&id, "paused", paused);
    assert_eq!((&seen["effect"], &seen["needs_operator"]), (&json!("unknown"), &json!(true)));
    let asked = questions(&sandbox);
    eventually("it is still asked about", || questions(&sandbox) > asked + 2);
    assert!(paused(&pair.agent.operation(&id).expect("an operation")));
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
}

#[test]
fn c11_age_never_makes_a_failure() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let mut daemon =
        Setup::new(&sandbox).config("reconcile", "escalate_after", "\"500ms\"").fail_point("P4").start();
    let pair = Pair::of(&daemon);
    let id = pair.proposed("k", "C-1");
    lost_or_answered(pair.alice.approve(&id));
    daemon.wait_killed();
    daemon.disarm();
    daemon.restart();
    pair.agent.wait_until(&id, "paused", paused);
    // Many times the age at which a person is told, and another start: it stays as it is.
    let asked = questions(&sandbox);
    eventually("many more questions", || questions(&sandbox) > asked + 8);
    daemon.restart();
    let seen = pair.agent.wait_until(&id, "paused after a start too", paused);
    assert_eq!(seen["effect"], "unknown", "{seen:#}");
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
    let inbox = cli(&daemon, &["inbox", "--as", "oscar"]);
    assert_eq!((&inbox["unknown_total"], &inbox["unknown"][0]["id"]), (&json!(1), &json!(id)), "{inbox:#}");
    assert_eq!(inbox["unknown"][0]["paused"], true);
    // Evidence still settles it, whenever it comes.
    sandbox.clear_faults();
    pair.agent.wait_state(&id, &["succeeded"]);
    assert_eq!(sandbox.writes().len(), 1);
}

#[test]
fn c16_a_key_is_not_released_by_an_error_after_the_effect() {
    let sandbox = Sandbox::start();
    sandbox.fault(json!({"fault": "apply_then_5xx", "status": 500}));
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    pair.agent.wait_state(&id, &["unknown"]);
    // The caller tries the same again, while nobody knows and after it is known.
    assert_eq!(pair.proposed("k", "C-1"), id);
    sandbox.clear_faults();
    pair.agent.wait_state(&id, &["succeeded"]);
    let again =
        pair.agent.propose_address(&pair.run, "k", "C-1", 1, "Kungsgatan 5").expect("the same answer");
    assert_eq!((&again["id"], &again["state"]), (&json!(id), &json!("succeeded")));
    assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
}

#[test]
fn c16_a_declared_refusal_is_final_and_told_again() {
    let sandbox = Sandbox::start();
    let refusal = json!({"fault": "reject", "status": 400, "body": {"code": "INVALID_ADDRESS"}});
    sandbox.fault(refusal);
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    let failed = pair.agent.wait_state(&id, &["failed"]);
    assert_eq!((&failed["effect"], &failed["outcome"]["code"]), (&json!("none"), &json!("INVALID_ARGUMENT")));
    for _ in 0..2 {
        let again = pair.agent.propose_address(&pair.run, "k", "C-1", 1, "Kungsgatan 5").expect("an answer");
        assert_eq!((&again["id"], &again["state"]), (&json!(id), &json!("failed")));
        assert_eq!(again["outcome"]["code"], "INVALID_ARGUMENT");
    }
    assert_eq!((sandbox.effects_of("customer:C-1"), writes_to(&sandbox, "C-1").len()), (0, 1));
}

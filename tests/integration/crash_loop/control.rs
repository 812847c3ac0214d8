//! The judge can fail: each promise is broken once, and it says so. And the bookkeeping of what was told.

use serde_json::{Value, json};

use super::{has_ended, judge, lost, setup, told::Told};
use crate::support::{sandbox::Sandbox, socket::id_of};

/// One write that needed two requests, one that was denied and one that is undecided; operations and ledger.
struct Good {
    sandbox: Sandbox,
    operations: Vec<Value>,
}

fn good() -> Good {
    let sandbox = Sandbox::start();
    let daemon = setup(&sandbox).start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    sandbox.fault(json!({"fault": "drop_before_apply"}));
    let propose = |key: &str, id: &str| {
        id_of(&agent.propose_address(&run, key, id, 1, "Kungsgatan 5").expect("a proposal"))
    };
    let (twice, denied, left) = (propose("k1", "C-1"), propose("k2", "C-2"), propose("k3", "C-3"));
    alice.approve(&twice).expect("an approval");
    alice.command(&denied, "deny", &json!({"reason": "no"})).expect("a denial");
    let done = agent.wait_until(&twice, "ended", has_ended);
    assert_eq!((&done["state"], sandbox.writes().len()), (&json!("succeeded"), 2), "{done:#}");
    let operations = [twice, denied, left].map(|id| agent.operation(&id).expect("an operation")).into();
    Good { sandbox, operations }
}

fn expect(operations: &[Value], ledger: &[Value], finding: &str) {
    let findings = judge(operations, ledger);
    assert!(findings.iter().any(|found| found.contains(finding)), "`{finding}` is not in {findings:#?}");
}

fn position(ledger: &[Value], wanted: impl Fn(&Value) -> bool) -> usize {
    ledger.iter().position(wanted).expect("such a record")
}

#[test]
fn the_judge_finds_what_is_wrong_with_the_world() {
    let Good { sandbox, operations } = good();
    let ledger = sandbox.ledger();
    assert_eq!(judge(&operations, &ledger), [""; 0]);
    let effect = position(&ledger, |record| record["type"] == "effect");
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut doctored = ledger.clone();
        change(&mut doctored);
        doctored
    };
    let two = with(&|ledger| ledger.push(ledger[effect].clone()));
    expect(&operations, &two, "2 effects under the key");
    expect(&operations, &two, "2 effects");
    expect(&operations, &with(&|ledger| drop(ledger.remove(effect))), "the ledger has 0");
    let foreign = with(&|ledger| ledger[effect]["operation_id"] = json!("op_nobody"));
    expect(&operations, &foreign, "the service knows \"op_nobody\"");
    let other_bytes = with(&|ledger| ledger[effect]["request_sha256"] = json!("00"));
    expect(&operations, &other_bytes, "the effect has the bytes");
    let last = ledger.iter().rposition(|record| record["method"] == "PUT").expect("a write");
    expect(&operations, &with(&|ledger| ledger[last]["body"] = json!("{}")), "body sent \"{}\"");
    let version = with(&|ledger| ledger[last]["headers"]["if-match"] = json!("\"2\""));
    expect(&operations, &version, "if-match sent");
    let other_key = with(&|ledger| ledger[last]["headers"]["idempotency-key"] = json!("k"));
    expect(&operations, &other_key, "under another key");
    let blind = with(&|ledger| ledger.retain(|record| record["method"] != "GET"));
    expect(&operations, &blind, "without a question in between");
    let third = with(&|ledger| {
        let mut again = ledger[last].clone();
        again["n"] = json!(ledger.len());
        ledger.push(again);
    });
    expect(&operations, &third, "after its effect");
    expect(&operations, &third, "3 requests, but 2 attempts");
}

#[test]
fn the_judge_finds_what_the_daemon_says_wrongly() {
    let Good { sandbox, operations } = good();
    let ledger = sandbox.ledger();
    let with = |index: usize, member: &str, value: Value| {
        let mut doctored = operations.clone();
        doctored[index][member] = value;
        doctored
    };
    expect(&with(0, "effect", json!("none")), &ledger, "says effect none, the ledger has 1");
    expect(&with(1, "effect", json!("applied")), &ledger, "says effect applied, the ledger has 0");
    expect(&with(1, "state", json!("succeeded")), &ledger, "the ledger has 0");
    expect(&with(0, "decisions", json!([])), &ledger, "without an approval");
    expect(&with(0, "state", json!("denied")), &ledger, "2 requests");
    expect(&with(0, "attempts", json!([])), &ledger, "2 requests, but 0 attempts");
    expect(&operations[1..], &ledger, "the daemon does not");
    let ended_unknown = with(1, "effect", json!("unknown"));
    expect(&ended_unknown, &ledger, "says effect unknown");
}

/// A real second effect: a service that has forgotten the key, and a network that delivers twice.
#[test]
fn the_judge_finds_a_second_effect_of_the_real_sandbox() {
    let Good { sandbox, operations } = good();
    let write = sandbox.writes().pop().expect("a write");
    let headers: Vec<(String, String)> = ["idempotency-key", "x-operation-id", "x-run-id"]
        .iter()
        .map(|name| ((*name).to_owned(), write["headers"][*name].as_str().expect("a header").to_owned()))
        .chain([("if-match".to_owned(), "\"2\"".to_owned())])
        .collect();
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (path, body) = (write["path"].as_str().expect("a path"), write["body"].as_str().expect("a body"));
    sandbox.fault(json!({"fault": "ignore_key"}));
    assert_eq!(sandbox.request("PUT", path, &headers, body.as_bytes()).answer().status, 200);
    expect(&operations, &sandbox.ledger(), "2 effects under the key");
}

#[test]
fn what_was_told_is_not_forgotten() {
    let shown = |events: u64, state: &str, digest: &str| json!({"id": "op_1", "state": state, "effect": "none", "events": events, "proposal_sha256": digest});
    let told = Told::default();
    told.shown(&shown(1, "proposed", "d"));
    told.shown(&shown(3, "denied", "d"));
    assert_eq!(told.findings(), [""; 0]);
    assert_eq!(lost(&told, &shown(3, "denied", "d")), None);
    assert!(lost(&told, &shown(2, "approved", "d")).is_some());
    let cases =
        [(1, "approved", "d", "it was"), (4, "proposed", "d", "ended"), (1, "proposed", "e", "was d")];
    for (events, state, digest, word) in cases {
        let before = told.findings().len();
        told.shown(&shown(events, state, digest));
        let findings = told.findings();
        assert!(findings.len() > before && findings[before].contains(word), "{findings:?}");
    }
    let told = Told::default();
    told.key("k", "/", &json!({}), "op_1");
    told.key("k", "/", &json!({}), "op_2");
    told.history("op_1", &[json!({"number": 1, "digest": "a"})]);
    told.history("op_1", &[json!({"number": 1, "digest": "b"})]);
    told.history("op_1", &[]);
    assert_eq!(told.findings().len(), 3, "{:?}", told.findings());
}

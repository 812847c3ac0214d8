//! Contracts while the daemon runs: another catalog comes into force, all of it or none, and tools grow old.

mod commands;

use std::fs;
use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use super::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, PATIENCE, address_change, code_of, fresh_key, id_of},
};

const WRITE: &str = "commit_address_change.tool.yaml";
const READ: &str = "get_customer.tool.yaml";

/// Changes a contract of a daemon where it stands.
#[track_caller]
fn edit(daemon: &Daemon, file: &str, from: &str, to: &str) {
    let path = daemon.contracts_dir().join(file);
    let text = fs::read_to_string(&path).expect("the contract is there");
    assert!(text.contains(from), "{file} has no `{from}`");
    fs::write(path, text.replace(from, to)).expect("it is written");
}

fn fingerprint(client: &Client) -> Value {
    client.get("/v1/catalog").expect("the catalog")["fingerprint"].clone()
}

fn reload(client: &Client) -> Result<Value, super::support::socket::Trouble> {
    client.post("/v1/catalog/reload", &json!({}))
}

/// Who put the catalogs in force, as the journal tells it up to the first success.
#[track_caller]
fn loads_by(client: &Client) -> Vec<String> {
    let stream = client.open("GET", "/v1/events?after=0", &[], b"").expect("the journal");
    let mut names = Vec::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("the journal goes on");
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let entry: Value = serde_json::from_str(data).expect("an entry");
        match entry["name"].as_str() {
            Some("catalog_loaded") => names.push(entry["by"]["name"].as_str().expect("a name").to_owned()),
            Some("succeeded") => return names,
            _ => {}
        }
    }
    panic!("the journal ended after {names:?}")
}

#[test]
fn a_catalog_comes_into_force_as_a_whole_and_open_work_keeps_its_contract() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).start();
    let (agent, alice, oscar) = (daemon.client("agent"), daemon.client("alice"), daemon.client("oscar"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    let open = id_of(&agent.propose_address(&run, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    let before = fingerprint(&agent);

    edit(&daemon, WRITE, "version: \"2.1\"", "version: \"2.2\"");
    edit(&daemon, WRITE, "timeout: 5s", "timeout: 6s");
    assert_eq!(code_of(&reload(&agent)), "PERMISSION_DENIED");
    assert_eq!(fingerprint(&agent), before);
    let told = reload(&oscar).expect("it is reloaded");
    assert_eq!(told["before"], before);
    assert_eq!(told["fingerprint"], fingerprint(&agent));
    assert_eq!(told["contracts"], 3);
    let changed: Vec<&str> = told["changed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(changed, ["commit_address_change 2.2", "commit_address_change 2.1 (gone)"]);
    assert_eq!(reload(&oscar).expect("again")["changed"], json!([]));

    alice.approve(&open).expect("an approval");
    let done = agent.wait_state(&open, &["succeeded"]);
    assert_eq!(done["version"], "2.1", "it was proposed under the old one");
    assert_eq!(loads_by(&oscar), ["writd", "oscar"], "once at the start, once at the change");
    let old = |key: &str| agent.propose_address(&run, key, "C-1842", 18, "Kungsgatan 6").expect("a proposal");
    assert_eq!(old("k2")["version"], "2.1", "a live run keeps what it opened with");
    let new = id_of(&agent.open_run(&[]).expect("a run"));
    let next = agent.propose_address(&new, "k1", "C-1842", 18, "Kungsgatan 6").expect("a proposal");
    assert_eq!(next["version"], "2.2");
    daemon.restart();
    assert_eq!(old("k3")["version"], "2.1", "also after a restart");
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn a_finding_keeps_the_old_catalog_in_force() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let (agent, oscar) = (daemon.client("agent"), daemon.client("oscar"));
    let before = fingerprint(&agent);
    let spoilt = [
        // One file that is wrong keeps the good change of another one out, too.
        (vec![(READ, "timeout: 2s", "timeout: never"), (WRITE, "timeout: 5s", "timeout: 6s")], "bad-value"),
        (vec![(WRITE, "timeout: 5s", "timeout: 6s")], "changed-body"),
        (
            vec![
                (WRITE, "version: \"2.1\"", "version: \"2.2\""),
                (WRITE, "customers.write", "customers.all"),
            ],
            "breaking-change",
        ),
    ];
    for (edits, code) in spoilt {
        for (file, from, to) in &edits {
            edit(&daemon, file, from, to);
        }
        let refused = reload(&oscar);
        assert_eq!(code_of(&refused), "CONFIGURATION_INVALID", "{code}");
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(code), "{code}: {text}");
        assert_eq!(fingerprint(&agent), before, "{code}");
        for (file, from, to) in &edits {
            edit(&daemon, file, to, from);
        }
    }
    reload(&oscar).expect("as it was");
    assert_eq!(fingerprint(&agent), before);
}

#[test]
fn a_hangup_reloads_too_and_says_in_the_log_what_is_wrong() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let agent = daemon.client("agent");
    let before = fingerprint(&agent);
    let pid = i32::try_from(daemon.pid()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    let hang_up = || rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("it runs");

    edit(&daemon, READ, "timeout: 2s", "timeout: never");
    hang_up();
    wait(|| daemon.log().contains("bad-value"));
    assert_eq!(fingerprint(&agent), before);

    edit(&daemon, READ, "timeout: never", "timeout: 3s");
    edit(&daemon, READ, "version: \"1.0\"", "version: \"1.1\"");
    hang_up();
    wait(|| fingerprint(&agent) != before);
}

/// Looks until it is true; a test that hangs has failed.
#[track_caller]
fn wait(wanted: impl Fn() -> bool) {
    let until = std::time::Instant::now() + PATIENCE;
    while !wanted() {
        assert!(std::time::Instant::now() < until, "it does not come");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_tool_warns_when_it_is_deprecated_and_refuses_when_it_is_retired() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let (agent, alice, oscar) = (daemon.client("agent"), daemon.client("alice"), daemon.client("oscar"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    let read = || agent.call(&run, "get_customer.v1", &json!({"customer_id": "C-1842"}));
    assert_eq!(read().expect("a read")["warnings"], Value::Null);

    let active = "lifecycle: { state: active }";
    edit(&daemon, READ, active, "lifecycle: { state: deprecated, until: 2027-01-31 }");
    edit(&daemon, READ, "version: \"1.0\"", "version: \"1.1\"");
    let old = "lifecycle: { state: deprecated, until: 2027-01-31, successor: send_confirmation.v1 }";
    edit(&daemon, WRITE, active, old);
    edit(&daemon, WRITE, "version: \"2.1\"", "version: \"2.2\"");
    reload(&oscar).expect("it is reloaded");
    let called = read().expect("it still answers");
    assert_eq!(called["warnings"][0]["code"], "TOOL_DEPRECATED");
    let open = agent.propose_address(&run, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal");
    let warning = open["warnings"][0]["detail"].as_str().expect("a warning");
    assert!(warning.contains("2027-01-31") && warning.contains("send_confirmation.v1"), "{warning}");
    let shown = agent.get("/v1/catalog").expect("the catalog");
    assert_eq!(shown["warnings"].as_array().map(Vec::len), Some(2));
    let contracts = agent.get("/v1/contracts").expect("the contracts");
    let lives: Vec<&Value> =
        contracts["items"].as_array().unwrap().iter().map(|one| &one["lifecycle"]).collect();
    assert_eq!(json!(lives), json!(["deprecated", "deprecated", "active"]));

    edit(&daemon, WRITE, old, "lifecycle: { state: retired, successor: send_confirmation.v1 }");
    edit(&daemon, WRITE, "version: \"2.2\"", "version: \"2.3\"");
    reload(&oscar).expect("it is reloaded");
    let refused = agent.propose(&run, &fresh_key(), &address_change("C-1842", 17, "Kungsgatan 6"));
    assert_eq!(code_of(&refused), "TOOL_RETIRED");
    assert!(refused.unwrap_err().to_string().contains("send_confirmation.v1"));
    // What was proposed before goes on under its own contract.
    let open = id_of(&open);
    alice.approve(&open).expect("an approval");
    agent.wait_state(&open, &["succeeded"]);
    assert_eq!(sandbox.effects_of("customer:C-1842"), 1);
}

//! `writd contracts …` as owners and their CI use it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{READ, WRITE, edit};
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::id_of,
};

/// Runs a command; its exit code, and what it says on both streams.
fn run(daemon: &Daemon, arguments: &[&str]) -> (i32, String) {
    let output = daemon.command(arguments).output().expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout) + &text(&output.stderr))
}

#[track_caller]
fn json_of(daemon: &Daemon, arguments: &[&str], exit: i32) -> Value {
    let (code, said) = run(daemon, &[arguments, &["--json"]].concat());
    assert_eq!(code, exit, "{arguments:?}: {said}");
    serde_json::from_str(said.lines().next().expect("an answer")).expect("JSON")
}

/// The contracts in another folder, changed.
fn changed(daemon: &Daemon, edits: &[(&str, &str, &str)]) -> String {
    let folder = daemon.folder().join("new");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    for entry in fs::read_dir(daemon.contracts_dir()).expect("the contracts") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut text = fs::read_to_string(&path).expect("a contract");
        for (_, from, to) in edits.iter().filter(|(file, ..)| *file == name) {
            assert!(text.contains(from), "{name} has no `{from}`");
            text = text.replace(from, to);
        }
        fs::write(folder.join(name), text).expect("a contract is written");
    }
    folder.to_string_lossy().into_owned()
}

fn file(folder: &str, name: &str) -> String {
    Path::new(folder).join(name).to_string_lossy().into_owned()
}

#[test]
fn diff_says_major_minor_or_none_and_whether_the_version_says_so() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).prepare();
    let old = daemon.contracts_dir().to_string_lossy().into_owned();
    let minor = (WRITE, "timeout: 5s", "timeout: 9s");
    let major = (WRITE, "scope: customers.write", "scope: customers.all");
    for (edits, version, kind, exit) in [
        (vec![], "2.1", "none", 0),
        (vec![minor], "2.1", "minor", 5),
        (vec![minor], "2.2", "minor", 0),
        (vec![major], "2.2", "major", 5),
        (vec![major], "3.0", "major", 0),
    ] {
        let version = format!("version: \"{version}\"");
        let edits: Vec<_> =
            edits.into_iter().chain([(WRITE, "version: \"2.1\"", version.as_str())]).collect();
        // The compensation of the write is the write itself, in its new major.
        let undo = ("tool: commit_address_change.v2", "tool: commit_address_change.v3");
        let edits: Vec<_> = match version.contains("3.0") {
            true => edits.into_iter().chain([(WRITE, undo.0, undo.1)]).collect(),
            false => edits,
        };
        let new = changed(&daemon, &edits);
        let told = json_of(&daemon, &["contracts", "diff", &old, &new], exit);
        assert_eq!(told["kind"], kind, "{edits:?}");
        assert_eq!(told["announced"], exit == 0, "{edits:?}");
        // Two files say the same as two folders.
        let told = json_of(&daemon, &["contracts", "diff", &file(&old, WRITE), &file(&new, WRITE)], exit);
        assert_eq!(told["kind"], kind, "{edits:?}");
    }
    let new = changed(&daemon, &[minor, (WRITE, "version: \"2.1\"", "version: \"2.2\"")]);
    let (code, said) = run(&daemon, &["contracts", "diff", &old, &new]);
    assert!(code == 0 && said.contains("/timeout") && said.contains("2.1 → 2.2: minor"), "{said}");
    for (most, exit) in [("minor", 0), ("none", 5)] {
        assert_eq!(run(&daemon, &["contracts", "diff", &old, &new, "--at-most", most]).0, exit, "{most}");
    }
    assert_eq!(run(&daemon, &["contracts", "diff", &old, "no/such/folder"]).0, 2);
}

#[test]
fn a_lock_pins_the_contracts_for_the_check_and_for_the_daemon() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).prepare();
    let (code, said) = run(&daemon, &["contracts", "lock"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(json_of(&daemon, &["contracts", "lock"], 0)["written"], false, "it is as it was");
    assert_eq!(run(&daemon, &["contracts", "check"]).0, 0);
    daemon.restart();
    daemon.kill();

    edit(&daemon, READ, "timeout: 2s", "timeout: 3s");
    let refused = json_of(&daemon, &["contracts", "check"], 2);
    assert_eq!(refused["findings"][0]["code"], "changed-body");
    assert!(refused["findings"][0]["line"].as_u64() > Some(3), "{refused}");
    assert!(daemon.try_restart().unwrap_err().contains("changed-body"));
    assert_eq!(json_of(&daemon, &["contracts", "lock"], 2)["findings"][0]["code"], "changed-body");

    edit(&daemon, READ, "version: \"1.0\"", "version: \"1.1\"");
    assert_eq!(json_of(&daemon, &["contracts", "check"], 2)["findings"][0]["code"], "lock-drift");
    assert_eq!(run(&daemon, &["contracts", "lock"]).0, 0);
    assert_eq!(run(&daemon, &["contracts", "check"]).0, 0);
    daemon.restart();
}

#[test]
fn a_minor_that_breaks_the_pinned_one_is_not_pinned() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).prepare();
    assert_eq!(run(&daemon, &["contracts", "lock"]).0, 0);
    edit(&daemon, READ, "scope: customers.read", "scope: customers.everything");
    edit(&daemon, READ, "version: \"1.0\"", "version: \"1.1\"");
    for command in ["check", "lock"] {
        let refused = json_of(&daemon, &["contracts", command], 2);
        let codes = codes(&refused);
        assert!(codes.contains(&"breaking-change"), "{command}: {refused}");
        assert!(refused.to_string().contains("/service/scope"), "{command}: {refused}");
    }
    // Without the body nobody knows what was promised.
    let bodies = daemon.contracts_dir().join("catalog.bodies");
    fs::remove_dir_all(&bodies).expect("the bodies");
    assert_eq!(codes(&json_of(&daemon, &["contracts", "lock"], 2)), ["lock-drift"]);

    edit(&daemon, READ, "scope: customers.everything", "scope: customers.read");
    edit(&daemon, READ, "version: \"1.1\"", "version: \"1.0\"");
    assert_eq!(run(&daemon, &["contracts", "lock"]).0, 0);
    assert_eq!(fs::read_dir(&bodies).expect("the bodies").count(), 3);
    edit(&daemon, READ, "version: \"1.0\"", "version: \"1.1\"");
    edit(&daemon, READ, "timeout: 2s", "timeout: 3s");
    assert_eq!(run(&daemon, &["contracts", "lock"]).0, 0, "a minor that breaks nothing");
    assert_eq!(fs::read_dir(&bodies).expect("the bodies").count(), 4, "the old body is kept");
}

fn codes(refused: &Value) -> Vec<&str> {
    let findings = refused["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn warnings_are_told_and_refuse_nothing() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).prepare();
    edit(&daemon, READ, "review_by: 2027-06-30", "review_by: 2020-01-31");
    let told = json_of(&daemon, &["contracts", "check"], 0);
    let codes: Vec<&str> =
        told["warnings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(told["valid"] == true && codes.contains(&"overdue-review"), "{told}");
    let (code, said) = run(&daemon, &["contracts", "check"]);
    assert!(code == 0 && said.contains("warning [overdue-review]") && said.contains("2020-01-31"), "{said}");
    daemon.restart();
    assert!(daemon.log().contains("overdue-review"), "{}", daemon.log());
}

#[test]
fn reload_tells_what_changed_and_what_is_wrong() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let (code, said) = run(&daemon, &["contracts", "reload", "--as", "oscar"]);
    assert!(code == 0 && said.contains("3 contracts in force, nothing has changed"), "{said}");
    edit(&daemon, READ, "timeout: 2s", "timeout: never");
    let (code, said) = run(&daemon, &["contracts", "reload", "--as", "oscar"]);
    assert!(code == 2 && said.contains("bad-value") && said.contains(READ), "{code} {said}");
    assert_eq!(run(&daemon, &["contracts", "reload", "--as", "agent"]).0, 4);
}

#[test]
fn the_plan_of_a_retirement_names_everything_that_hangs_on_the_tool() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let plan =
        |tool: &str, exit| json_of(&daemon, &["contracts", "retire", "--plan", tool, "--as", "oscar"], exit);
    let free = plan("send_confirmation.v1", 0);
    assert_eq!((&free["clear"], &free["seen_by"]), (&json!(true), &json!([])));
    assert_eq!(run(&daemon, &["contracts", "lock"]).0, 0);
    assert_eq!(plan("send_confirmation.v1", 0)["seen_by"], json!(["agent"]));
    let read = plan("get_customer.v1", 5);
    let by: Vec<&str> = read["named_by"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(by, ["commit_address_change.v2 at /preview/read", "send_confirmation.v1 at /preview/read"]);

    let run_of = id_of(&agent.open_run(&[]).expect("a run"));
    let open =
        id_of(&agent.propose_address(&run_of, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    assert_eq!(plan("commit_address_change.v2", 5)["open"], json!({"proposed": [open]}));
    alice.approve(&open).expect("an approval");
    agent.wait_state(&open, &["succeeded"]);
    let ended = plan("commit_address_change.v2", 5);
    assert!(ended["open"] == json!({}) && ended["keys_until"].is_string(), "{ended}");
    assert_eq!(run(&daemon, &["contracts", "retire", "--plan", "no_such_tool.v1"]).0, 2);
}

#[test]
fn a_shadow_says_what_new_contracts_had_refused_and_sends_nothing() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).start();
    let agent = daemon.client("agent");
    let run_of = id_of(&agent.open_run(&[]).expect("a run"));
    let id = id_of(&agent.propose_address(&run_of, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    let before = sandbox.requests().len();

    let same = changed(&daemon, &[(WRITE, "timeout: 5s", "timeout: 9s")]);
    let told = json_of(&daemon, &["contracts", "shadow", &same, "--as", "oscar"], 0);
    assert_eq!((told["operations"].as_u64(), told["tools"][0]["accepted"].as_u64()), (Some(1), Some(1)));

    let line1 = "line1: { type: string, minLength: 1, maxLength: 200, x-kind: claim }";
    let strict = changed(
        &daemon,
        &[
            (WRITE, line1, "line1: { type: string, minLength: 1, maxLength: 5, x-kind: claim }"),
            (WRITE, "line1: Sveavägen 44", "line1: Svea"),
        ],
    );
    let told = json_of(&daemon, &["contracts", "shadow", &strict, "--as", "oscar"], 5);
    let refused = &told["tools"][0]["refused"];
    assert_eq!(refused[0]["operation"], id.as_str());
    let why = refused[0]["why"][0].as_str().expect("a reason");
    assert!(why.starts_with("/destination/line1") && !told.to_string().contains("Kungsgatan"), "{told}");
    assert!(told["tools"][0]["major"][0].as_str().is_some_and(|major| major.contains("line1")), "{told}");
    assert_eq!(sandbox.requests().len(), before, "nothing was sent");
    assert_eq!(agent.operation(&id).expect("it is there")["state"], "proposed");
}

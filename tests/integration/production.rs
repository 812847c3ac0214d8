//! `serve --production` with the real daemon: refused as shipped, started as documented.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, PATIENCE},
};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn output(daemon: &Daemon, arguments: &[&str]) -> (Option<i32>, String) {
    let output = daemon.command(arguments).output().expect("the binary starts");
    (output.status.code(), text(&output))
}

fn json_of(daemon: &Daemon, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = daemon.command(&[arguments, &["--json"]].concat()).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().next().unwrap_or_else(|| panic!("no answer: {}", text(&output)));
    (output.status.code(), serde_json::from_str(line).expect("JSON"))
}

fn codes(findings: &Value) -> Vec<String> {
    let findings = findings.as_array().expect("findings").iter();
    findings.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

/// Ends the process with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_shipped_configuration_is_refused_with_lines_that_help() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).prepare();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/daemon.toml");
    fs::copy(shipped, daemon.config_path()).expect("it is copied");
    let (code, page) = output(&daemon, &["serve", "--production"]);
    assert_eq!(code, Some(2), "{page}");
    for wanted in
        ["ONE_UID_BOTH_SIDES", "SAME_UID_ALLOWED", "AGENT_IS_DAEMON", "WEAK_ASSURANCE", "NOT_TESTED"]
    {
        assert!(page.contains(&format!("blocks {wanted}")), "{wanted}: {page}");
    }
    assert!(page.contains("→ set allow_same_uid = false") && page.contains("not started"), "{page}");
    // The log, with its long lines, is on the other stream.
    let report = page.split("not started").next().unwrap_or_default();
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    assert!(!daemon.state_dir().exists(), "a refused start makes nothing");
    let (code, told) = json_of(&daemon, &["serve", "--production"]);
    assert_eq!((code, &told["ready"]), (Some(2), &json!(false)), "{told}");
    let (_, doctor) = json_of(&daemon, &["doctor"]);
    assert_eq!(doctor["readiness"]["findings"], told["findings"], "doctor says the same");
    let blocked = told["findings"].as_array().expect("findings").iter();
    assert_eq!(json!(blocked.filter(|one| one["blocks"] == true).count()), told["blocking"]);
    for finding in told["findings"].as_array().expect("findings") {
        for member in ["place", "meaning", "remedy"] {
            assert!(!finding[member].as_str().expect("a text").is_empty(), "{finding}");
        }
    }
    let (code, checked) = json_of(&daemon, &["serve", "--check", "--production"]);
    assert_eq!((code, &checked["findings"]), (Some(2), &told["findings"]));
    assert_eq!(output(&daemon, &["serve", "--check"]).0, Some(0), "without it, it would start");
}

#[test]
fn the_documented_configuration_starts_once_its_contracts_are_tested() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).prepare();
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/production.toml");
    let own_group = rustix::process::getegid().as_raw().to_string();
    let config = fs::read_to_string(documented)
        .expect("the document")
        .replace("https://crm.example.com", &sandbox.base_url())
        .replace("/run/writd/writd.sock", "state/writd.sock")
        .replace("socket_group = \"writd\"", &format!("socket_group = \"{own_group}\""));
    fs::write(daemon.config_path(), config).expect("it is written");
    fs::write(daemon.folder().join("crm.token"), "sandbox").expect("it is written");
    for (path, mode) in [
        (daemon.config_path(), 0o600),
        (daemon.folder().join("crm.token"), 0o600),
        (daemon.contracts_dir(), 0o755),
    ] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("its mode");
    }
    let (code, told) = json_of(&daemon, &["serve", "--production"]);
    assert_eq!(code, Some(2));
    let blocking: Vec<String> = codes(&told["findings"]).into_iter().take(3).collect();
    assert_eq!((told["blocking"].as_u64(), blocking), (Some(3), vec!["NOT_TESTED".to_owned(); 3]), "{told}");

    // What the report asks for, with the commands that it names.
    let (code, said) = output(&daemon, &["contracts", "test", "--base", &sandbox.base_url()]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(output(&daemon, &["contracts", "lock"]).0, Some(0));
    let (code, said) = output(&daemon, &["serve", "--check", "--production"]);
    assert_eq!(code, Some(0), "{said}");
    let mut command: Command = daemon.command(&["serve", "--production"]);
    let log = fs::File::create(daemon.folder().join("daemon.log")).expect("a log");
    let mut running = Running(
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("the binary starts"),
    );
    let (until, client) = (Instant::now() + PATIENCE, Client::new(daemon.socket_path()));
    while client.get("/readyz").is_err() {
        let ended = running.0.try_wait().expect("the child can be asked");
        assert!(ended.is_none() && Instant::now() < until, "{ended:?}: {}", daemon.log());
        thread::sleep(Duration::from_millis(2));
    }
    assert!(daemon.log().contains("IRREVERSIBLE"), "advice goes to the log: {}", daemon.log());
}

//! The command line as people and scripts use it: the real binary, the real daemon, the real sandbox.
#![allow(clippy::unwrap_used, reason = "helpers of a test end it where they cannot go on")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::sandbox::Sandbox;

const ADDRESS: &str = r#"{"line1":"Kungsgatan 5","postal_code":"111 43","city":"Stockholm","country":"SE"}"#;

/// A daemon in a directory of its own, before a sandbox. Ends with the test.
struct Daemon {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
    process: Child,
}

impl Daemon {
    fn start() -> Daemon {
        let (dir, sandbox) = (tempfile::tempdir().unwrap(), Sandbox::start());
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let shipped = std::fs::read_to_string(root.join("daemon.toml")).unwrap();
        let config = shipped
            .replace("http://127.0.0.1:7401", &sandbox.base_url())
            .replace("\"workflows\"", &format!("{:?}", root.join("workflows")));
        assert_ne!(config, shipped);
        std::fs::write(dir.path().join("daemon.toml"), config).unwrap();
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        let mut process = writd(&dir).arg("serve").stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready "), "{}", std::fs::read_to_string(dir.path().join("log")).unwrap());
        Daemon { dir, sandbox, process }
    }

    /// Runs a command and gives back exit code, standard output and standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        told(writd(&self.dir).args(arguments).output().unwrap())
    }

    /// The object that a command answers with `--json`.
    fn json(&self, arguments: &[&str]) -> Value {
        let (code, out, err) = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        serde_json::from_str(&out).unwrap()
    }

    fn propose(&self, key: &str) -> Value {
        let arguments = format!(r#"{{"customer_id":"C-1842","destination":{ADDRESS}}}"#);
        self.json(&[
            "propose",
            "commit_address_change.v2",
            "--args",
            &arguments,
            "--based-on",
            "17",
            "--key",
            key,
        ])
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The binary in a directory, with nothing of this environment that it would listen to.
fn writd(dir: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_writd"));
    command.current_dir(dir.path()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WRITD_") {
            command.env_remove(name);
        }
    }
    command
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_write_goes_from_proposal_to_proof_by_typed_commands() {
    let daemon = Daemon::start();
    let proposed = daemon.propose("k1");
    assert_eq!(daemon.propose("k1")["id"], proposed["id"], "the same key finds the same run and proposal");
    let (id, digest) = (proposed["id"].as_str().unwrap(), proposed["proposal_sha256"].as_str().unwrap());

    let (code, out, _) = daemon.run(&["op", "show", id, "--as", "alice"]);
    assert_eq!(code, 0);
    assert!(out.contains("\"Storgatan 12\" → \"Kungsgatan 5\"") && out.contains(digest), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80) && !out.contains('\u{1b}'), "{out}");

    for (arguments, exit) in [
        (vec!["op", "approve", id, "--as", "alice"], 2),
        (vec!["op", "approve", id, "--as", "alice", "--digest", "0123456789ab"], 6),
        (vec!["op", "approve", id, "--as", "agent", "--digest", &digest[..12]], 4),
    ] {
        let (code, out, err) = daemon.run(&arguments);
        assert_eq!((code, out.as_str()), (exit, ""), "{arguments:?}: {err}");
        assert_eq!(daemon.json(&["op", "show", id])["state"], "proposed", "{arguments:?}");
    }
    assert_eq!(daemon.sandbox.effects_of("customer:C-1842"), 0);

    let approve = ["op", "approve", id, "--as", "alice", "--digest", &digest[..12], "--wait", "60s"];
    let (code, out, err) = daemon.run(&approve);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("SUCCEEDED") && out.contains("new version   18"), "{out}");
    assert_eq!(daemon.sandbox.effects_of("customer:C-1842"), 1);
    let events = daemon.json(&["op", "events", id]);
    let names: Vec<_> = events["items"].as_array().unwrap().iter().map(|event| &event["name"]).collect();
    assert_eq!(json!(names), json!(["proposed", "approved", "execution_started", "succeeded"]));
}

#[test]
fn refusals_have_their_words_and_exit_codes() {
    let daemon = Daemon::start();
    let absent = "op_01h455vb4pex5vsknk084sn02q";
    for (arguments, exit, code) in [
        (vec!["op", "show", absent], 4, "NOT_FOUND"),
        (vec!["op", "list", "--as", "nobody"], 3, "UNAUTHENTICATED"),
        (vec!["op", "list", "--limit", "0"], 2, "INVALID_ARGUMENT"),
        (vec!["call", "get_customer.v1", "--args", r#"{"customer":1}"#], 2, "INVALID_ARGUMENT"),
        (vec!["propose", "commit_address_change.v2", "--args", r#"{"a":1,"a":1}"#], 2, "INVALID_ARGUMENT"),
    ] {
        let (exited, out, err) = daemon.run(&arguments);
        assert_eq!((exited, out.as_str()), (exit, ""), "{arguments:?}: {err}");
        assert!(err.starts_with(&format!("error[{code}]: ")) && err.contains("What to do"), "{err}");
        let (exited, out, err) = daemon.run(&[&arguments[..], &["--json"]].concat());
        let problem: Value = serde_json::from_str(&err).unwrap();
        assert_eq!((exited, out.as_str(), problem["code"].as_str()), (exit, "", Some(code)), "{arguments:?}");
    }
    let (code, out, err) = daemon.run(&["doctor", "--as", "oscar"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn without_a_daemon_the_commands_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, err) = told(writd(&dir).arg("inbox").output().unwrap());
    assert_eq!((code, out.as_str()), (8, ""));
    assert!(
        err.contains("not running") && err.contains("writd serve") && err.contains("writd.sock"),
        "{err}"
    );
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = writd(&dir).args(["completions", "bash"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

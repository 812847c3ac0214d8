//! Answers that do not fit: they prove nothing, are kept for the operator, and never pass as a result.

use std::io::Read;

use serde_json::{Value, json};

use super::{CONTRACT, Pair};
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
};

/// What the command `writd` prints as JSON, and whether it was content.
fn cli(daemon: &Daemon, arguments: &[&str]) -> (bool, Value) {
    let output = daemon.command(arguments).arg("--json").output().expect("the command runs");
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    (output.status.success(), serde_json::from_slice(text).unwrap_or(Value::Null))
}

#[test]
fn c46_a_success_that_does_not_fit_is_unknown_and_kept_for_the_operator() {
    for (fault, says) in [("apply_then_malformed", None), ("apply_then_wrong_shape", Some("{"))] {
        let sandbox = Sandbox::start();
        sandbox.fault(json!({"fault": fault}));
        sandbox.fault(json!({"fault": "status_down", "times": null}));
        let daemon = Daemon::start(&sandbox);
        let pair = Pair::of(&daemon);
        let id = pair.approved("k", "C-1");
        let seen = pair.agent.wait_state(&id, &["unknown"]);
        let cause = seen["doubt"]["cause"].as_str().unwrap_or_default();
        assert!(cause.starts_with("the answer does not prove it"), "{fault}: {cause}");
        let shown = daemon.command(&["op", "show", &id, "--as", "oscar"]).output().expect("it runs");
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains(&format!("writd op answer {id}")), "{shown}");

        let (done, kept) = cli(&daemon, &["op", "answer", &id, "--as", "oscar"]);
        assert!(done, "{kept:#}");
        let text = kept["text"].as_str().unwrap_or_default();
        assert_eq!((&kept["status"], &kept["size"]), (&json!(200), &json!(text.len())), "{kept:#}");
        assert!(says.is_none_or(|says| text.starts_with(says)) && kept["cut"] == false, "{kept:#}");
        let (done, refused) = cli(&daemon, &["op", "answer", &id, "--as", "agent"]);
        assert!(!done && refused["code"] == "PERMISSION_DENIED", "{refused:#}");

        // It is settled by the key, and what did not fit is nowhere in the result.
        sandbox.clear_faults();
        let settled = pair.agent.wait_state(&id, &["succeeded"]);
        assert_eq!(settled["outcome"]["evidence"], "status", "{settled:#}");
        assert_eq!((sandbox.effects_of("customer:C-1"), sandbox.writes().len()), (1, 1));
    }
}

#[test]
fn what_may_not_be_kept_is_in_no_record() {
    let sandbox = Sandbox::start();
    let redact = "redact: { never_store: [/changed_fields] }\nlog:";
    let mut daemon = Setup::new(&sandbox).contract(CONTRACT, "log:", redact).start();
    let pair = Pair::of(&daemon);
    let id = pair.approved("k", "C-1");
    let seen = pair.agent.wait_state(&id, &["succeeded"]);
    let receipt = &seen["outcome"]["receipt"];
    assert!(receipt["receipt"]["key"].is_string() && receipt.get("changed_fields").is_none(), "{seen:#}");
    daemon.stop();
    let export = daemon.folder().join("all.gz");
    let file = export.to_str().expect("a path in text");
    let output = daemon.command(&["export", file]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut text = String::new();
    let packed = std::fs::File::open(&export).expect("the export");
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).expect("text");
    assert!(text.contains(r#"\"new_version\":2"#), "receipts are in it");
    assert!(!text.contains(r#"\"changed_fields\":["#), "what the service said of it is not");
}

//! `writd contracts test` against the real sandbox: a healthy service passes everything, and each broken promise is
//! found by the question that is about it. A kit that cannot fail is no kit.
#![allow(clippy::unwrap_used, reason = "helpers of a test end it where they cannot go on")]

mod broken;
mod facilities;
mod healthy;
mod negative;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::sandbox::{CUSTOMERS, Sandbox};

/// Seconds become fractions of one, so that a status that never finds anything is soon done with.
const SHORT: [(&str, &str); 2] =
    [("settle: 2s", "settle: 200ms"), ("confirm_interval: 1s", "confirm_interval: 100ms")];

/// A directory with a configuration, the customers' contracts with short clocks, and a sandbox beside it.
struct Kit {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
}

/// What a run of the kit said.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Kit {
    fn new() -> Kit {
        Kit::of(CUSTOMERS)
    }

    /// With the service and the contracts of this name.
    fn of(name: &'static str) -> Kit {
        let kit = Kit { dir: tempfile::tempdir().unwrap(), sandbox: Sandbox::start_of(name) };
        let contracts = kit.dir.path().join("workflows");
        std::fs::create_dir(&contracts).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows").join(name);
        for entry in std::fs::read_dir(shipped).unwrap() {
            let path = entry.unwrap().path();
            let mut text = std::fs::read_to_string(&path).unwrap();
            for (from, to) in SHORT {
                text = text.replace(from, to);
            }
            std::fs::write(contracts.join(path.file_name().unwrap()), text).unwrap();
        }
        std::fs::write(kit.dir.path().join("daemon.toml"), "[daemon]\nstate_dir = \"state\"\n").unwrap();
        kit
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Replaces a text in a file of the contracts.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.path("workflows").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "`{from}` does not stand in {file}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Without cases, so that nothing is reset and what is armed stays armed.
    fn without_cases(&self) {
        let path = self.path("workflows/customers.cases.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, _) = text.split_once("given:").unwrap();
        std::fs::write(path, head).unwrap();
    }

    fn writd(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_writd"));
        command.current_dir(self.dir.path()).stdin(Stdio::null()).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WRITD_") {
                command.env_remove(name);
            }
        }
        // The credential of one hotel; the customers want none.
        let output = command.env("FACILITIES_TOKEN", "sandbox-htl-084").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// A run against the sandbox, for programs.
    fn live(&self, arguments: &[&str]) -> (i32, Value) {
        let base = self.sandbox.base_url();
        let run = self.writd(&[&["contracts", "test", "--base", &base, "--json"], arguments].concat());
        let report = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err));
        (run.code, report)
    }
}

/// The checks with a verdict, as `TOOL: NAME: DETAIL`.
fn with_verdict(report: &Value, verdict: &str) -> Vec<String> {
    let mut found = Vec::new();
    for tool in report["tools"].as_array().unwrap() {
        for check in tool["checks"].as_array().unwrap().iter().filter(|check| check["verdict"] == verdict) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            found.push(format!(
                "{}: {}: {}",
                text(&tool["tool"]),
                text(&check["name"]),
                text(&check["detail"])
            ));
        }
    }
    found
}

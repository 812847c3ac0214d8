//! A sandbox service as a process of its own, customers or facilities: start it, arm its faults, ask it what happened, end it.
//!
//! ```ignore
//! let mut sandbox = Sandbox::start();
//! sandbox.fault(json!({"fault": "apply_then_drop", "times": 1}));
//! // …let the daemon write to sandbox.base_url()…
//! assert_eq!(sandbox.effects_of("customer:C-1842"), 1);
//! sandbox.assert_at_most_one_effect_per_key();
//! ```
#![allow(dead_code, reason = "what one test file does not use, another does")]

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::http::{self, Answer, Outcome};

/// The example whose binary a sandbox runs.
pub(crate) const CUSTOMERS: &str = "customers";
/// The same for facilities.
pub(crate) const FACILITIES: &str = "facilities";

/// A running sandbox. Dropping it kills the process.
pub(crate) struct Sandbox {
    program: &'static str,
    child: Child,
    // Kept open: a service whose stdout is gone would fail to print.
    _stdout: BufReader<ChildStdout>,
    address: SocketAddr,
    arguments: Vec<String>,
    ledger: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Sandbox {
    /// Starts one with an empty ledger in a folder of its own, without syncs.
    pub(crate) fn start() -> Self {
        Self::start_of(CUSTOMERS)
    }

    /// Starts one of these with an empty ledger in a folder of its own, without syncs.
    pub(crate) fn start_of(program: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ledger = folder.path().join("ledger.ndjson");
        let mut sandbox = Self::start_program(program, &ledger, &["--no-ledger-fsync"]);
        sandbox._folder = Some(folder);
        sandbox
    }

    /// Starts one on a ledger with more arguments (`--no-ledger-fsync`, `--quiet-requests`, …).
    pub(crate) fn start_on(ledger: &Path, arguments: &[&str]) -> Self {
        Self::start_program(CUSTOMERS, ledger, arguments)
    }

    fn start_program(program: &'static str, ledger: &Path, arguments: &[&str]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (child, stdout, address) =
            spawn_program(program, ledger, "127.0.0.1:0", &arguments).expect("the sandbox starts");
        Self { program, child, _stdout: stdout, address, arguments, ledger: ledger.to_owned(), _folder: None }
    }

    /// Where it listens; the same after a restart.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The file of its ledger.
    pub(crate) fn ledger_path(&self) -> &Path {
        &self.ledger
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends one request on a connection of its own and says what it came to.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Outcome {
        let stream = http::send(self.address, method, path, headers, body).expect("the request is sent");
        http::receive(stream).expect("the answer is read")
    }

    /// A read; panics without an answer.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"").answer()
    }

    /// The customer as the service has it now.
    pub(crate) fn customer(&self, id: &str) -> Value {
        self.get(&format!("/customers/{id}")).json()
    }

    /// Arms a fault: `{"fault": NAME, "times": N or null, "match": {…}, …parameters}`.
    pub(crate) fn fault(&self, fault: Value) {
        let answer = self.admin("POST", "faults", &fault);
        assert_eq!(answer.status, 201, "{fault}: {}", String::from_utf8_lossy(&answer.body));
    }

    /// Disarms all faults.
    pub(crate) fn clear_faults(&self) {
        assert_eq!(self.admin("DELETE", "faults", &Value::Null).status, 200);
    }

    /// The faults with what is left of them: `[{id, fault: {fault, …}, times_left, hits, match}]`.
    pub(crate) fn faults(&self) -> Vec<Value> {
        list(&self.get("/_sandbox/faults").json()["faults"])
    }

    /// Random faults: `{"seed": N, "probabilities": {NAME: p or {"p": p, …parameters}}}`.
    pub(crate) fn chaos(&self, chaos: Value) {
        let answer = self.admin("POST", "chaos", &chaos);
        assert_eq!(answer.status, 200, "{chaos}: {}", String::from_utf8_lossy(&answer.body));
    }

    /// No more random faults.
    pub(crate) fn clear_chaos(&self) {
        assert_eq!(self.admin("DELETE", "chaos", &Value::Null).status, 200);
    }

    /// Puts the service's clock forward.
    pub(crate) fn forward(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).expect("a clock has bounds");
        let answer = self.admin("POST", "clock", &json!({"forward_ms": ms}));
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }

    /// Somebody else changes the object; the new version.
    pub(crate) fn bump(&self, id: &str) -> u64 {
        self.admin("POST", &format!("bump/{id}"), &Value::Null).json()["version"].as_u64().expect("a version")
    }

    /// Empties ledger, state and switchboard.
    pub(crate) fn reset(&self) {
        assert_eq!(self.admin("POST", "reset", &Value::Null).status, 200);
    }

    /// `{total, per_object, per_key, keys_with_more_than_one, other_changes}`.
    pub(crate) fn effects(&self) -> Value {
        self.get("/_sandbox/effects").json()
    }

    /// Effects on one object (`customer:ID`, `mail:ID`).
    pub(crate) fn effects_of(&self, object: &str) -> u64 {
        self.effects()["per_object"][object].as_u64().unwrap_or(0)
    }

    /// Effects under one key.
    pub(crate) fn effects_under(&self, key: &str) -> u64 {
        self.effects()["per_key"][key].as_u64().unwrap_or(0)
    }

    /// INV1, by keys.
    pub(crate) fn assert_at_most_one_effect_per_key(&self) {
        let effects = self.effects();
        assert_eq!(effects["keys_with_more_than_one"], json!([]), "{effects}");
    }

    /// Every record of the ledger, oldest first.
    pub(crate) fn ledger(&self) -> Vec<Value> {
        self.ledger_from(0)
    }

    /// The records with the number `from` and later.
    pub(crate) fn ledger_from(&self, from: u64) -> Vec<Value> {
        lines(&self.get(&format!("/_sandbox/ledger?from={from}")).body)
    }

    /// The requests received, without the second copies that the sandbox made itself.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let wanted = |record: &Value| record["type"] == "request" && record["redelivered"] == false;
        self.ledger().into_iter().filter(wanted).collect()
    }

    /// The requests that can have had an effect: PUT and POST.
    pub(crate) fn writes(&self) -> Vec<Value> {
        self.requests().into_iter().filter(|record| record["method"] != "GET").collect()
    }

    /// Ends it by SIGTERM and waits for it.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("the sandbox runs");
        self.child.wait().expect("the sandbox ends")
    }

    /// Ends it by SIGKILL and waits for it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the sandbox can be killed");
        self.child.wait().expect("the sandbox ends");
    }

    /// Starts it again after `stop` or `kill`: same port, same ledger, same arguments.
    pub(crate) fn restart(&mut self) {
        let listen = self.address.to_string();
        let (child, stdout, address) =
            spawn_program(self.program, &self.ledger, &listen, &self.arguments).expect("it starts again");
        assert_eq!(address, self.address);
        self.child = child;
        self._stdout = stdout;
    }

    fn admin(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.request(method, &format!("/_sandbox/{path}"), &[], body.to_string().as_bytes()).answer()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// NDJSON as values.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("a ledger is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().expect("a list").clone()
}

/// The example's binary. `cargo test` builds it beside the tests, `cargo test --test integration` does not:
/// so one that is older than its sources is refused, or the tests would judge by yesterday's service.
pub(crate) fn binary() -> PathBuf {
    binary_of(CUSTOMERS)
}

fn binary_of(program: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
    let path = profile.join("examples").join(program);
    let built = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let changed = newest_source(&examples.join(program)).max(newest_source(&examples.join("sandbox")));
    assert!(
        built.is_some_and(|built| built >= changed),
        "{} is missing or older than its sources: cargo build --example {program}",
        path.display()
    );
    path
}

fn newest_source(folder: &Path) -> SystemTime {
    let entries =
        folder.read_dir().expect("the sources are there").map(|entry| entry.expect("an entry").path());
    let times = entries.filter_map(|path| match path.is_dir() {
        true => Some(newest_source(&path)),
        false if path.extension().is_some_and(|extension| extension == "rs") => {
            Some(path.metadata().and_then(|metadata| metadata.modified()).expect("a time"))
        }
        false => None,
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A process, what it prints, and where it listens.
type Spawned = (Child, BufReader<ChildStdout>, SocketAddr);

/// Starts the customers' process and waits for its line; an error carries its exit status and what it said on stderr.
pub(crate) fn spawn(ledger: &Path, listen: &str, arguments: &[String]) -> Result<Spawned, String> {
    spawn_program(CUSTOMERS, ledger, listen, arguments)
}

fn spawn_program(
    program: &str,
    ledger: &Path,
    listen: &str,
    arguments: &[String],
) -> Result<Spawned, String> {
    let mut child = Command::new(binary_of(program))
        .args(["--listen", listen, "--ledger"])
        .arg(ledger)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).map_err(|error| error.to_string())?;
    match line.trim().strip_prefix("listening on http://").map(str::parse) {
        Some(Ok(address)) => Ok((child, stdout, address)),
        _ => {
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            Err(format!("{}: {line}{}", output.status, String::from_utf8_lossy(&output.stderr)))
        }
    }
}

//! The real daemon as a process of its own: a private directory, a configuration with short clocks, the shipped
//! contracts, named points to die at.
//!
//! ```ignore
//! let sandbox = Sandbox::start();
//! let mut daemon = Setup::new(&sandbox).fail_point("P4").start();
//! let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
//! let run = id_of(&agent.open_run(&[]).expect("a run"));
//! let operation = id_of(&agent.propose_address(&run, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
//! let _ = alice.approve(&operation); // the daemon dies at P4; the answer may be lost
//! daemon.wait_killed();
//! daemon.disarm();
//! daemon.restart();
//! agent.wait_state(&operation, &["succeeded"]);
//! sandbox.assert_at_most_one_effect_per_key();
//! ```
//!
//! Names: `agent` proposes, `alice` and `bob` approve, `oscar` is the operator. Nothing here sleeps for a fixed time.
#![allow(dead_code, reason = "what one test file does not use, another does")]

use std::{
    fs,
    net::SocketAddr,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    sandbox::Sandbox,
    secrets,
    socket::{Client, PATIENCE},
};

/// Between two looks at a process that is starting or ending.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The folders of the shipped contracts.
const CONTRACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workflows");

/// Which of the shipped systems a daemon serves: its folder, the base that its contracts name, and more about that base.
#[derive(Clone, Copy, Debug)]
struct System {
    folder: &'static str,
    base: &'static str,
    more: &'static str,
}

const CUSTOMERS: System = System { folder: "customers", base: "crm", more: "" };
const FACILITIES: System =
    System { folder: "facilities", base: "facilities", more: "credential = \"env:FACILITIES_TOKEN\"\n" };

/// Seconds become fractions of one: `(in the shipped contract, in the tests)`. `timeout` stays: a machine under load
/// must not make timeouts; a test that wants one shortens it itself.
const SHORT: [(&str, &str); 3] = [
    ("settle: 2s", "settle: 200ms"),
    ("confirm_interval: 1s", "confirm_interval: 100ms"),
    (
        "backoff: { initial: 500ms, max: 30s, jitter: full }",
        "backoff: { initial: 20ms, max: 200ms, jitter: full }",
    ),
];

/// What a daemon is to be like. Everything has a default that fits most tests.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    system: System,
    base: String,
    settings: Vec<(String, String, String)>,
    appended: String,
    edits: Vec<(String, String, String)>,
    environment: Vec<(String, String)>,
}

impl Setup {
    /// A daemon that writes to this sandbox.
    pub(crate) fn new(sandbox: &Sandbox) -> Self {
        Self::to(&sandbox.base_url())
    }

    /// A daemon that writes to another service (`http://127.0.0.1:PORT`).
    pub(crate) fn to(base: &str) -> Self {
        let setup = Self {
            system: CUSTOMERS,
            base: base.to_owned(),
            settings: Vec::new(),
            appended: String::new(),
            edits: Vec::new(),
            environment: Vec::new(),
        };
        setup
            .config("reconcile", "interval", "\"50ms\"")
            .config("reconcile", "max_interval", "\"200ms\"")
            .config("reconcile", "slow_interval", "\"200ms\"")
            .config("daemon", "grace", "\"2s\"")
            .config("log", "level", "\"debug\"")
    }

    /// A daemon that serves the facilities contracts, with the credential of one hotel.
    pub(crate) fn facilities(sandbox: &Sandbox, token: &str) -> Self {
        let setup = Self { system: FACILITIES, ..Self::new(sandbox) };
        secrets::remember(token);
        setup.environment("FACILITIES_TOKEN", token)
    }

    /// Sets a key of `daemon.toml`; the value is TOML (`"\"5s\""`, `"3"`). The last one wins.
    pub(crate) fn config(mut self, section: &str, key: &str, value: &str) -> Self {
        self.settings.retain(|(known, name, _)| (known.as_str(), name.as_str()) != (section, key));
        self.settings.push((section.to_owned(), key.to_owned(), value.to_owned()));
        self
    }

    /// More of `daemon.toml`: whole `[[principal]]` sections. They replace the four default ones.
    pub(crate) fn append(mut self, toml: &str) -> Self {
        self.appended.push_str(toml);
        self
    }

    /// Replaces a text in a contract file (`commit_address_change.tool.yaml`), after the clocks were shortened.
    /// Panics at the start if it does not stand there: a test must not go on under other rules than it thinks.
    pub(crate) fn contract(mut self, file: &str, from: &str, to: &str) -> Self {
        self.edits.push((file.to_owned(), from.to_owned(), to.to_owned()));
        self
    }

    /// Kills the daemon there: `P4`, `P4:7` (at the seventh pass), `P4:1/20` (with that chance), several with commas.
    pub(crate) fn fail_point(self, setting: &str) -> Self {
        self.environment("WRITD_FAIL_POINT", setting)
    }

    /// A variable of the daemon's environment. Variables of the test's own that begin with `WRITD_` are not passed on.
    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it in a directory of its own and waits until it answers. Panics with its log if it does not.
    #[track_caller]
    pub(crate) fn start(self) -> Daemon {
        self.prepare().started()
    }

    /// Makes directory, configuration and contracts, and starts nothing.
    pub(crate) fn prepare(self) -> Daemon {
        let folder = tempfile::Builder::new().prefix("writd-").tempdir().expect("a temporary folder");
        let daemon = Daemon { folder, environment: self.environment.clone(), child: None };
        fs::write(daemon.config_path(), self.toml()).expect("the configuration is written");
        self.write_contracts(&daemon.contracts_dir());
        daemon
    }

    fn toml(&self) -> String {
        let mut toml = String::new();
        for section in ["daemon", "store", "http", "tokens", "limits", "reconcile", "approval", "log"] {
            toml.push_str(&format!("[{section}]\n"));
            for (_, key, value) in self.settings.iter().filter(|(known, ..)| known == section) {
                toml.push_str(&format!("{key} = {value}\n"));
            }
        }
        toml.push_str(&self.appended);
        let System { base: name, more, .. } = self.system;
        toml.push_str(&format!("\n[[base]]\nname = \"{name}\"\norigin = \"{}\"\n{more}", self.base));
        toml
    }

    fn write_contracts(&self, folder: &Path) {
        fs::create_dir_all(folder).expect("the folder of the contracts is made");
        let shipped = Path::new(CONTRACTS).join(self.system.folder);
        for entry in fs::read_dir(shipped).expect("the shipped contracts are there") {
            let entry = entry.expect("an entry");
            let mut text = fs::read_to_string(entry.path()).expect("a contract is text");
            for (from, to) in SHORT {
                text = text.replace(from, to);
            }
            let name = entry.file_name();
            for (_, from, to) in self.edits.iter().filter(|(file, ..)| name == file.as_str()) {
                assert!(text.contains(from), "`{from}` does not stand in {name:?}");
                text = text.replace(from, to);
            }
            fs::write(folder.join(&name), text).expect("a contract is written");
        }
    }
}

/// A daemon with its directory. Dropping it kills the process and removes the directory.
#[derive(Debug)]
pub(crate) struct Daemon {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
    child: Option<Child>,
}

impl Daemon {
    /// One with short clocks that writes to this sandbox.
    #[track_caller]
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Setup::new(sandbox).start()
    }

    /// A client that speaks under this name.
    pub(crate) fn client(&self, name: &str) -> Client {
        self.anonymous().named(name)
    }

    /// A client that says no name.
    pub(crate) fn anonymous(&self) -> Client {
        Client::new(self.socket_path())
    }

    /// The directory of everything.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `daemon.toml`
    pub(crate) fn config_path(&self) -> PathBuf {
        self.folder().join("daemon.toml")
    }

    /// The state directory.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder().join("state")
    }

    /// The socket.
    pub(crate) fn socket_path(&self) -> PathBuf {
        self.state_dir().join("writd.sock")
    }

    /// The folder with the copies of the contracts.
    pub(crate) fn contracts_dir(&self) -> PathBuf {
        self.folder().join("workflows")
    }

    /// Everything that the daemon logged, over all starts.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Where it listens for clients with a token, at its last start; panics if it does not.
    #[track_caller]
    pub(crate) fn network(&self) -> SocketAddr {
        let log = self.log();
        let line = log.lines().rfind(|line| line.contains("listening for clients with a token"));
        let address = line.and_then(|line| line.split("address=").nth(1)).expect("it listens");
        address.split_whitespace().next().and_then(|address| address.parse().ok()).expect("an address")
    }

    /// The process; panics if none runs.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("the daemon was started").id()
    }

    /// No fail point at the next start.
    pub(crate) fn disarm(&mut self) {
        self.environment.retain(|(name, _)| name != "WRITD_FAIL_POINT");
    }

    /// Another fail point from the next start on.
    pub(crate) fn arm(&mut self, setting: &str) {
        self.disarm();
        self.environment.push(("WRITD_FAIL_POINT".to_owned(), setting.to_owned()));
    }

    /// Starts it again on the same directory and waits until it answers. What still runs is killed first.
    #[track_caller]
    pub(crate) fn restart(&mut self) {
        self.kill();
        if let Err(why) = self.try_restart() {
            panic!("{why}");
        }
    }

    /// The same; an error holds how it ended and its log.
    pub(crate) fn try_restart(&mut self) -> Result<(), String> {
        self.spawn();
        self.wait_ready()
    }

    /// Starts the process and does not wait.
    pub(crate) fn spawn(&mut self) {
        assert!(self.child.is_none(), "the daemon runs already");
        let log = fs::File::options().create(true).append(true).open(self.log_path()).expect("the log opens");
        let err = log.try_clone().expect("the log can be shared");
        let mut command = self.command(&["serve"]);
        command.stdin(Stdio::null()).stdout(log).stderr(err);
        self.child = Some(command.spawn().expect("the daemon's binary starts"));
    }

    /// Waits until it answers; an error if it ends before that, or takes too long.
    pub(crate) fn wait_ready(&mut self) -> Result<(), String> {
        let (until, client) = (Instant::now() + PATIENCE, self.anonymous());
        while client.get("/readyz").is_err() {
            let ended =
                self.child.as_mut().and_then(|child| child.try_wait().expect("the child can be asked"));
            if let Some(status) = ended {
                self.child = None;
                return Err(format!("the daemon ended with {status}:\n{}", self.log()));
            }
            if Instant::now() > until {
                return Err(format!("the daemon does not get ready:\n{}", self.log()));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Ends it by SIGKILL, if it runs, and waits for it.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            child.wait().expect("the daemon ends");
        }
    }

    /// Ends it by SIGTERM and waits for it.
    #[track_caller]
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let pid = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("the daemon runs");
        self.wait_ended()
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub(crate) fn wait_ended(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        let mut child = self.child.take().expect("the daemon was started");
        loop {
            if let Some(status) = child.try_wait().expect("the child can be asked") {
                return status;
            }
            if Instant::now() > until {
                self.child = Some(child);
                panic!("the daemon does not end:\n{}", self.log());
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits that long whether it ends by itself; none if it still runs.
    pub(crate) fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        loop {
            let child = self.child.as_mut().expect("the daemon was started");
            if let Some(status) = child.try_wait().expect("the child can be asked") {
                self.child = None;
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until a fail point has killed it.
    #[track_caller]
    pub(crate) fn wait_killed(&mut self) {
        let status = self.wait_ended();
        assert_eq!(status.signal(), Some(9), "it was to be killed, and ended with {status}:\n{}", self.log());
    }

    /// The binary with this daemon's configuration, for other commands (`["verify"]`, `["op", "list"]`).
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_writd"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WRITD_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).arg("--config").arg(self.config_path()).current_dir(self.folder());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    #[track_caller]
    fn started(mut self) -> Self {
        match self.try_restart() {
            Ok(()) => self,
            Err(why) => panic!("{why}"),
        }
    }

    fn log_path(&self) -> PathBuf {
        self.folder().join("daemon.log")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
        let leaks = secrets::leaks(&self.log());
        assert!(std::thread::panicking() || leaks.is_empty(), "values of arguments in the log: {leaks:#?}");
    }
}

//! Power cuts: the real daemon under load from 16 clients, every change that it makes to its state directory recorded,
//! every fact that a client was told written down at that moment. Then the power is cut at many points in time, a
//! directory that a disk could hold after each is rebuilt, and `writd verify` holds it against the facts that were
//! acknowledged before the cut.
//!
//! The simulator lies beside the checkout, in `../shared/powerloss` or where `WRITD_POWERLOSS` says; without it the test
//! says loudly that it did not run. `WRITD_POWER_CUTS=400` makes the longer run, `WRITD_SEED` another one.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that says what it did"
)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::daemon::Setup;
use crate::support::sandbox::Sandbox;
use crate::support::socket::{Client, id_of};

/// Cuts of the ordinary run: each takes a verify of its own.
const CUTS: u32 = 60;
const CLIENTS: usize = 16;
/// Writes of each client; enough for several pages, snapshots aside.
const WRITES: usize = 12;
/// The recorder slows the daemon down, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn no_power_cut_loses_what_was_acknowledged() {
    let Some(tool) = simulator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (log, acks) = (folder.path().join("log"), folder.path().join("acks"));
    let socket = folder.path().join("s");
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox)
        .config("daemon", "socket", &format!("{:?}", socket.display().to_string()))
        .prepare();
    fs::create_dir_all(daemon.state_dir()).unwrap();
    private(&daemon.state_dir());
    let mut recorded = record(&tool, &daemon.state_dir(), &log, &acks, &daemon.config_path());
    wait_ready(&socket, &mut recorded);
    let told = Arc::new(Mutex::new(OpenOptions::new().write(true).open(&acks).unwrap()));
    let told_facts = load(&socket, &told);
    drop(told);
    assert!(told_facts >= CLIENTS * WRITES * 2, "only {told_facts} facts were acknowledged");
    terminate(&mut recorded);
    check(&tool, &log);
}

/// Builds the simulator outside of its folder, which is not ours to write to.
fn simulator() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source =
        std::env::var_os("WRITD_POWERLOSS").map_or_else(|| root.join("../shared/powerloss"), PathBuf::from);
    if !source.join("Cargo.toml").exists() {
        eprintln!(
            "NOT RUN: no power-cut simulator in {} (WRITD_POWERLOSS names another place)",
            source.display()
        );
        return None;
    }
    let copy = root.join("target/powerloss/source");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(copy.join("src")).unwrap();
    fs::copy(source.join("Cargo.toml"), copy.join("Cargo.toml")).unwrap();
    if source.join("Cargo.lock").exists() {
        fs::copy(source.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    }
    for file in fs::read_dir(source.join("src")).unwrap() {
        let file = file.unwrap();
        fs::write(copy.join("src").join(file.file_name()), fs::read(file.path()).unwrap()).unwrap();
    }
    let target = root.join("target/powerloss");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--bins", "--manifest-path"])
        .arg(copy.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .unwrap();
    assert!(built.success(), "the simulator does not build");
    Some(target.join("release/powerloss"))
}

fn private(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
}

fn record(tool: &Path, state: &Path, log: &Path, acks: &Path, config: &Path) -> Child {
    let mut command = Command::new(tool);
    // The daemon refuses variables that it does not know, and these are the test's own.
    for name in ["WRITD_POWER_CUTS", "WRITD_POWERLOSS", "WRITD_SEED"] {
        command.env_remove(name);
    }
    command
        .arg("record")
        .arg("--dir")
        .arg(state)
        .arg("--log")
        .arg(log)
        .arg("--acks")
        .arg(acks)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_writd"))
        .args(["serve", "--config"])
        .arg(config)
        .stdout(Stdio::null())
        .stderr(File::create(log.with_extension("stderr")).unwrap())
        .spawn()
        .unwrap()
}

fn wait_ready(socket: &Path, recorded: &mut Child) {
    let end = Instant::now() + PATIENCE;
    let client = Client::new(socket.to_owned());
    loop {
        let health = client.get("/healthz");
        if health.is_ok_and(|health| health["state"] == json!("ready")) {
            return;
        }
        assert!(recorded.try_wait().unwrap().is_none(), "the recorded daemon has ended");
        assert!(Instant::now() < end, "the recorded daemon is not ready");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sixteen clients, each with writes of its own; every answer is written down when it is there.
fn load(socket: &Path, told: &Arc<Mutex<File>>) -> usize {
    let clients: Vec<_> = (0..CLIENTS)
        .map(|lane| {
            let (client, told) = (Client::new(socket.to_owned()), Arc::clone(told));
            std::thread::spawn(move || one_client(&client, lane, &told))
        })
        .collect();
    clients.into_iter().map(|client| client.join().unwrap()).sum()
}

fn one_client(client: &Client, lane: usize, told: &Mutex<File>) -> usize {
    let mut facts = 0;
    let mut tell = |fact: String| {
        facts += 1;
        writeln!(told.lock().unwrap(), "{fact}").unwrap();
    };
    let run = id_of(&client.open_run(&["commit_address_change.v2"]).unwrap());
    tell(format!("run {run}"));
    for n in 0..WRITES {
        let customer = format!("C-{}", 1_000 + lane * 100 + n);
        let key = format!("power-{lane}-{n}");
        let proposed = client.propose_address(&run, &key, &customer, 1, "Mains Street 1").unwrap();
        tell(fact(&proposed));
        let id = id_of(&proposed);
        if n % 4 == 3 {
            let denied =
                client.named("alice").command(&id, "deny", &json!({"reason": "not this one"})).unwrap();
            tell(fact(&denied));
            continue;
        }
        let approved = client.named("alice").approve(&id).unwrap();
        tell(fact(&approved));
        let ended = client.wait_state(&id, &["succeeded"]);
        tell(fact(&ended));
    }
    facts
}

/// One acknowledged fact, as `writd verify` reads it.
fn fact(operation: &Value) -> String {
    let text = |name: &str| operation[name].as_str().unwrap().to_owned();
    format!("op {} {} {}", text("id"), text("state"), operation["events"])
}

fn terminate(recorded: &mut Child) {
    let term = Command::new("kill").args(["-TERM", &recorded.id().to_string()]).status().unwrap();
    assert!(term.success());
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = recorded.try_wait().unwrap() {
            assert!(status.success(), "the recorded daemon ended with {status}");
            return;
        }
        assert!(Instant::now() < end, "the recorded daemon does not stop");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn check(tool: &Path, log: &Path) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cuts = number("WRITD_POWER_CUTS").unwrap_or(u64::from(CUTS));
    let seed = number("WRITD_SEED").unwrap_or(1);
    // Before there is a store, nobody was told anything.
    let verify = format!(
        "chmod 700 {{dir}} && {{ [ ! -e {{dir}}/store ] && [ ! -s {{acks}} ]; }} || timeout 60 {} verify --state-dir {{dir}} --acks {{acks}}",
        env!("CARGO_BIN_EXE_writd")
    );
    let checked = Command::new(tool)
        .arg("check")
        .arg("--log")
        .arg(log)
        .args([
            "--cuts",
            &cuts.to_string(),
            "--seed",
            &seed.to_string(),
            "--mode",
            "all",
            "--verify",
            &verify,
        ])
        .output()
        .unwrap();
    let words =
        String::from_utf8_lossy(&checked.stdout).into_owned() + &String::from_utf8_lossy(&checked.stderr);
    println!("{words}");
    assert!(checked.status.success(), "a power cut lost something (seed {seed}):\n{words}");
}

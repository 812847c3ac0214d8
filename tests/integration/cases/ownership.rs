//! One directory, one socket, one daemon: decided by what the operating system holds, never by who answers in time.

use std::{
    fs::{self, DirBuilder},
    os::unix::{
        fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::Pair;
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, PATIENCE},
};

/// The exit code of a start that finds another daemon: a conflict.
const ALREADY_RUNNING: Option<i32> = Some(5);
/// The exit code of a command that nobody answers.
const NOT_RUNNING: Option<i32> = Some(8);

/// A start with this configuration that is expected to end by itself.
fn serve(daemon: &Daemon, config: &Path) -> Output {
    command(daemon, config).output().expect("the binary starts")
}

fn command(daemon: &Daemon, config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_writd"));
    command.args(["serve", "--config"]).arg(config).current_dir(daemon.folder());
    command.stdin(Stdio::null());
    command
}

#[track_caller]
fn refused(output: &Output, code: Option<i32>, words: &str) {
    let said = self::words(output);
    assert_eq!(output.status.code(), code, "{said}");
    assert!(said.contains(words), "`{words}` is not in: {said}");
}

/// What it says, on one line: terminals are narrow.
fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn signal(daemon: &Daemon, signal: Signal) {
    let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("the daemon runs");
}

/// The directory that a start would make itself.
fn state_dir(daemon: &Daemon) -> PathBuf {
    DirBuilder::new().mode(0o700).create(daemon.state_dir()).expect("the state directory is made");
    daemon.state_dir()
}

#[test]
fn c64_a_socket_left_by_a_kill_is_no_obstacle() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    daemon.kill();
    let left = fs::symlink_metadata(daemon.socket_path()).expect("a kill leaves the file");
    assert!(left.file_type().is_socket());
    daemon.restart();
    let now = fs::symlink_metadata(daemon.socket_path()).expect("a socket");
    assert_eq!(now.mode() & 0o777, 0o600);
    assert!(daemon.stop().success());
    assert!(!daemon.socket_path().exists(), "an orderly end takes it away");
}

#[test]
fn c64_a_daemon_that_does_not_answer_is_not_dead() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let socket = fs::symlink_metadata(daemon.socket_path()).expect("a socket").ino();
    signal(&daemon, Signal::STOP);
    let second = serve(&daemon, &daemon.config_path());
    refused(&second, ALREADY_RUNNING, "is in use by process");
    refused(&second, ALREADY_RUNNING, &format!("process {}", daemon.pid()));
    signal(&daemon, Signal::CONT);
    let id = pair.approved("k", "C-1");
    pair.agent.wait_state(&id, &["succeeded"]);
    assert_eq!(fs::symlink_metadata(daemon.socket_path()).expect("a socket").ino(), socket);
    assert!(daemon.stop().success());
}

#[test]
fn c64_what_is_no_dead_socket_stays() {
    let sandbox = Sandbox::start();
    let place = |put: &dyn Fn(&Path)| {
        let daemon = Setup::new(&sandbox).prepare();
        put(&state_dir(&daemon).join("writd.sock"));
        let before = fs::symlink_metadata(daemon.socket_path()).expect("it is there");
        let output = serve(&daemon, &daemon.config_path());
        assert_eq!(output.status.code(), NOT_RUNNING, "{output:?}");
        let after = fs::symlink_metadata(daemon.socket_path()).expect("it is still there");
        assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
        (daemon, words(&output))
    };
    let (daemon, why) = place(&|path| fs::write(path, "precious").expect("a file"));
    assert!(why.contains("a regular file stands where the socket should be"), "{why}");
    assert_eq!(fs::read_to_string(daemon.socket_path()).expect("a file"), "precious");
    let (daemon, why) = place(&|path| {
        fs::create_dir(path).expect("a directory");
        fs::write(path.join("precious"), "").expect("a file");
    });
    assert!(why.contains("a directory stands where"), "{why}");
    assert!(daemon.socket_path().join("precious").exists());
    let target = sandbox.ledger_path().with_file_name("target");
    fs::write(&target, "precious").expect("a file");
    let (_, why) = place(&|path| symlink(&target, path).expect("a link"));
    assert!(why.contains("a symbolic link stands where"), "{why}");
    assert_eq!(fs::read_to_string(&target).expect("a file"), "precious");
    // A socket on which somebody listens who is not a daemon, and a link to a dead one.
    let listeners = std::cell::RefCell::new(Vec::new());
    let (_, why) = place(&|path| listeners.borrow_mut().push(UnixListener::bind(path).expect("a socket")));
    assert!(why.contains("another process listens on this socket"), "{why}");
    let dead = sandbox.ledger_path().with_file_name("dead.sock");
    drop(UnixListener::bind(&dead).expect("a socket"));
    let (_, why) = place(&|path| symlink(&dead, path).expect("a link"));
    assert!(why.contains("a symbolic link stands where"), "{why}");
    assert!(dead.exists());
}

#[test]
fn c64_of_twenty_starts_one_wins() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).prepare();
    let spawn = |_| {
        let mut command = daemon.command(&["serve"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Family(command.spawn().expect("the binary starts"))
    };
    let mut family: Vec<Family> = (0..20).map(spawn).collect();
    let (until, mut ended) = (Instant::now() + PATIENCE, Vec::new());
    while ended.len() < 19 {
        assert!(Instant::now() < until, "{} of 20 have ended: {ended:?}", ended.len());
        family.retain_mut(|one| match one.0.try_wait().expect("a child can be asked") {
            Some(status) => {
                ended.push(status.code());
                false
            }
            None => true,
        });
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ended, [ALREADY_RUNNING; 19]);
    let client = daemon.anonymous();
    let health = loop {
        match client.get("/readyz") {
            Ok(health) => break health,
            Err(trouble) => assert!(Instant::now() < until, "{trouble}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(health["pid"], family[0].0.id());
    assert!(family[0].0.try_wait().expect("a child can be asked").is_none());
}

/// A process that does not outlive its test.
struct Family(Child);

impl Drop for Family {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another configuration beside the daemon's own, with these keys in `[daemon]`.
fn variant(daemon: &Daemon, name: &str, keys: &str) -> PathBuf {
    let own = fs::read_to_string(daemon.config_path()).expect("the configuration");
    let path = daemon.folder().join(name);
    fs::write(&path, own.replacen("[daemon]\n", &format!("[daemon]\n{keys}\n"), 1)).expect("it is written");
    path
}

#[test]
fn c66_two_daemons_never_share_a_directory() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    symlink(daemon.state_dir(), daemon.folder().join("alias")).expect("a link");
    let other_socket = variant(&daemon, "socket.toml", "socket = \"state/other.sock\"");
    let by_a_link = variant(&daemon, "link.toml", "state_dir = \"alias\"\nsocket = \"alias/other.sock\"");
    for config in [&other_socket, &by_a_link] {
        let second = serve(&daemon, config);
        refused(&second, ALREADY_RUNNING, &format!("process {}", daemon.pid()));
        assert!(!daemon.state_dir().join("other.sock").exists());
    }
    // The first has not noticed anything; and its death frees the directory at once, whatever lies around.
    let id = pair.approved("k", "C-1");
    pair.agent.wait_state(&id, &["succeeded"]);
    for _ in 0..3 {
        daemon.kill();
        daemon.restart();
    }
    assert_eq!(pair.agent.operation(&id).expect("an operation")["state"], "succeeded");
    // Through the link it is the same directory for whoever comes first, too.
    daemon.kill();
    let mut command = command(&daemon, &by_a_link);
    let first = Family(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    let client = Client::new(daemon.state_dir().join("other.sock"));
    let until = Instant::now() + PATIENCE;
    while client.get("/readyz").is_err() {
        assert!(Instant::now() < until, "it does not get ready");
        thread::sleep(Duration::from_millis(5));
    }
    let second = serve(&daemon, &daemon.config_path());
    refused(&second, ALREADY_RUNNING, &format!("process {}", first.0.id()));
}

/// Names, sizes and times of every file below.
fn listing(folder: &Path) -> Vec<(PathBuf, u64, i64, i64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let found = fs::symlink_metadata(&path).expect("a file");
        all.push((path.clone(), found.len(), found.mtime(), found.mtime_nsec()));
        if found.is_dir() {
            all.extend(listing(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn c66_without_a_daemon_commands_touch_nothing() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let id = pair.proposed("k", "C-1");
    let digest = pair.agent.operation(&id).expect("an operation")["proposal_sha256"].clone();
    let digest = digest.as_str().expect("a digest");
    daemon.kill();
    let before = listing(&daemon.state_dir());
    let commands: [&[&str]; 4] = [
        &["inbox", "--as", "alice"],
        &["op", "approve", &id, "--digest", digest, "--as", "alice"],
        &["op", "cancel", &id],
        &["run", "open", "--purpose", "a test", "--tool", "commit_address_change.v2"],
    ];
    for arguments in commands {
        let output = daemon.command(arguments).output().expect("the binary starts");
        refused(&output, NOT_RUNNING, "the daemon is not running");
    }
    assert_eq!(listing(&daemon.state_dir()), before);
    daemon.restart();
    assert_eq!(pair.agent.operation(&id).expect("an operation")["state"], "proposed");
}

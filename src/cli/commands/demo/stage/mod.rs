//! What the scenes play on: a private directory, the sandbox and the daemon as two processes, and the people. Everything
//! ends with it.

mod child;
mod folder;
mod people;
mod world;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::api::wire::Health;
use crate::cli::client::{Ask, Client};
use crate::cli::failure::Failure;
use child::Process;
use folder::Folder;
pub(crate) use people::{People, Written, address, refusal};
pub(crate) use world::World;

/// How long a process may take to be ready; a busy machine is slow, a broken one does not get better.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at a process that starts.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How much of the daemon's log is shown when it does not start.
const LOG_LINES: usize = 10;

/// The stage. Members are dropped in this order: the processes before their directory.
pub(crate) struct Stage {
    daemon: Option<Process>,
    sandbox: Process,
    // Kept open: a service whose standard output is gone would fail to print.
    _sandbox_out: BufReader<ChildStdout>,
    /// The sandbox, from outside.
    pub(crate) world: World,
    /// Who speaks to the daemon.
    pub(crate) people: People,
    folder: Folder,
}

impl Stage {
    /// Starts sandbox and daemon.
    pub(crate) async fn set(keep: bool) -> Result<Stage, Failure> {
        let folder = Folder::make(keep)?;
        let (sandbox, out, world) = start_sandbox(&folder)?;
        folder.furnish(&world.origin())?;
        let people = People::at(&folder.socket());
        let mut stage = Stage { daemon: None, sandbox, _sandbox_out: out, world, people, folder };
        stage.start_daemon().await?;
        Ok(stage)
    }

    /// The processes, for people: daemon and sandbox.
    pub(crate) fn processes(&self) -> (u32, u32) {
        (self.daemon.as_ref().map_or(0, Process::id), self.sandbox.id())
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the daemon by SIGKILL.
    pub(crate) fn kill_daemon(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.kill();
        }
    }

    /// Starts the daemon on the same directory and waits until it answers.
    pub(crate) async fn start_daemon(&mut self) -> Result<(), Failure> {
        let log = self.folder.log();
        let file = File::options().create(true).append(true).open(&log);
        let file = file.map_err(|error| Failure::File { path: log.clone(), error })?;
        let config = self.folder.config();
        let arguments = ["serve".as_ref(), "--config".as_ref(), config.as_os_str()];
        let daemon = Process::start(arguments, Stdio::null(), Stdio::from(file));
        let daemon =
            daemon.map_err(|error| Failure::internal(format!("the daemon cannot be started: {error}")))?;
        let daemon = self.daemon.insert(daemon);
        let client = Client::new(self.folder.socket(), None);
        let until = Instant::now() + PATIENCE;
        loop {
            if client.ask::<Health>(Ask::get("/readyz")).await.is_ok() {
                return Ok(());
            }
            let late = (Instant::now() > until).then(|| "it does not get ready".to_owned());
            if let Some(how) = daemon.ended().or(late) {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                let lines: Vec<&str> = log.lines().rev().take(LOG_LINES).collect();
                let lines: Vec<&str> = lines.into_iter().rev().collect();
                return Err(Failure::internal(format!(
                    "the daemon does not start: {how}: {}",
                    lines.join(" | ")
                )));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Ends both processes in good order.
    pub(crate) fn clear(mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.stop();
        }
        self.sandbox.stop();
    }
}

fn start_sandbox(folder: &Folder) -> Result<(Process, BufReader<ChildStdout>, World), Failure> {
    let broken = |why: String| Failure::internal(format!("the sandbox cannot be started: {why}"));
    let ledger = folder.ledger();
    let arguments = ["sandbox".as_ref(), "customers".as_ref(), "--ledger".as_ref(), ledger.as_os_str()];
    let mut sandbox = Process::start(arguments, Stdio::piped(), Stdio::inherit())
        .map_err(|error| broken(error.to_string()))?;
    let out = sandbox.stdout().ok_or_else(|| broken("it has no output".to_owned()))?;
    let mut out = BufReader::new(out);
    let mut line = String::new();
    out.read_line(&mut line).map_err(|error| broken(error.to_string()))?;
    match line.trim().strip_prefix("listening on http://").map(str::parse) {
        Some(Ok(address)) => Ok((sandbox, out, World::new(address))),
        _ => Err(broken(format!("it said `{}`", line.trim()))),
    }
}

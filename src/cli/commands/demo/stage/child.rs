//! This program again, as a process of its own. It ends with whoever holds it, also when that one panics.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a process may take to end in good order before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at it.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A process of ours. Dropping it kills it.
pub(super) struct Process(Child);

impl Process {
    /// Starts this program with these arguments. Settings of the caller's environment are not passed on: the
    /// demonstration has its own.
    pub(super) fn start<S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        out: Stdio,
        err: Stdio,
    ) -> io::Result<Process> {
        let mut command = Command::new(std::env::current_exe()?);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WRITD_"))
        {
            command.env_remove(name);
        }
        Ok(Process(command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err).spawn()?))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.0.stdout.take()
    }

    /// Whether it has ended by itself, and how.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.0.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// SIGKILL: nothing is flushed, nothing is finished.
    pub(super) fn kill(mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// SIGTERM, and SIGKILL if that is not enough.
    pub(super) fn stop(&mut self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.ended().is_none()) {
            let _ = kill_process(pid, Signal::TERM);
            let until = Instant::now() + PATIENCE;
            while self.ended().is_none() && Instant::now() < until {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has ended is not signalled: its number may belong to another one by now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

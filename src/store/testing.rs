//! What tests of the store need of the machine: child processes to kill, small file systems.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

const DIR: &str = "WRITD_TEST_CHILD_DIR";
const MARK: &str = "child says: ";

/// A test of this binary (marked `ignore`) that runs in a process of its own.
pub(crate) struct Child {
    process: std::process::Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts the test of this full name; it finds `dir` by [`Child::dir`].
    pub(crate) fn start(test: &str, dir: &Path) -> Child {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
            .env(DIR, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Child { process, lines }
    }

    /// In the child: its directory, or `None` if the test was started by hand.
    pub(crate) fn dir() -> Option<PathBuf> {
        std::env::var_os(DIR).map(PathBuf::from)
    }

    /// In the child: a line for the parent.
    pub(crate) fn say(text: &str) {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{MARK}{text}").unwrap();
        out.flush().unwrap();
    }

    /// The next line that the child has said; `None` once it has ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(MARK).map(str::to_owned))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// SIGKILL, and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A mounted file system, unmounted when dropped.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// A small file system in memory; `None`, with a loud word, if this user may not mount.
    pub(crate) fn tmpfs(megabytes: u32, at: &Path) -> Option<Mount> {
        Mount::run(&["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=0700"), "tmpfs"], at)
    }

    /// `from`, seen at `at`.
    pub(crate) fn bind(from: &Path, at: &Path) -> Option<Mount> {
        Mount::run(&["--bind", from.to_str().unwrap()], at)
    }

    fn run(args: &[&str], at: &Path) -> Option<Mount> {
        let done = Command::new("mount").args(args).arg(at).output();
        if done.as_ref().is_ok_and(|done| done.status.success()) {
            return Some(Mount(at.to_owned()));
        }
        // Past the capture of the test harness.
        let _ =
            writeln!(std::io::stderr(), "\nNOT TESTED: this user may not mount file systems ({done:?})\n");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

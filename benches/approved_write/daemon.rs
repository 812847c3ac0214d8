//! The real daemon, in a directory of its own, and what the kernel says it used.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) struct Daemon {
    child: Child,
    pub(crate) socket: PathBuf,
}

/// What a process has used so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// User and system time, in milliseconds.
    pub(crate) cpu_ms: f64,
    /// Bytes that it caused to be written to the device.
    pub(crate) device_bytes: u64,
    /// Peak memory, in KiB.
    pub(crate) peak_kib: u64,
    /// Flushes of the whole device, in the machine.
    pub(crate) flushes: u64,
}

/// Where the stores lie: on the disk of the checkout, not in a memory file system.
pub(crate) fn base_dir() -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target").join("bench");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

impl Daemon {
    pub(crate) fn start(dir: &Path, origin: &str) -> Daemon {
        let workflows = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/customers");
        let config = format!(
            "[daemon]\nstate_dir = \"state\"\nsocket = \"state/s\"\ncontracts = {workflows:?}\n[limits]\nmax_concurrent_attempts = 256\n[log]\nlevel = \"error\"\n[[base]]\nname = \"crm\"\norigin = \"{origin}\"\nmax_connections = 256\n"
        );
        std::fs::write(dir.join("daemon.toml"), config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_writd"))
            .args(["serve", "--config"])
            .arg(dir.join("daemon.toml"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the daemon did not start");
        Daemon { child, socket: dir.join("state/s") }
    }

    /// Ends it like a crash.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) fn usage(&self) -> Usage {
        let pid = self.child.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        let value = |file: &str, name: &str| -> u64 {
            let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap_or(0)
        };
        Usage {
            // A tick is 10 ms on every Linux that this runs on.
            cpu_ms: (ticks(11) + ticks(12)) * 10.0,
            device_bytes: value("io", "write_bytes:"),
            peak_kib: value("status", "VmHWM:"),
            flushes: flushes(),
        }
    }
}

/// Flushes of all disks since boot; the 20th field of a line of `/proc/diskstats`.
fn flushes() -> u64 {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().nth(18)?.parse::<u64>().ok()).sum()
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

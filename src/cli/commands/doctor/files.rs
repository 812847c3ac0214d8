//! The socket file, the state directory, and the clock beside them.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Check;
use crate::config::Config;

/// What stands at the path, with which permissions, in which directory.
pub(super) fn socket(path: &Path, config: Option<&Config>, checks: &mut Vec<Check>) {
    let shown = path.display();
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => checks.push(Check::bad(
            "socket",
            format!("{shown} is not a socket"),
            "the daemon never removes it; move it away, or choose another path in daemon.toml",
        )),
        Ok(found) => {
            let mode = found.permissions().mode() & 0o777;
            let wanted =
                config.filter(|config| config.daemon.socket == path).map(|config| config.daemon.socket_mode);
            match wanted {
                Some(wanted) if wanted != mode => checks.push(Check::bad(
                    "socket",
                    format!("{shown} has mode {mode:04o}, daemon.toml says {wanted:04o}"),
                    "start the daemon again, and find out who changed it",
                )),
                _ if mode & 0o007 != 0 => checks.push(Check::bad(
                    "socket",
                    format!("{shown} has mode {mode:04o}: every account may use it"),
                    "set socket_mode in daemon.toml to 0600 or 0660",
                )),
                _ => checks.push(Check::good("socket", format!("{shown}, mode {mode:04o}"))),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            checks.push(Check::bad(
                "socket",
                format!("{shown} does not exist"),
                "start the daemon: writd serve",
            ));
        }
        Err(error) => {
            checks.push(Check::bad("socket", format!("{shown}: {error}"), "check the directories above it"))
        }
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    private("socket directory", parent, checks);
}

/// A directory in which only its owner, who is us or root, can put things.
fn private(name: &'static str, dir: &Path, checks: &mut Vec<Check>) {
    let Ok(found) = std::fs::metadata(dir) else { return };
    let mode = found.permissions().mode() & 0o777;
    let shown = dir.display();
    if mode & 0o022 != 0 {
        checks.push(Check::bad(
            name,
            format!("{shown} has mode {mode:04o}: others can put things into it"),
            format!("chmod go-w {shown}"),
        ));
    } else {
        checks.push(Check::good(name, format!("{shown}, mode {mode:04o}, owner {}", found.uid())));
    }
}

/// The directory of the run-time data.
pub(super) fn state(config: &Config, checks: &mut Vec<Check>) {
    let dir = &config.daemon.state_dir;
    match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => {
            checks.push(Check::bad(
                "state",
                format!("{} is not a directory", dir.display()),
                "see state_dir in daemon.toml",
            ));
        }
        Ok(_) => private("state", dir, checks),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            checks.push(Check::good(
                "state",
                format!("{} does not exist yet; the first start makes it", dir.display()),
            ));
        }
        Err(error) => {
            checks.push(Check::bad(
                "state",
                format!("{}: {error}", dir.display()),
                "see state_dir in daemon.toml",
            ));
        }
    }
}

/// How far a file may lie in the future before the clock is doubted: rounding of file systems, with room.
const AHEAD: Duration = Duration::from_secs(60);

/// A clock that was set back makes expired approvals look fresh; the files of the state directory remember later times.
pub(super) fn clock(config: &Config, checks: &mut Vec<Check>) {
    let now = SystemTime::now();
    let newest = std::fs::read_dir(&config.daemon.state_dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.metadata().ok()?.modified().ok())
        .max();
    match newest.and_then(|newest| newest.duration_since(now).ok()) {
        Some(ahead) if ahead > AHEAD => checks.push(Check::bad(
            "clock",
            format!(
                "it stands {} before the last change of the state directory",
                humantime::format_duration(whole(ahead))
            ),
            "set the clock; clocks of proposals and approvals go by it",
        )),
        _ => checks.push(Check::good("clock", "not behind the state directory")),
    }
}

fn whole(span: Duration) -> Duration {
    Duration::from_secs(span.as_secs())
}

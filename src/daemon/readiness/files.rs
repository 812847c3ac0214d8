//! Files, socket and bounds: who can come in, who can change the rules, and is there room for outcomes.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use super::{Gap, Look, Report};
use crate::config::LogLevel;

/// Room for the outcome of one attempt: its records, with what is kept of a large answer.
const OUTCOME_BYTES: u64 = 128 * 1024;
/// An unknown outcome that nobody is told of for longer than this is forgotten.
const LATE: Duration = Duration::from_secs(4 * 3600);
/// An approval that is good for longer than this was given for another day.
const LONG: Duration = Duration::from_secs(24 * 3600);

pub(super) fn check(look: Look<'_>, report: &mut Report) {
    socket(look, report);
    state(look, report);
    for path in [look.file, Some(look.config.daemon.contracts.as_path())].into_iter().flatten() {
        let others = metadata(path).is_ok_and(|found| found.mode() & 0o022 != 0);
        if others {
            let meaning = "other accounts can change it, and with it what is written and who approves";
            let remedy = format!("chmod -R go-w {}", path.display());
            report.add(Gap::FilesOpen, path.display().to_string(), meaning, remedy);
        }
    }
    limits(look, report);
}

fn socket(look: Look<'_>, report: &mut Report) {
    let daemon = &look.config.daemon;
    let place = "daemon.socket_mode";
    let others = look.config.principals.iter().flat_map(|known| &known.uids).any(|uid| *uid != look.own_uid);
    let (group, world) = (daemon.socket_mode & 0o070 != 0, daemon.socket_mode & 0o007 != 0);
    let open =
        |meaning: &str| (meaning.to_owned(), "set socket_mode = \"0600\", or \"0660\" with socket_group");
    let found = if world {
        Some(open("every account of the machine can connect"))
    } else if group && !others {
        Some(open("a group can connect, and no other account has a name"))
    } else if group && daemon.socket_group.is_none() {
        Some(open("the group of the daemon can connect, whoever is in it"))
    } else {
        None
    };
    if let Some((meaning, remedy)) = found {
        report.add(Gap::SocketOpen, place, format!("mode {:04o}: {meaning}", daemon.socket_mode), remedy);
    }
    if others && !group && !world {
        let meaning = "principals have other accounts, and those cannot connect";
        report.add(Gap::SocketClosed, place, meaning, "set socket_mode = \"0660\" and socket_group");
    }
}

fn state(look: Look<'_>, report: &mut Report) {
    let dir: &Path = &look.config.daemon.state_dir;
    // The first start makes it, closed.
    let Ok(found) = metadata(dir) else { return };
    let place = dir.display().to_string();
    let mode = found.mode() & 0o777;
    // The daemon's group may pass through to the socket.
    let passage = if look.config.daemon.socket.starts_with(dir) { 0o010 } else { 0 };
    if mode & 0o077 & !passage != 0 {
        let meaning = format!("mode {mode:04o}: others can look into the store");
        report.add(Gap::StateOpen, &place, meaning, format!("chmod 700 {place}"));
    }
    if found.uid() != look.own_uid {
        let meaning = format!("it belongs to the uid {}", found.uid());
        report.add(Gap::StateNotOurs, &place, meaning, "run the daemon under the account that owns it");
    }
}

fn limits(look: Look<'_>, report: &mut Report) {
    let config = look.config;
    let attempts = u64::try_from(config.limits.max_concurrent_attempts).unwrap_or(u64::MAX);
    if config.store.reserve < attempts.saturating_mul(OUTCOME_BYTES) {
        report.add(
            Gap::ReserveSmall,
            "store.reserve",
            format!("too little for the outcomes of {attempts} attempts when the disk is full"),
            "128KiB for each of limits.max_concurrent_attempts, or fewer of those",
        );
    }
    if config.reconcile.escalate_after > LATE {
        let meaning = "a person is told of an unknown outcome after more than four hours";
        report.add(Gap::EscalatesLate, "reconcile.escalate_after", meaning, "make it shorter");
    }
    if config.approval.execute_within_max > LONG {
        let meaning = "an approval may be used more than a day later";
        report.add(Gap::LongClocks, "approval.execute_within_max", meaning, "make it shorter");
    }
    match config.log.level {
        LogLevel::Debug | LogLevel::Trace => {
            let meaning = "more than operations need, on every request";
            report.add(Gap::LogVerbose, "log.level", meaning, "set level = \"info\"");
        }
        LogLevel::Error | LogLevel::Warn | LogLevel::Info => {}
    }
}

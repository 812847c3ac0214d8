//! One daemon per state directory: a lock that the operating system holds and lets go.
//!
//! The composition root takes it before it opens the store, and holds it for life. It lies inside the directory, so
//! that it is the same through every path to it (symbolic links, bind mounts). The file that a crash leaves behind is
//! no obstacle: what counts is the lock on it, not its being there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::domain::Time;

/// The name of the lock file in the state directory.
const NAME: &str = "lock";
/// How often the file may be replaced by somebody between being opened and being locked.
const TRIES: usize = 5;
/// How long a lock that this process itself has let go may be kept by a child between its fork and its exec.
const OWN_CHILD_PATIENCE: Duration = Duration::from_millis(500);
/// Between two tries of it.
const OWN_CHILD_PAUSE: Duration = Duration::from_millis(10);
/// Permission bits that let group or others in.
const OTHERS: u32 = 0o077;
/// More than the lock file ever holds.
const MAX_NOTE_BYTES: u64 = 256;

/// The lock of a state directory. Released when dropped, and by the end of the process however it comes.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

/// The state directory cannot be used by this process. Nothing in it was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("the state directory {dir} is in use by {}", holder(*.pid, since.as_deref()))]
    Held {
        /// The state directory.
        dir: PathBuf,
        /// The process that holds it, if it has already said so.
        pid: Option<u32>,
        /// Since when, in RFC 3339.
        since: Option<String>,
    },
    /// It lets others in; it holds proposals, receipts and keys.
    #[error("the state directory {dir} is open to other users (mode {mode:04o}): run `chmod 700` on it")]
    NotPrivate {
        /// The state directory.
        dir: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It belongs to another user.
    #[error("the state directory {dir} belongs to user {owner}, this process runs as user {me}")]
    NotOwned {
        /// The state directory.
        dir: PathBuf,
        /// Its owner.
        owner: u32,
        /// The effective user of this process.
        me: u32,
    },
    /// It is a file, a socket or the like.
    #[error("{dir} is not a directory")]
    NotADirectory {
        /// The path.
        dir: PathBuf,
    },
    /// The file system answered with an error.
    #[error("{path} cannot be used as a lock: {what}")]
    Io {
        /// The directory or the lock file.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
}

fn holder(pid: Option<u32>, since: Option<&str>) -> String {
    match (pid, since) {
        (Some(pid), Some(since)) => format!("process {pid}, since {since}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another process".to_owned(),
    }
}

impl StateLock {
    /// Takes the lock of a state directory, which must exist, belong to this user and be closed to others. `now` is
    /// noted in the file for the message that a second daemon prints.
    ///
    /// # Errors
    /// The directory is held, not private, or unusable.
    pub fn acquire(dir: &Path, now: Time) -> Result<StateLock, LockError> {
        let patience = Instant::now() + OWN_CHILD_PATIENCE;
        loop {
            match StateLock::try_acquire(dir, now) {
                // Our own lock of a moment ago: a child of this process that has not yet come from its fork to its exec
                // keeps it for that long. Nobody else's lock is waited for.
                Err(LockError::Held { pid: Some(pid), .. })
                    if pid == std::process::id() && Instant::now() < patience =>
                {
                    std::thread::sleep(OWN_CHILD_PAUSE);
                }
                taken => return taken,
            }
        }
    }

    fn try_acquire(dir: &Path, now: Time) -> Result<StateLock, LockError> {
        refuse_shared(dir)?;
        let path = dir.join(NAME);
        let failed = |error: io::Error| LockError::Io { path: path.clone(), what: error.to_string() };
        for _ in 0..TRIES {
            let mut file = open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(dir, file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if is_still_at(&file, &path).map_err(failed)? {
                note(&mut file, now).map_err(failed)?;
                return Ok(StateLock { _file: file });
            }
        }
        let what = "it is being replaced again and again".to_owned();
        Err(LockError::Io { path, what })
    }
}

fn refuse_shared(dir: &Path) -> Result<(), LockError> {
    let found =
        fs::metadata(dir).map_err(|error| LockError::Io { path: dir.to_owned(), what: error.to_string() })?;
    if !found.is_dir() {
        return Err(LockError::NotADirectory { dir: dir.to_owned() });
    }
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me {
        return Err(LockError::NotOwned { dir: dir.to_owned(), owner: found.uid(), me });
    }
    let mode = found.mode() & 0o7777;
    if mode & OTHERS != 0 {
        return Err(LockError::NotPrivate { dir: dir.to_owned(), mode });
    }
    Ok(())
}

/// Never truncates: the file may be another's. Never follows a link: the lock lies inside the directory.
fn open(path: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)
}

/// Whether the locked file is the one that the next process will open.
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let locked = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok(named.ino() == locked.ino() && named.dev() == locked.dev()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn note(file: &mut File, now: Time) -> io::Result<()> {
    file.set_len(0)?;
    write!(file, "{}\n{now}\n", std::process::id())
}

fn held(dir: &Path, file: File) -> LockError {
    let mut text = String::new();
    // Without the note the refusal is the same, only less helpful.
    let _ = file.take(MAX_NOTE_BYTES).read_to_string(&mut text);
    let mut lines = text.lines();
    let pid = lines.next().and_then(|line| line.parse().ok());
    let since = lines.next().and_then(|line| line.parse::<Time>().ok()).map(|time| time.to_string());
    LockError::Held { dir: dir.to_owned(), pid, since }
}

#[cfg(test)]
mod tests;

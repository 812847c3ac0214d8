//! The socket's file: bound so that it is never open to more than it should be, and never over anything that is not a
//! dead socket.
//!
//! The caller holds the lock of the state directory: that, and not an answer to a ping, says that no other daemon
//! lives here. Under the lock a socket that refuses connections is removed; whatever else stands at the path stays.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Gid, RenameFlags, chown, renameat_with};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use tokio::net::UnixListener;

/// Connections that wait in the kernel until they are accepted; as many as may be open.
const BACKLOG: i32 = 512;
/// Others who could write to the directory could put a socket of their own in our place.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why the socket is not bound. Nothing at its path was changed, except that a dead socket may be gone.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The directory is not there, or is none.
    #[error("{}: the directory of the socket cannot be used: {source}", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others may write to the directory, or it belongs to somebody else.
    #[error(
        "{}: the directory of the socket is not private (mode {mode:04o}, owner {uid}): it must belong to the daemon's account and be writable by it alone; `chmod go-w` it",
        path.display()
    )]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Its owner.
        uid: u32,
    },
    /// Something that is no socket.
    #[error("{}: {what} stands where the socket should be; it stays untouched. Move it away, or set daemon.socket", path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Somebody answers there.
    #[error("{}: another process listens on this socket; it stays untouched. Stop it, or set daemon.socket", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// A socket of which nobody can say whether it is dead.
    #[error("{}: it cannot be told whether this socket is dead ({source}); it stays untouched", path.display())]
    Ambiguous {
        /// The path.
        path: PathBuf,
        /// What came instead of a refusal.
        source: io::Error,
    },
    /// The system says no.
    #[error("{}: the socket cannot be made: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A socket that listens.
#[derive(Debug)]
pub struct Bound {
    listener: UnixListener,
    path: PathBuf,
    identity: (u64, u64),
}

impl Bound {
    pub(super) fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stops listening and removes the file, if it is still this socket's.
    pub fn close(self) {
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "the socket's file could not be removed");
        }
    }
}

fn identity(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Binds the socket with these permissions and this group. The caller holds the lock of the state directory. Needs a
/// running tokio.
///
/// # Errors
/// [`BindError`].
pub fn bind_socket(path: &Path, mode: u32, group: Option<u32>) -> Result<Bound, BindError> {
    check_directory(path)?;
    make_way(path)?;
    let io = |source: io::Error| BindError::Io { path: path.to_owned(), source };
    let fresh = fresh_path(path);
    remove_left_over(&fresh)?;
    let socket = bind_fresh(&fresh, mode, group).map_err(|error| {
        let _ = fs::remove_file(&fresh);
        io(error)
    })?;
    let moved = renameat_with(CWD, &fresh, CWD, path, RenameFlags::NOREPLACE);
    if let Err(error) = moved {
        let _ = fs::remove_file(&fresh);
        return Err(match error {
            Errno::EXIST => BindError::Occupied { path: path.to_owned(), what: "something new" },
            other => io(other.into()),
        });
    }
    let found = fs::symlink_metadata(path).map_err(io)?;
    let listener = std::os::unix::net::UnixListener::from(socket);
    let listener =
        listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener)).map_err(io)?;
    Ok(Bound { listener, path: path.to_owned(), identity: identity(&found) })
}

/// A name beside the path: permissions are set there before anybody looks for it at the path itself.
fn fresh_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}

/// Bound, restricted, and only then listening: before that every connection is refused, whatever the umask was.
fn bind_fresh(fresh: &Path, mode: u32, group: Option<u32>) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrUnix::new(fresh)?)?;
    if let Some(group) = group {
        chown(fresh, None, Some(Gid::from_raw(group)))?;
    }
    fs::set_permissions(fresh, fs::Permissions::from_mode(mode))?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_directory(path: &Path) -> Result<(), BindError> {
    let directory = directory_of(path);
    let unusable = |source| BindError::NoDirectory { path: directory.to_owned(), source };
    let found = fs::metadata(directory).map_err(unusable)?;
    if !found.is_dir() {
        return Err(unusable(io::Error::from(io::ErrorKind::NotADirectory)));
    }
    let (mode, uid) = (found.mode() & 0o7777, found.uid());
    let trusted = uid == rustix::process::geteuid().as_raw() || uid == 0;
    if mode & WRITABLE_BY_OTHERS != 0 || !trusted {
        return Err(BindError::NotPrivate { path: directory.to_owned(), mode, uid });
    }
    Ok(())
}

/// What a start left that was killed between bind and rename. Only sockets are ever made under this name.
fn remove_left_over(fresh: &Path) -> Result<(), BindError> {
    match fs::symlink_metadata(fresh) {
        Err(_) => Ok(()),
        Ok(found) if found.file_type().is_socket() => {
            fs::remove_file(fresh).map_err(|source| BindError::Io { path: fresh.to_owned(), source })
        }
        Ok(found) => Err(BindError::Occupied { path: fresh.to_owned(), what: what_is(&found) }),
    }
}

/// Removes a dead socket, and nothing else.
fn make_way(path: &Path) -> Result<(), BindError> {
    let io = |source| BindError::Io { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    if !found.file_type().is_socket() {
        return Err(BindError::Occupied { path: path.to_owned(), what: what_is(&found) });
    }
    match probe(path) {
        Ok(()) => Err(BindError::InUse { path: path.to_owned() }),
        Err(Errno::CONNREFUSED) => {
            let same = fs::symlink_metadata(path).is_ok_and(|now| identity(&now) == identity(&found));
            if same {
                fs::remove_file(path).map_err(io)?;
            }
            Ok(())
        }
        // A full queue, a missing permission, another kind of socket: alive or dead, nobody can say.
        Err(error) => Err(BindError::Ambiguous { path: path.to_owned(), source: error.into() }),
    }
}

/// Asks the kernel, not the process: a connection is accepted or refused without anybody answering, and a full queue
/// does not make this wait.
fn probe(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)
}

fn what_is(found: &fs::Metadata) -> &'static str {
    let kind = found.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_file() {
        "a regular file"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "something that is no socket"
    }
}

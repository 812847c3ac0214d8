//! The socket's file (C64) and its connections.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::settings;
use crate::api::socket::{BindError, Bound, bind_socket};
use crate::api::{Api, Settings};

fn directory() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let path = directory.path().join("writd.sock");
    (directory, path)
}

fn bind(path: &Path) -> Result<Bound, BindError> {
    bind_socket(path, 0o600, None)
}

/// A socket whose process is gone.
fn dead_socket(path: &Path) {
    drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    assert!(path.exists());
}

#[tokio::test]
async fn a_free_path_gets_a_socket_with_its_mode_and_a_stop_removes_it() {
    let (directory, path) = directory();
    for mode in [0o600, 0o660] {
        let bound = bind_socket(&path, mode, None).unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.mode() & 0o777, mode);
        UnixStream::connect(&path).await.unwrap();
        bound.close();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left over");
    }
}

#[tokio::test]
async fn a_dead_socket_is_replaced() {
    let (directory, path) = directory();
    dead_socket(&path);
    dead_socket(&directory.path().join(".writd.sock.new"));
    let bound = bind(&path).unwrap();
    UnixStream::connect(&path).await.unwrap();
    bound.close();
}

#[tokio::test]
async fn a_live_socket_stays_also_when_nobody_answers() {
    let (_directory, path) = directory();
    let live = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let before = fs::symlink_metadata(&path).unwrap().ino();
    assert!(matches!(bind(&path), Err(BindError::InUse { .. })));
    // Its queue is full and nobody takes from it, as with a stopped process: alive or dead cannot be told.
    let mut waiting = Vec::new();
    let full = loop {
        match bind(&path) {
            Err(BindError::InUse { .. }) => waiting.push(nonblocking_connection(&path)),
            other => break other,
        }
        assert!(waiting.len() < 100_000, "the queue has an end");
    };
    assert!(matches!(full, Err(BindError::Ambiguous { .. })), "{full:?}");
    assert_eq!(fs::symlink_metadata(&path).unwrap().ino(), before, "untouched");
    drop(live);
}

fn nonblocking_connection(path: &Path) -> Option<std::os::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(path).unwrap()).ok().map(|()| socket)
}

#[tokio::test]
async fn what_is_no_socket_is_never_touched() {
    let (directory, path) = directory();
    let refused = |what: &str| match bind(&path) {
        Err(BindError::Occupied { what: found, .. }) => assert_eq!(found, what),
        other => panic!("{other:?}"),
    };
    fs::write(&path, "precious").unwrap();
    refused("a regular file");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    refused("a directory");
    fs::remove_dir(&path).unwrap();

    // Also when it points to a dead socket, or nowhere.
    let elsewhere = directory.path().join("elsewhere.sock");
    dead_socket(&elsewhere);
    for target in [elsewhere.as_path(), Path::new("nowhere")] {
        symlink(target, &path).unwrap();
        refused("a symbolic link");
        assert_eq!(fs::read_link(&path).unwrap(), target);
        fs::remove_file(&path).unwrap();
    }
    assert!(elsewhere.exists());

    fs::write(directory.path().join(".writd.sock.new"), "x").unwrap();
    refused("a regular file");
}

#[tokio::test]
async fn a_directory_that_others_may_write_to_is_refused() {
    let (directory, path) = directory();
    for mode in [0o770, 0o707, 0o1777] {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).unwrap();
        match bind(&path) {
            Err(BindError::NotPrivate { mode: found, .. }) => assert_eq!(found, mode),
            other => panic!("{other:?}"),
        }
    }
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    bind(&path).unwrap().close();
    let missing = directory.path().join("missing/writd.sock");
    assert!(matches!(bind(&missing), Err(BindError::NoDirectory { .. })));
}

#[tokio::test]
async fn a_stop_leaves_the_file_of_somebody_else() {
    let (_directory, path) = directory();
    let bound = bind(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let other = bind(&path).unwrap();
    bound.close();
    assert!(path.exists());
    other.close();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_path_that_is_too_long_is_an_error_that_leaves_nothing() {
    let (directory, _) = directory();
    let path = directory.path().join("x".repeat(120));
    assert!(matches!(bind(&path), Err(BindError::Io { .. })));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Settings in which the account of these tests is the one that holds the names.
fn ours() -> Settings {
    let identify = super::identify();
    let own = rustix::process::geteuid().as_raw();
    Settings {
        identify: std::sync::Arc::new(move |uid, name| {
            assert_eq!(uid, own, "the kernel says who speaks");
            identify(super::OURS, name)
        }),
        ..settings()
    }
}

async fn exchange(stream: &mut UnixStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn requests_come_in_over_the_socket_with_the_account_of_the_kernel() {
    let world = crate::engine::testing::World::start();
    let (_directory, path) = directory();
    let api = Api::new(ours());
    api.ready(world.handle.clone());
    let bound = bind(&path).unwrap();
    let service = api.service();
    let serving = tokio::spawn(async move { service.serve(bound).await });
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let get = |path: &str, name: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: writd\r\nWritd-As: {name}\r\nConnection: close\r\n\r\n")
    };
    let answer = exchange(&mut stream, &get("/v1/catalog", "alice")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("set_note.v1"), "{answer}");
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let answer = exchange(&mut stream, &get("/v1/catalog", "eve")).await;
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("UNAUTHENTICATED"), "{answer}");
    // A long poll in flight is answered at a stop, an idle connection is closed, and the file is gone.
    let mut idle = UnixStream::connect(&path).await.unwrap();
    let mut streaming = UnixStream::connect(&path).await.unwrap();
    streaming.write_all(get("/v1/events", "alice").as_bytes()).await.unwrap();
    let mut first = [0; 12];
    streaming.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    api.stop();
    serving.await.unwrap();
    let mut rest = Vec::new();
    streaming.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "the stream ends in order");
    assert_eq!(idle.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(!path.exists());
}

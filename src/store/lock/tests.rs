//! C66: two daemons on one state directory.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::testing::{Child, Mount};
use super::*;

fn private_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    dir
}

fn start() -> Time {
    "2026-02-03T04:05:06.789Z".parse().unwrap()
}

fn refused_by_this_process(dir: &Path) {
    let refused = StateLock::acquire(dir, start()).unwrap_err();
    let LockError::Held { pid, since, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(*pid, Some(std::process::id()));
    assert_eq!(since.as_deref(), Some(start().to_string().as_str()));
}

#[test]
fn the_second_one_is_refused_and_told_who_has_it() {
    let dir = private_dir();
    let lock = StateLock::acquire(dir.path(), start()).unwrap();
    refused_by_this_process(dir.path());
    drop(lock);
    StateLock::acquire(dir.path(), start()).unwrap();
}

#[test]
fn the_lock_is_the_same_through_a_symbolic_link() {
    let dir = private_dir();
    let elsewhere = private_dir();
    let link = elsewhere.path().join("state");
    symlink(dir.path(), &link).unwrap();
    let _lock = StateLock::acquire(dir.path(), start()).unwrap();
    refused_by_this_process(&link);
}

#[test]
fn the_lock_is_the_same_through_a_bind_mount() {
    let dir = private_dir();
    let elsewhere = private_dir();
    let Some(mount) = Mount::bind(dir.path(), elsewhere.path()) else { return };
    let _lock = StateLock::acquire(dir.path(), start()).unwrap();
    refused_by_this_process(mount.path());
}

#[test]
fn a_file_left_by_a_crash_is_no_obstacle() {
    let dir = private_dir();
    fs::write(dir.path().join(NAME), "1\n2020-01-01T00:00:00Z\n").unwrap();
    let _lock = StateLock::acquire(dir.path(), start()).unwrap();
    refused_by_this_process(dir.path());
}

#[test]
fn a_killed_holder_lets_go_at_once() {
    let dir = private_dir();
    for _ in 0..3 {
        let mut child = Child::start("store::lock::tests::child_takes_the_lock_and_waits", dir.path());
        assert_eq!(child.line().as_deref(), Some("locked"));
        let LockError::Held { pid, .. } = StateLock::acquire(dir.path(), start()).unwrap_err() else {
            panic!("not held")
        };
        assert_eq!(pid, Some(child.pid()));
        child.kill();
        drop(StateLock::acquire(dir.path(), start()).unwrap());
    }
}

#[test]
#[ignore = "the child process of a_killed_holder_lets_go_at_once"]
fn child_takes_the_lock_and_waits() {
    let Some(dir) = Child::dir() else { return };
    let _lock = StateLock::acquire(&dir, start()).unwrap();
    Child::say("locked");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn a_directory_that_others_can_enter_is_refused() {
    let dir = private_dir();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o750)).unwrap();
    let refused = StateLock::acquire(dir.path(), start()).unwrap_err();
    assert_eq!(refused, LockError::NotPrivate { dir: dir.path().to_owned(), mode: 0o750 });
    assert!(!dir.path().join(NAME).exists(), "nothing is made in it");
}

#[test]
fn what_is_no_directory_or_not_there_is_refused() {
    let dir = private_dir();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(StateLock::acquire(&file, start()), Err(LockError::NotADirectory { .. })));
    assert!(matches!(StateLock::acquire(&dir.path().join("none"), start()), Err(LockError::Io { .. })));
}

#[test]
fn a_link_in_the_place_of_the_lock_is_refused() {
    let dir = private_dir();
    let other = private_dir();
    symlink(other.path().join("x"), dir.path().join(NAME)).unwrap();
    assert!(matches!(StateLock::acquire(dir.path(), start()), Err(LockError::Io { .. })));
    assert!(!other.path().join("x").exists());
}

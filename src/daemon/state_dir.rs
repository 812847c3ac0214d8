//! The state directory before it is locked: made if it is not there, and closed to others if nothing is in it yet.
//! Called by `serve` only. Never changes a directory that holds state: whoever opened that one did it on purpose, and
//! the lock refuses it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Only the owner may do anything.
const PRIVATE: u32 = 0o700;
/// Others can put something there.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// What stands in a state directory that comes out of a checkout, or that contracts were tested in, and is no state.
const NOT_STATE: [&str; 3] = ["README.md", ".gitignore", "contract-tests.json"];

/// Makes the directory, private. One that a checkout made, with the mode of all directories there, is closed.
pub(super) fn make_private(dir: &Path) -> io::Result<()> {
    match fs::metadata(dir) {
        Ok(found) => {
            let mine = found.uid() == rustix::process::geteuid().as_raw();
            let harmless = found.is_dir() && mine && found.mode() & WRITABLE_BY_OTHERS == 0;
            if harmless && found.mode() & 0o7777 != PRIVATE && is_unused(dir)? {
                fs::set_permissions(dir, Permissions::from_mode(PRIVATE))?;
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(PRIVATE).create(dir)
        }
        // Whatever is wrong with it, the lock says it better.
        Err(_) => Ok(()),
    }
}

fn is_unused(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        if !NOT_STATE.iter().any(|known| name == *known) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(mode: u32, files: &[&str]) -> (tempfile::TempDir, u32) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            fs::write(dir.path().join(file), "").unwrap();
        }
        fs::set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
        make_private(dir.path()).unwrap();
        let after = fs::metadata(dir.path()).unwrap().mode() & 0o7777;
        (dir, after)
    }

    #[test]
    fn the_directory_of_a_fresh_checkout_is_closed() {
        assert_eq!(dir(0o755, &NOT_STATE).1, PRIVATE);
        assert_eq!(dir(0o750, &[]).1, PRIVATE);
    }

    #[test]
    fn a_directory_with_state_or_that_others_could_write_to_is_left_alone() {
        assert_eq!(dir(0o755, &["README.md", "lock"]).1, 0o755);
        assert_eq!(dir(0o777, &NOT_STATE).1, 0o777);
        assert_eq!(dir(0o775, &[]).1, 0o775);
    }

    #[test]
    fn a_new_directory_is_private() {
        let parent = tempfile::tempdir().unwrap();
        let new = parent.path().join("a/b");
        make_private(&new).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().mode() & 0o7777, PRIVATE);
    }
}

//! Space: how much is left, and a file that keeps some for outcomes.
//!
//! When the disk is full, what was begun must still be recorded. The reserve occupies real blocks; removing it gives
//! them to the next commits.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::FallocateFlags;

/// Its name, beside sled's files. sled ignores files that it does not know.
const NAME: &str = "reserve";
/// How much is written at once where blocks cannot be allocated without writing.
const FILL_BYTES: usize = 64 * 1024;

pub(super) struct Reserve {
    dir: PathBuf,
    bytes: u64,
    stands: AtomicBool,
}

impl Reserve {
    pub(super) fn new(dir: &Path, bytes: u64) -> Reserve {
        Reserve { dir: dir.to_owned(), bytes, stands: AtomicBool::new(false) }
    }

    /// Whether it is there with all its bytes, or none is wanted.
    pub(super) fn stands(&self) -> bool {
        self.bytes == 0 || self.stands.load(Ordering::Acquire)
    }

    /// Removes it. True if there was one.
    pub(super) fn release(&self) -> io::Result<bool> {
        self.stands.store(false, Ordering::Release);
        match fs::remove_file(self.dir.join(NAME)) {
            Ok(()) => {
                // Some file systems give the blocks back only after the next journal commit.
                File::open(&self.dir)?.sync_all()?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes it, if that leaves `headroom` bytes free. True if it stands afterwards.
    pub(super) fn restore(&self, headroom: u64) -> io::Result<bool> {
        if self.bytes == 0 {
            return Ok(true);
        }
        let path = self.dir.join(NAME);
        let missing = match fs::metadata(&path) {
            Ok(found) => self.bytes.saturating_sub(found.blocks() * 512),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.bytes,
            Err(error) => return Err(error),
        };
        if missing > 0 {
            if free_bytes(&self.dir)? < missing.saturating_add(headroom) {
                self.stands.store(false, Ordering::Release);
                return Ok(false);
            }
            self.fill(&path).inspect_err(|_| {
                let _ = fs::remove_file(&path);
            })?;
        }
        self.stands.store(true, Ordering::Release);
        Ok(true)
    }

    fn fill(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, self.bytes) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let zeros = vec![0; FILL_BYTES];
                let mut left = self.bytes;
                while left > 0 {
                    let now = left.min(FILL_BYTES as u64);
                    file.write_all(&zeros[..usize::try_from(now).unwrap_or(FILL_BYTES)])?;
                    left -= now;
                }
            }
            Err(errno) => return Err(errno.into()),
        }
        file.sync_all()
    }
}

/// What the file system of a directory still gives to this process.
pub(super) fn free_bytes(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The blocks that all files of the store occupy.
pub(super) fn used_bytes(dir: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        match entry?.metadata() {
            Ok(found) => sum += found.blocks() * 512,
            // sled may remove a file meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sum)
}

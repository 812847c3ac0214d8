//! The ledger file: append, read again at start, hand out. Owns the file and its sync, and knows nothing of
//! what the service is about. A record that could not be written whole is taken back, so the file never holds half a line.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use super::record::{Entry, Record};

/// One remembered position for so many records: reading from any number costs at most this many lines.
const MARK_EVERY: u64 = 256;

/// The writing end. Held under the service's lock.
pub(super) struct Ledger {
    file: File,
    path: PathBuf,
    next: u64,
    length: u64,
    marks: Vec<u64>,
    line: Vec<u8>,
    needed: Arc<AtomicU64>,
}

/// Waits until what was written is on the disk. Used without the service's lock, so that many requests
/// share one sync.
pub(super) struct Syncer {
    file: Option<Arc<File>>,
    /// How many records were written that somebody may rely on; `done` of them are on the disk.
    needed: Arc<AtomicU64>,
    done: AtomicU64,
    turn: tokio::sync::Mutex<()>,
}

impl Ledger {
    /// Opens the file, cuts a torn last line off and shows every record, oldest first.
    ///
    /// # Errors
    /// Another process has the file; a whole line is no record; any error of the file system.
    pub(super) fn open<S: DeserializeOwned>(
        path: &Path,
        fsync: bool,
        mut see: impl FnMut(&Record<S>),
    ) -> io::Result<(Self, Syncer)> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = format!("the ledger {} is in use by another process", path.display());
                return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let needed = Arc::new(AtomicU64::new(0));
        let mut ledger = Self {
            file,
            path: path.to_owned(),
            next: 0,
            length: 0,
            marks: Vec::new(),
            line: Vec::new(),
            needed: Arc::clone(&needed),
        };
        ledger.replay(&mut see)?;
        // What an earlier process wrote may never have been synced, and this one is about to answer from it.
        if fsync {
            ledger.file.sync_all()?;
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                File::open(folder)?.sync_all()?;
            }
        }
        let file = if fsync { Some(Arc::new(ledger.file.try_clone()?)) } else { None };
        let syncer = Syncer { file, needed, done: AtomicU64::new(0), turn: tokio::sync::Mutex::new(()) };
        Ok((ledger, syncer))
    }

    fn replay<S: DeserializeOwned>(&mut self, see: &mut impl FnMut(&Record<S>)) -> io::Result<()> {
        let mut reader = BufReader::new(self.file.try_clone()?);
        reader.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let record: Record<S> = serde_json::from_slice(&line).map_err(|error| self.damaged(&error))?;
            if record.n != self.next {
                return Err(self.damaged(&format!("it carries the number {}", record.n)));
            }
            see(&record);
            self.count(line.len());
            line.clear();
        }
        // The process died while it wrote this line; nobody was told of it.
        self.file.set_len(self.length)
    }

    fn damaged(&self, what: &dyn std::fmt::Display) -> io::Error {
        let text = format!("{}: line {} is no record: {what}", self.path.display(), self.next + 1);
        io::Error::new(io::ErrorKind::InvalidData, text)
    }

    fn count(&mut self, bytes: usize) {
        if self.next.is_multiple_of(MARK_EVERY) {
            self.marks.push(self.length);
        }
        self.next += 1;
        self.length += bytes as u64;
    }

    /// Appends one record with one write and gives it back with its number.
    ///
    /// # Errors
    /// The record is not in the file; what it tells must not become true.
    pub(super) fn append<S: Serialize>(&mut self, entry: Entry<S>, at_ms: u64) -> io::Result<Record<S>> {
        let record = Record { n: self.next, at_ms, entry };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &record)?;
        self.line.push(b'\n');
        if let Err(error) = self.file.write_all(&self.line) {
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.count(self.line.len());
        if !matches!(record.entry, Entry::Request(_)) {
            self.needed.fetch_add(1, Ordering::AcqRel);
        }
        Ok(record)
    }

    /// The file's bytes from record `from` on: NDJSON.
    pub(super) fn read_from(&self, from: u64) -> io::Result<Vec<u8>> {
        if from >= self.next {
            return Ok(Vec::new());
        }
        let mark = usize::try_from(from / MARK_EVERY).unwrap_or(usize::MAX);
        let start = self.marks.get(mark).copied().unwrap_or(0);
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::new(file.take(self.length - start));
        let mut bytes = Vec::new();
        for _ in 0..from % MARK_EVERY {
            reader.read_until(b'\n', &mut bytes)?;
            bytes.clear();
        }
        reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Empties the ledger; numbers start at 0 again.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.next = 0;
        self.length = 0;
        self.marks.clear();
        Ok(())
    }
}

impl Syncer {
    /// Returns once every effect recorded before the call is on the disk (at once if syncs are off).
    pub(super) async fn settle(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let needed = self.needed.load(Ordering::Acquire);
        if self.done.load(Ordering::Acquire) >= needed {
            return Ok(());
        }
        let _turn = self.turn.lock().await;
        if self.done.load(Ordering::Acquire) >= needed {
            return Ok(());
        }
        let up_to = self.needed.load(Ordering::Acquire);
        let file = Arc::clone(file);
        tokio::task::spawn_blocking(move || file.sync_data()).await.map_err(io::Error::other)??;
        self.done.store(up_to, Ordering::Release);
        Ok(())
    }
}

//! Reads and commits on an open handle.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::super::batch::{Batch, Record};
use super::super::error::{CommitError, Damage, OpenError, ReadError, Written};
use super::super::key::{Key, Range};
use super::super::{Counters, MAX_KEY_BYTES, Row, Space, Store};
use super::fault::{Fault, caught};
use super::open::{self, Handle};
use super::{SledStore, State, dead, layout, records, reserve};

/// A call that failed before anything was written.
enum Early {
    /// sled failed.
    Fault(Fault),
    /// The answer is no.
    Refused(CommitError),
}

impl From<Fault> for Early {
    fn from(fault: Fault) -> Early {
        Early::Fault(fault)
    }
}

impl SledStore {
    pub(super) fn read<T>(&self, call: impl FnOnce(&::sled::Db) -> Result<T, Fault>) -> Result<T, ReadError> {
        let fault = {
            let state = self.state();
            let handle = match &*state {
                State::Open(handle) => handle,
                State::Dead(what) => return Err(dead(what)),
            };
            let _whole = self.applying.read().unwrap_or_else(PoisonError::into_inner);
            match caught(|| call(&handle.db)) {
                Ok(answer) => return Ok(answer),
                Err(fault) if is_page_only(handle, &fault) => {
                    return Err(ReadError::Page { what: fault.text() });
                }
                Err(fault) => fault,
            }
        };
        self.kill(&fault.text());
        Err(ReadError::Io { what: fault.text() })
    }

    fn need(&self, batch: &Batch) -> u64 {
        // A write goes into the log once as it is, and about once more in consolidated pages.
        self.options.headroom_bytes.saturating_add(2 * batch.bytes() as u64)
    }

    /// Everything that can be refused before the first byte is written.
    fn admit(&self, handle: &Handle, batch: &Batch) -> Result<::sled::Batch, Early> {
        records::refuse_sizes(batch).map_err(Early::Refused)?;
        caught(|| records::check_expects(&handle.db, batch))?.map_err(Early::Refused)?;
        let writes = caught(|| records::collect(&handle.db, batch))?;
        let free_bytes = reserve::free_bytes(&self.options.path).map_err(|error| {
            let what = format!("the free space cannot be told: {error}");
            Early::Refused(CommitError::NotWritten { what })
        })?;
        let checked = self.options.headroom_bytes > 0 && !batch.is_empty();
        if checked && free_bytes < self.need(batch) {
            return Err(Early::Refused(CommitError::Full { free_bytes, written: Written::Nothing }));
        }
        Ok(writes)
    }

    /// Writes and syncs. sled's `flush` alone is not durable: it ends in `sync_file_range`, which neither flushes the
    /// cache of the disk nor commits the size of the file (upstream 1351, 1452); without the sync behind it, 290 of
    /// 400 simulated power cuts lost acknowledged data.
    fn write(&self, handle: &Handle, writes: ::sled::Batch) -> Result<(), Fault> {
        caught(|| {
            {
                let _whole = self.applying.write().unwrap_or_else(PoisonError::into_inner);
                handle.db.apply_batch(writes)?;
            }
            let log_bytes = handle.db.flush()?;
            handle.log.sync_data()?;
            self.log_bytes.fetch_add(log_bytes as u64, Relaxed);
            Ok(())
        })
    }
}

/// Whether a failed read says something about one page only. sled has read and found a wrong checksum; nothing that
/// it holds in memory is in doubt.
fn is_page_only(handle: &Handle, fault: &Fault) -> bool {
    matches!(fault, Fault::Error(::sled::Error::Corruption { .. }))
        && handle.db.context.global_error().is_ok()
}

impl Store for SledStore {
    fn get(&self, key: &Key) -> Result<Option<Record>, ReadError> {
        match self.read(|db| records::lookup(db, key))? {
            None => Ok(None),
            Some(Ok(record)) => Ok(Some(record)),
            Some(Err(damage)) => Err(ReadError::of_record(key, damage)),
        }
    }

    fn scan(&self, range: &Range, limit: usize) -> Result<Vec<Row>, ReadError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        self.read(|db| {
            let mut found = db.range(layout::head_bounds(range));
            let mut rows = Vec::new();
            while rows.len() < limit {
                let Some(item) = (if range.reverse { found.next_back() } else { found.next() }) else {
                    break;
                };
                let (head_key, head) = item?;
                let key = layout::record_key(&head_key);
                let record = match key.as_bytes().len() {
                    1..=MAX_KEY_BYTES => records::assemble(db, &key, &head)?,
                    _ => Err(Damage::NotAKey),
                };
                rows.push((key, record));
            }
            Ok(rows)
        })
    }

    fn last_key(&self, prefix: &Key) -> Result<Option<Key>, ReadError> {
        self.read(|db| {
            let last = db.range(layout::head_bounds(&Range::prefix(prefix))).next_back();
            Ok(last.transpose()?.map(|(head_key, _)| layout::record_key(&head_key)))
        })
    }

    fn commit(&self, batch: &Batch) -> Result<(), CommitError> {
        let _one = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (what, answer) = {
            let state = self.state();
            let handle = match &*state {
                State::Open(handle) => handle,
                State::Dead(what) => return Err(CommitError::Dead { what: what.clone() }),
            };
            match self.admit(handle, batch) {
                Ok(_) if batch.is_empty() => return Ok(()),
                Ok(writes) => match self.write(handle, writes) {
                    Ok(()) => {
                        self.commits.fetch_add(1, Relaxed);
                        self.syncs.fetch_add(1, Relaxed);
                        return Ok(());
                    }
                    Err(fault) => (fault.text(), self.after_write(&fault)),
                },
                Err(Early::Refused(refusal)) => return Err(refusal),
                Err(Early::Fault(fault)) if is_page_only(handle, &fault) => {
                    return Err(CommitError::NotWritten { what: fault.text() });
                }
                Err(Early::Fault(fault)) => (fault.text(), CommitError::Dead { what: fault.text() }),
            }
        };
        self.kill(&what);
        Err(answer)
    }

    fn space(&self) -> Result<Space, ReadError> {
        let path = &self.options.path;
        let told = reserve::free_bytes(path).and_then(|free_bytes| {
            reserve::used_bytes(path).map(|store_bytes| Space { free_bytes, store_bytes })
        });
        told.map_err(|error| ReadError::Io { what: error.to_string() })
    }

    fn counters(&self) -> Counters {
        Counters {
            commits: self.commits.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
            log_bytes: self.log_bytes.load(Relaxed),
        }
    }

    fn low_space(&self) -> bool {
        let enough =
            || reserve::free_bytes(&self.options.path).is_ok_and(|b| b >= self.options.low_space_bytes);
        !self.reserve.stands() || !enough()
    }

    fn release_reserve(&self) -> Result<bool, ReadError> {
        self.reserve.release().map_err(|error| ReadError::Io { what: error.to_string() })
    }

    fn restore_reserve(&self) -> Result<bool, ReadError> {
        let left = self.options.headroom_bytes;
        self.reserve.restore(left).map_err(|error| ReadError::Io { what: error.to_string() })
    }

    fn reopen(&self) -> Result<(), OpenError> {
        let _one = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.kill("the store is being reopened");
        let handle = open::open(&self.options)?;
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::Open(handle);
        Ok(())
    }
}

impl SledStore {
    fn after_write(&self, fault: &Fault) -> CommitError {
        if fault.is_full() {
            let free_bytes = reserve::free_bytes(&self.options.path).unwrap_or(0);
            return CommitError::Full { free_bytes, written: Written::Unknown };
        }
        CommitError::MayBeWritten { what: fault.text() }
    }
}

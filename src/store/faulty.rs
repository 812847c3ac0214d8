//! A store that fails when it is told to: for tests of what stands on a store.
//!
//! Wraps any engine. A planned fault does what real ones do: a failure that leaves the batch in doubt ends the handle,
//! and every call answers `Dead` until [`Store::reopen`].

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::batch::{Batch, Record};
use super::error::{CommitError, OpenError, ReadError, Written};
use super::key::{Key, Range};
use super::{Counters, Row, Space, Store};

/// What a commit does instead of succeeding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written; the store goes on.
    NotWritten,
    /// No space: nothing is written; the store goes on.
    Full,
    /// No space in the middle: the batch is in doubt.
    FullInDoubt {
        /// Whether it is really written.
        written: bool,
    },
    /// An error that leaves the batch in doubt, e.g. of the sync.
    MayBeWritten {
        /// Whether it is really written.
        written: bool,
    },
    /// Written, but the caller learns of it only after [`Faulty::let_go`]: a sync that takes long.
    Held,
    /// A panic.
    Panic {
        /// Whether the batch is written before.
        written: bool,
    },
    /// The end of the process.
    Abort {
        /// Whether the batch is written before.
        written: bool,
    },
}

/// The faults that a seeded plan draws from: those that a caller can go on after.
const DRAWN: [Fault; 6] = [
    Fault::NotWritten,
    Fault::Full,
    Fault::FullInDoubt { written: false },
    Fault::FullInDoubt { written: true },
    Fault::MayBeWritten { written: false },
    Fault::MayBeWritten { written: true },
];

/// When which fault happens. Calls are counted from 1, over reopens; reads are `get`, `scan` and `last_key`.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    commits: BTreeMap<u64, Fault>,
    reads: BTreeMap<u64, ReadError>,
    reopens: BTreeMap<u64, OpenError>,
    drawn: Option<(fastrand::Rng, f64)>,
}

impl Plan {
    /// Commit number `call` fails.
    #[must_use]
    pub fn commit(mut self, call: u64, fault: Fault) -> Plan {
        self.commits.insert(call, fault);
        self
    }

    /// Read number `call` fails.
    #[must_use]
    pub fn read(mut self, call: u64, error: ReadError) -> Plan {
        self.reads.insert(call, error);
        self
    }

    /// Reopen number `call` fails.
    #[must_use]
    pub fn reopen(mut self, call: u64, error: OpenError) -> Plan {
        self.reopens.insert(call, error);
        self
    }

    /// Beside what is planned, each commit fails with this probability, in a way drawn from the seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64, probability: f64) -> Plan {
        self.drawn = Some((fastrand::Rng::with_seed(seed), probability));
        self
    }
}

/// The wrapper.
pub struct Faulty<S> {
    inner: S,
    state: Mutex<State>,
    let_go: Condvar,
}

struct State {
    plan: Plan,
    commits: u64,
    reads: u64,
    reopens: u64,
    dead: Option<String>,
    held: bool,
    low: bool,
}

impl<S: Store> Faulty<S> {
    /// Wraps a store; an empty plan changes nothing.
    pub fn new(inner: S, plan: Plan) -> Faulty<S> {
        let state = State { plan, commits: 0, reads: 0, reopens: 0, dead: None, held: false, low: false };
        Faulty { inner, state: Mutex::new(state), let_go: Condvar::new() }
    }

    /// How many commits were asked for so far.
    pub fn commits(&self) -> u64 {
        self.state().commits
    }

    /// Little space is left, or not any more.
    pub fn low(&self, low: bool) {
        self.state().low = low;
    }

    /// Whether a commit is held now.
    pub fn holds(&self) -> bool {
        self.state().held
    }

    /// Lets the held commit return.
    pub fn let_go(&self) {
        self.state().held = false;
        self.let_go.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn before_read(&self) -> Result<(), ReadError> {
        let mut state = self.state();
        if let Some(what) = &state.dead {
            return Err(ReadError::Dead { what: what.clone() });
        }
        state.reads += 1;
        let call = state.reads;
        let Some(error) = state.plan.reads.remove(&call) else { return Ok(()) };
        if matches!(error, ReadError::Io { .. } | ReadError::Dead { .. }) {
            state.dead = Some(error.to_string());
        }
        Err(error)
    }

    fn next_fault(&self) -> Result<Option<Fault>, CommitError> {
        let mut state = self.state();
        if let Some(what) = &state.dead {
            return Err(CommitError::Dead { what: what.clone() });
        }
        state.commits += 1;
        let call = state.commits;
        if let Some(fault) = state.plan.commits.remove(&call) {
            return Ok(Some(fault));
        }
        let Some((rng, probability)) = &mut state.plan.drawn else { return Ok(None) };
        Ok((rng.f64() < *probability).then(|| DRAWN[rng.usize(..DRAWN.len())]))
    }

    /// The batch is in doubt: written or not, and the handle is dead.
    fn in_doubt(&self, batch: &Batch, written: bool, error: CommitError) -> Result<(), CommitError> {
        if written {
            self.inner.commit(batch)?;
        }
        self.state().dead = Some(error.to_string());
        Err(error)
    }
}

impl<S: Store> Store for Faulty<S> {
    fn get(&self, key: &Key) -> Result<Option<Record>, ReadError> {
        self.before_read()?;
        self.inner.get(key)
    }

    fn scan(&self, range: &Range, limit: usize) -> Result<Vec<Row>, ReadError> {
        self.before_read()?;
        self.inner.scan(range, limit)
    }

    fn last_key(&self, prefix: &Key) -> Result<Option<Key>, ReadError> {
        self.before_read()?;
        self.inner.last_key(prefix)
    }

    #[allow(clippy::panic, reason = "a planned panic is what it is for")]
    fn commit(&self, batch: &Batch) -> Result<(), CommitError> {
        let what = "planned fault".to_owned();
        match self.next_fault()? {
            None => self.inner.commit(batch),
            Some(Fault::NotWritten) => Err(CommitError::NotWritten { what }),
            Some(Fault::Full) => Err(CommitError::Full { free_bytes: 0, written: Written::Nothing }),
            Some(Fault::FullInDoubt { written }) => {
                self.in_doubt(batch, written, CommitError::Full { free_bytes: 0, written: Written::Unknown })
            }
            Some(Fault::MayBeWritten { written }) => {
                self.in_doubt(batch, written, CommitError::MayBeWritten { what })
            }
            Some(Fault::Held) => {
                self.inner.commit(batch)?;
                let mut state = self.state();
                state.held = true;
                drop(
                    self.let_go.wait_while(state, |state| state.held).unwrap_or_else(PoisonError::into_inner),
                );
                Ok(())
            }
            Some(Fault::Panic { written }) => {
                if written {
                    self.inner.commit(batch)?;
                }
                panic!("planned panic");
            }
            Some(Fault::Abort { written }) => {
                if written {
                    self.inner.commit(batch)?;
                }
                std::process::abort();
            }
        }
    }

    fn space(&self) -> Result<Space, ReadError> {
        self.inner.space()
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn low_space(&self) -> bool {
        self.state().low || self.inner.low_space()
    }

    fn release_reserve(&self) -> Result<bool, ReadError> {
        self.inner.release_reserve()
    }

    fn restore_reserve(&self) -> Result<bool, ReadError> {
        self.inner.restore_reserve()
    }

    fn reopen(&self) -> Result<(), OpenError> {
        {
            let mut state = self.state();
            state.reopens += 1;
            let call = state.reopens;
            if let Some(error) = state.plan.reopens.remove(&call) {
                state.dead = Some(error.to_string());
                return Err(error);
            }
        }
        self.inner.reopen()?;
        self.state().dead = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

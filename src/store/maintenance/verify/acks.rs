//! Facts that clients were told, one per line; the store must know them all.
//!
//! ```text
//! op OPERATION STATE EVENTS          the operation had reached this state with at least this many events
//! run RUN                            the run was opened
//! key TENANT PRINCIPAL SCOPE KEY     the Idempotency-Key was stored; SCOPE is a run, or `run` for opening one
//! ```
//! Empty lines and lines that begin with `#` say nothing. Anything else is an error: a fact that is not understood is
//! not a fact that holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::domain::Digest;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::json::Canonical;
use crate::domain::operation::State;

/// The facts.
#[derive(Clone, Debug, Default)]
pub struct Acks {
    /// Per operation and state, the highest number of events that was told with it.
    pub(super) operations: BTreeMap<OperationId, BTreeMap<State, u32>>,
    pub(super) runs: BTreeSet<RunId>,
    /// By scope, the key as written in the file.
    pub(super) keys: BTreeMap<Digest, String>,
}

/// The file cannot be used; nothing was checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {why}")]
pub struct AckError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 for the file itself.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl Acks {
    /// Reads a file of facts.
    ///
    /// # Errors
    /// It cannot be read, or a line is of no known form.
    pub fn read(path: &Path) -> Result<Acks, AckError> {
        let failed = |line: usize, why: String| AckError { path: path.to_owned(), line, why };
        let file = File::open(path).map_err(|error| failed(0, error.to_string()))?;
        let mut acks = Acks::default();
        for (line, number) in BufReader::new(file).lines().zip(1..) {
            let line = line.map_err(|error| failed(number, error.to_string()))?;
            acks.line(&line).map_err(|why| failed(number, why))?;
        }
        Ok(acks)
    }

    /// How many facts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let told: usize = self.operations.values().map(BTreeMap::len).sum();
        told + self.runs.len() + self.keys.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        match words.as_slice() {
            ["op", id, state, events] => {
                let id: OperationId = id.parse().map_err(|error| format!("`{id}`: {error}"))?;
                let state: State = state.parse().map_err(|error| format!("`{state}`: {error}"))?;
                let events: u32 = events.parse().map_err(|error| format!("`{events}`: {error}"))?;
                let told = self.operations.entry(id).or_default().entry(state).or_default();
                *told = events.max(*told);
                Ok(())
            }
            ["run", id] => {
                self.runs.insert(id.parse().map_err(|error| format!("`{id}`: {error}"))?);
                Ok(())
            }
            ["key", tenant, principal, scope, key] => {
                let parts = serde_json::json!([tenant, principal, scope, key]);
                let canonical = Canonical::of(&parts).map_err(|error| error.to_string())?;
                self.keys.insert(canonical.digest(), (*key).to_owned());
                Ok(())
            }
            _ => Err("a line is `op OPERATION STATE EVENTS`, `run RUN` or `key TENANT PRINCIPAL SCOPE KEY`"
                .to_owned()),
        }
    }
}

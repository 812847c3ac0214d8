//! The contracts of open operations, by fingerprint: an operation is always executed and settled under the contract
//! that it was proposed under, whatever the files say now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::Digest;
use crate::domain::operation::Proposal;
use crate::ports::{Tool, Toolbox};
use crate::store::records::Records;

/// Contracts kept in memory; more than this are read again from the store.
const KEPT: usize = 256;

#[derive(Default)]
pub(super) struct ToolCache {
    tools: Mutex<HashMap<Digest, Arc<dyn Tool>>>,
    stored: Mutex<HashSet<Digest>>,
    lists: Mutex<HashMap<Digest, Arc<BTreeMap<String, Digest>>>>,
}

/// The contract of an operation cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the contract of this operation cannot be used: {0}")]
pub(super) struct NoTool(String);

impl ToolCache {
    /// Whether its body is known to be in the store, synced.
    pub(super) fn is_stored(&self, fingerprint: Digest) -> bool {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).contains(&fingerprint)
    }

    pub(super) fn stored(&self, fingerprint: Digest) {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).insert(fingerprint);
    }

    /// A list of fingerprints that was read before.
    pub(super) fn list(&self, digest: Digest) -> Option<Arc<BTreeMap<String, Digest>>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }

    pub(super) fn keep_list(&self, digest: Digest, list: Arc<BTreeMap<String, Digest>>) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= KEPT {
            lists.clear();
        }
        lists.insert(digest, list);
    }

    /// The contract that an operation was proposed under.
    pub(super) fn of(
        &self,
        proposal: &Proposal,
        tools: &dyn Toolbox,
        records: Records<'_>,
    ) -> Result<Arc<dyn Tool>, NoTool> {
        let major = proposal.version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
        let fingerprint = proposal.contract;
        if let Some(tool) = self.cached(fingerprint) {
            return Ok(tool);
        }
        match tools.current(&proposal.tool, major).filter(|tool| tool.fingerprint() == fingerprint) {
            Some(current) => {
                self.keep(fingerprint, &current);
                Ok(current)
            }
            None => self.by_fingerprint(fingerprint, tools, records),
        }
    }

    fn cached(&self, fingerprint: Digest) -> Option<Arc<dyn Tool>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).cloned()
    }

    fn keep(&self, fingerprint: Digest, tool: &Arc<dyn Tool>) {
        let mut cached = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= KEPT {
            cached.clear();
        }
        cached.insert(fingerprint, Arc::clone(tool));
    }

    /// A contract that is in the store.
    pub(super) fn by_fingerprint(
        &self,
        fingerprint: Digest,
        tools: &dyn Toolbox,
        records: Records<'_>,
    ) -> Result<Arc<dyn Tool>, NoTool> {
        if let Some(tool) = self.cached(fingerprint) {
            return Ok(tool);
        }
        let body = records.contract(fingerprint).map_err(|error| NoTool(error.to_string()))?;
        let body = body.ok_or_else(|| NoTool("its body is not in the store".to_owned()))?;
        if Digest::of(&body) != fingerprint {
            return Err(NoTool("its stored body has another fingerprint".to_owned()));
        }
        let tool = tools.pinned(fingerprint, &body).map_err(NoTool)?;
        self.keep(fingerprint, &tool);
        Ok(tool)
    }
}

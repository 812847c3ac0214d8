//! The contracts that a run sees: those in force when it was opened. A list of tools and fingerprints, kept in the store
//! under its digest with the contracts' bodies, so that a reload changes nothing for work that is under way, and neither
//! does a restart of the daemon on other files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::handle::Handle;
use super::writer::Writer;
use crate::domain::Digest;
use crate::domain::operation::Proposal;
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::domain::run::Run;
use crate::ports::{Life, Tool};

/// Tools, `name.vMAJOR`, and the fingerprints of their contracts.
type Fingerprints = BTreeMap<String, Digest>;

/// What is in force.
pub(super) struct Seen {
    /// Of the list.
    pub(super) digest: Digest,
    list: Vec<u8>,
    tools: Vec<Arc<dyn Tool>>,
}

fn name_of(tool: &str, major: u32) -> String {
    format!("{tool}.v{major}")
}

impl Handle {
    /// What a run that is opened now will see.
    pub(super) fn seen(&self) -> Arc<Seen> {
        let tools = self.parts.tools.all();
        let named = tools.iter().map(|tool| {
            let major = tool.version().split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
            (name_of(tool.name(), major), tool.fingerprint())
        });
        let list = serde_json::to_vec(&named.collect::<Fingerprints>()).unwrap_or_default();
        Arc::new(Seen { digest: Digest::of(&list), list, tools })
    }

    /// A tool as a run sees it: by the contract of its opening. One that is not in the catalog any more, or that has
    /// been retired since, is not used by anybody; one that is new is what it is. A list that cannot be read is no leave
    /// to use another contract.
    pub(super) fn tool_in(&self, run: &Run, tool: &str, major: u32) -> Option<Arc<dyn Tool>> {
        let current = self.parts.tools.current(tool, major)?;
        if matches!(current.life(), Life::Retired { .. }) {
            return Some(current);
        }
        let pinned = self.fingerprint_in(run, &name_of(tool, major))?;
        match pinned.filter(|pinned| *pinned != current.fingerprint()) {
            None => Some(current),
            Some(pinned) => self.cache.by_fingerprint(pinned, self.parts.tools.as_ref(), self.records()).ok(),
        }
    }

    /// None if the list cannot be had; none in it if the tool is new.
    fn fingerprint_in(&self, run: &Run, tool: &str) -> Option<Option<Digest>> {
        if let Some(list) = self.cache.list(run.contracts) {
            return Some(list.get(tool).copied());
        }
        let body = self.records().contract(run.contracts).ok().flatten()?;
        let list = Arc::new(serde_json::from_slice::<Fingerprints>(&body).ok()?);
        let found = list.get(tool).copied();
        self.cache.keep_list(run.contracts, list);
        Some(found)
    }

    /// A request about a write, in the trace of that write.
    #[must_use]
    pub fn traced(&self, proposal: &Proposal, request: RenderedRequest) -> RenderedRequest {
        super::call::traced(&self.parts, proposal.trace, request)
    }
}

impl Writer {
    /// Keeps the list and the bodies of its contracts, once.
    pub(super) fn store_seen(&mut self, seen: &Seen) {
        if self.cache.is_stored(seen.digest) {
            return;
        }
        self.group.put_contract(seen.digest, &seen.list);
        let mut stored = vec![seen.digest];
        for tool in &seen.tools {
            if !self.cache.is_stored(tool.fingerprint()) {
                self.group.put_contract(tool.fingerprint(), tool.body());
                stored.push(tool.fingerprint());
            }
        }
        let cache = Arc::clone(&self.cache);
        self.after_commit(Box::new(move |problem: Option<&Problem>| {
            if problem.is_none() {
                stored.into_iter().for_each(|digest| cache.stored(digest));
            }
        }));
    }
}

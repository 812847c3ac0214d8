//! A catalog comes into force while the daemon runs.

use super::Writer;
use crate::domain::Digest;
use crate::domain::journal::{Fact, Subject};
use crate::domain::operation::Actor;
use crate::domain::problem::Problem;
use crate::engine::group::internal;
use crate::engine::message::Reply;
use crate::store::records::keys;

impl Writer {
    /// Journals it; whoever asked puts it in force after the sync.
    pub(super) fn reloaded(&mut self, catalog: Digest, by: &Actor, reply: Reply<()>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        match self.note_catalog(catalog, by) {
            Ok(()) => self.tell(reply, ()),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    fn note_catalog(&mut self, catalog: Digest, by: &Actor) -> Result<(), Box<Problem>> {
        let (mut meta, version) = self.memory.meta;
        if meta.catalog == catalog {
            return Ok(());
        }
        let fact = Fact::CatalogLoaded { catalog, before: meta.catalog };
        self.append_fact(Subject::System, 0, &fact, by)?;
        meta.catalog = catalog;
        self.group.put(keys::meta(), version, &meta).map_err(|error| internal(&error))?;
        self.memory.meta = (meta, version + 1);
        Ok(())
    }
}

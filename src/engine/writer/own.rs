//! The daemon's own record: what came into force, what is held after an import, what is paused. Every change of it is a
//! fact of the journal, and the record is what those facts make.

use super::Writer;
use crate::domain::journal::{Fact, Subject};
use crate::domain::operation::Actor;
use crate::domain::pause::{Pause, PauseScope};
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest};
use crate::engine::group::internal;
use crate::engine::message::Reply;
use crate::store::records::keys;

impl Writer {
    /// Journals facts about the daemon itself and what they make of its record.
    fn note(&mut self, facts: &[Fact], by: &Actor) -> Result<(), Box<Problem>> {
        let (mut meta, version) = self.memory.meta.clone();
        for fact in facts {
            self.append_fact(Subject::System, 0, fact, by)?;
            meta.hear(fact);
        }
        self.group.put(keys::meta(), version, &meta).map_err(|error| internal(&error))?;
        self.memory.meta = (meta, version + 1);
        Ok(())
    }

    pub(super) fn accept_restore(&mut self, by: &Principal, reply: Reply<u64>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        if !by.has(Role::Admin) && !by.has(Role::Operator) {
            let problem = Problem::new(Code::PermissionDenied, "this needs the role `operator` or `admin`");
            return drop(reply.send(Err(Box::new(problem))));
        }
        let epoch = self.memory.meta.0.epoch;
        if self.memory.meta.0.held {
            if let Err(problem) = self.note(&[Fact::RestoreAccepted { epoch }], &Actor::from(by)) {
                return drop(reply.send(Err(problem)));
            }
            self.memory.hold = None;
            self.look_at_all_approved();
        }
        self.tell(reply, epoch);
    }

    pub(super) fn loaded(&mut self, catalog: Digest, configuration: Digest) {
        // Who may write and what is paused may have changed.
        self.look_at_all_approved();
        let meta = &self.memory.meta.0;
        let mut facts = Vec::new();
        if meta.catalog != catalog {
            facts.push(Fact::CatalogLoaded { catalog, before: meta.catalog });
        }
        if meta.configuration != configuration {
            facts.push(Fact::ConfigurationLoaded { configuration, before: meta.configuration });
        }
        let policy = self.parts.policy.version();
        if meta.policy != policy {
            facts.push(Fact::PolicyLoaded { policy, before: meta.policy });
            self.group.put_contract(policy, self.parts.policy.body());
        }
        if !facts.is_empty()
            && let Err(problem) = self.note(&facts, &Actor::daemon())
        {
            tracing::error!(problem = problem.detail, "what came into force could not be recorded");
        }
    }

    /// Journals a catalog; whoever asked puts it in force after the sync.
    pub(super) fn reloaded(&mut self, catalog: Digest, by: &Actor, reply: Reply<()>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let before = self.memory.meta.0.catalog;
        let noted = if before == catalog {
            Ok(())
        } else {
            self.note(&[Fact::CatalogLoaded { catalog, before }], by)
        };
        match noted {
            Ok(()) => self.tell(reply, ()),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    /// From the next claim on, nothing starts there. A pause of what is paused already takes its place.
    pub(super) fn pause(&mut self, pause: Pause, reply: Reply<Vec<Pause>>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let by = pause.by.clone();
        match self.note(&[Fact::Paused(pause)], &by) {
            Ok(()) => self.tell(reply, self.memory.meta.0.pauses.clone()),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    pub(super) fn resume(
        &mut self,
        scope: PauseScope,
        name: String,
        by: &Principal,
        reply: Reply<Vec<Pause>>,
    ) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let known = |pause: &Pause| pause.scope == scope && pause.name == name;
        if !self.memory.meta.0.pauses.iter().any(known) {
            let problem = Problem::new(Code::NotFound, "nothing of this name is paused");
            return drop(reply.send(Err(Box::new(problem))));
        }
        match self.note(&[Fact::Resumed { scope, name }], &Actor::from(by)) {
            Ok(()) => {
                self.look_at_all_approved();
                self.tell(reply, self.memory.meta.0.pauses.clone());
            }
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }
}

//! Executing: the preconditions in their order, in one decision with the durable intent.

use std::sync::Arc;

use super::Writer;
use crate::domain::Code;
use crate::domain::Digest;
use crate::domain::ids::OperationId;
use crate::domain::operation::command::{Preconditions, VersionCheck};
use crate::domain::operation::{
    Actor, Answer, Body, Command, Event, State, TargetCheck, Wait, decide, proposal_digest,
};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::engine::attempt::{Launch, VersionRead};
use crate::engine::group::internal;
use crate::engine::handle::CommandDone;
use crate::engine::message::Reply;
use crate::store::records::{Records, Stored};

impl Writer {
    /// Looks at every approved operation that may have become executable since the last look.
    pub(super) fn look_at_runnable(&mut self) {
        while let Some(id) = self.memory.next_runnable() {
            let Ok(stored) = self.load(id) else { continue };
            if stored.operation.state == State::Approved {
                self.try_start(&stored, None);
            }
        }
    }

    pub(super) fn look_at_all_approved(&mut self) {
        let approved: Vec<_> = self
            .memory
            .operations
            .values()
            .filter(|stored| stored.operation.state == State::Approved)
            .map(|stored| stored.operation.id())
            .collect();
        for id in approved {
            self.memory.look_at(id);
        }
    }

    /// The daemon executes what is approved, unless the contract wants its requester to say so.
    fn try_start(&mut self, stored: &Arc<Stored>, version: Option<VersionCheck>) {
        let id = stored.operation.id();
        let version = match (stored.operation.proposal.rules.check, version) {
            (_, Some(version)) => version,
            (TargetCheck::IfMatch | TargetCheck::Absent, None) => VersionCheck::ByService,
            (TargetCheck::Read, None) => return self.read_version(stored),
        };
        let (body, facts_of) = self.preconditions(stored, false, version);
        let daemon = Principal::daemon();
        let decided = decide(&stored.operation, &Command::Commit(Box::new(facts_of)), &self.facts(&daemon));
        if let Answer::Refused(refusal) = &decided.answer {
            tracing::warn!(%id, code = refusal.code.as_str(), "an approved operation is not executed");
        }
        self.follow(stored, decided.events, &Actor::daemon(), body);
    }

    /// Executes by id, for its requester. A repeat after success is answered with the stored result.
    pub(super) fn explicit_commit(&mut self, id: OperationId, by: &Principal, reply: Reply<CommandDone>) {
        let stored = match self.load(id) {
            Ok(stored) => stored,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        if stored.operation.proposal.requester.name != by.name {
            let problem = Problem::new(Code::PermissionDenied, "only its requester commits an operation");
            return drop(reply.send(Err(Box::new(problem))));
        }
        if self.dead_since.is_some() {
            let problem = Problem::new(Code::Unavailable, "the store is not available; ask again later");
            return drop(reply.send(Err(Box::new(problem))));
        }
        let approved = stored.operation.state == State::Approved;
        if approved && stored.operation.proposal.rules.check == TargetCheck::Read {
            // The version is read first; the write then goes on by itself and the caller sees where it stands.
            self.read_version(&stored);
            return self.answer_command(reply, stored, Answer::Done);
        }
        let (body, facts_of) = self.preconditions(&stored, true, VersionCheck::ByService);
        let decided = decide(&stored.operation, &Command::Commit(Box::new(facts_of)), &self.facts(by));
        let after = self.follow(&stored, decided.events, &Actor::from(by), body).unwrap_or(stored);
        self.answer_command(reply, after, decided.answer);
    }

    /// The facts of the decision. Everything that the store knows is read again here, in the single writer.
    fn preconditions(
        &mut self,
        stored: &Arc<Stored>,
        explicit: bool,
        version: VersionCheck,
    ) -> (Option<Body>, Preconditions) {
        let operation = &stored.operation;
        let proposal = &operation.proposal;
        let now = self.now();
        let run_open = self.run_record(proposal.run).is_ok_and(|run| run.is_open(now));
        let body = Records(self.parts.store.as_ref()).body(proposal.id).ok().flatten();
        let digests_equal = body.as_ref().is_some_and(|body| {
            Digest::of(body.arguments.as_bytes()) == proposal.arguments_sha256
                && body.request.digest() == proposal.request_sha256
                && proposal_digest(proposal, body) == proposal.proposal_sha256
        });
        let facts_of = Preconditions {
            attempt: self.parts.ids.attempt(),
            explicit,
            entitled: self.parts.directory.may_write(&proposal.requester, &proposal.tenant),
            run_open,
            paused: self.memory.hold.clone(),
            digests_equal,
            target_busy: self.memory.blocker(&proposal.target_key(), proposal.id),
            capacity: self.memory.running.len() < self.parts.limits.attempts,
            version,
        };
        (body, facts_of)
    }

    /// Appends what was decided and queues what follows: a launch, or a wait.
    fn follow(
        &mut self,
        before: &Arc<Stored>,
        events: Vec<Event>,
        by: &Actor,
        body: Option<Body>,
    ) -> Option<Arc<Stored>> {
        let id = before.operation.id();
        let after = if events.is_empty() {
            Arc::clone(before)
        } else {
            match self.append(Some(before), events, by) {
                Ok(after) => after,
                Err(error) => {
                    internal(&error);
                    return None;
                }
            }
        };
        match after.operation.state {
            State::Executing => {
                if let (Some(body), Some(attempt)) = (body, after.operation.running_attempt()) {
                    self.memory.running.insert(id);
                    self.launches.push(Launch { stored: Arc::clone(&after), body, attempt: attempt.id });
                }
            }
            State::Approved => self.queue_wait(&after),
            State::Proposed
            | State::Succeeded
            | State::Failed
            | State::Unknown
            | State::Abandoned
            | State::Denied
            | State::Expired
            | State::Cancelled
            | State::Compensating
            | State::Compensated
            | State::CompensationFailed => {}
        }
        Some(after)
    }

    fn queue_wait(&mut self, stored: &Arc<Stored>) {
        let id = stored.operation.id();
        match stored.operation.wait.as_ref().map(|waiting| &waiting.wait) {
            Some(Wait::TargetBusy(_)) => {
                let target = stored.operation.proposal.target_key();
                // It may have been freed by a later member of this group.
                if self.memory.blocker(&target, id).is_some() {
                    self.memory.wait_for_target(target, id);
                } else {
                    self.memory.look_at(id);
                }
            }
            Some(Wait::Limit) => self.memory.waiting_for_place.push_back(id),
            Some(Wait::Backoff | Wait::Paused(_) | Wait::VersionUnavailable) | None => {}
        }
    }

    fn read_version(&mut self, stored: &Arc<Stored>) {
        let id = stored.operation.id();
        if !self.memory.reading_version.insert(id) {
            return;
        }
        let read = VersionRead { stored: Arc::clone(stored) };
        read.start(&self.parts, &self.cache, &self.to_self, &self.runtime);
    }

    pub(super) fn version_read(&mut self, id: OperationId, version: VersionCheck) {
        self.memory.reading_version.remove(&id);
        let Ok(stored) = self.load(id) else { return };
        if stored.operation.state != State::Approved || self.dead_since.is_some() {
            return;
        }
        let unavailable = version == VersionCheck::Unavailable;
        self.try_start(&stored, Some(version));
        if unavailable {
            // It waits; the next look is with the clock that `snooze` sets.
            self.memory.retry_soon(id, self.now());
        }
    }
}

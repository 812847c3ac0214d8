//! One member of a group: a message is decided, appended, and its caller told after the commit.

use std::sync::Arc;

use super::Writer;
use super::refusals::{conflict, refused};
use crate::domain::ids::OperationId;
use crate::domain::journal::{Fact, Subject};
use crate::domain::operation::{Actor, Answer, Command, Event, Facts, State, decide, propose};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest};
use crate::engine::group::{Stamp, internal};
use crate::engine::handle::{CommandDone, unreadable};
use crate::engine::message::{Message, Reply};
use crate::engine::propose::{Draft, Proposed};
use crate::store::records::{Created, IdempotencyRecord, Records, Stored};

impl Writer {
    pub(super) fn member(&mut self, message: Message) {
        match message {
            Message::Propose { draft, reply } => self.propose(*draft, reply),
            Message::Command { id, command, by, reply } => self.command(id, &command, &by, reply),
            Message::Commit { id, by, reply } => self.explicit_commit(id, &by, reply),
            Message::VersionRead { id, version } => self.version_read(id, version),
            Message::Answer { id, attempt, answer, beside } => self.answer(id, attempt, *answer, *beside),
            Message::AttemptEnded { attempt } => self.attempt_ended(attempt),
            Message::Status { id, answer, readback } => self.status(id, answer, readback),
            Message::OpenRun { run, token, seen, key, reply } => {
                self.open_run(*run, token, &seen, key, reply);
            }
            Message::IssueRunToken { token, by, reply } => self.issue_run_token(token, &by, reply),
            Message::CreateToken { sha256, token, reply } => self.create_token(sha256, *token, reply),
            Message::RevokeToken { sha256, by, reply } => self.revoke_token(sha256, &by, reply),
            Message::CancelRun { id, by, reply } => self.cancel_run(id, &by, reply),
            Message::AcceptRestore { by, reply } => self.accept_restore(&by, reply),
            Message::Loaded { catalog, configuration } => self.loaded(catalog, configuration),
            Message::Reloaded { catalog, by, reply } => self.reloaded(catalog, &by, reply),
            Message::Pauses { reply } => self.tell(reply, self.memory.meta.0.pauses.clone()),
            Message::Pause { pause, reply } => self.pause(pause, reply),
            Message::Resume { scope, name, by, reply } => self.resume(scope, name, &by, reply),
            Message::Drain => self.draining = true,
            Message::Stop { reply } => {
                let _ = reply.send(());
            }
        }
    }

    pub(super) fn refuse_while_dead<T>(&self, reply: Reply<T>) -> Option<Reply<T>> {
        if self.dead_since.is_none() {
            return Some(reply);
        }
        let problem =
            Problem::new(Code::Unavailable, "the store is not available; nothing is accepted until it is");
        let _ = reply.send(Err(Box::new(problem)));
        None
    }

    /// Stores a proposal, or finds the operation that its key names. Whoever comes second with a key finds the first.
    fn propose(&mut self, draft: Draft, reply: Reply<Proposed>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        if let Some(key) = &draft.key {
            match self.remembered(key.scope) {
                Ok(None) => {}
                Ok(Some(record)) => return self.replay(&draft, record, reply),
                Err(problem) => return drop(reply.send(Err(problem))),
            }
        }
        // It was open when the draft was begun; a read has been made since.
        match self.run_record(draft.proposal.run) {
            Ok(run) if run.is_open(self.now()) => {}
            Ok(_) => {
                let problem = Problem::new(Code::DeadlineExceeded, "this run has ended");
                return drop(reply.send(Err(Box::new(problem))));
            }
            Err(problem) => return drop(reply.send(Err(problem))),
        }
        if let Err(problem) = self.refuse_denied(&draft.proposal) {
            return drop(reply.send(Err(problem)));
        }
        let Some(reply) = self.refuse_low_space(reply) else { return };
        match self.store_draft(draft) {
            Ok(stored) => {
                self.points.push("P1");
                self.tell(reply, Proposed { stored, replayed: false });
            }
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    /// What is left is for outcomes: nothing new is begun.
    pub(super) fn refuse_low_space<T>(&self, reply: Reply<T>) -> Option<Reply<T>> {
        if !self.parts.store.low_space() {
            return Some(reply);
        }
        let problem = Problem::new(
            Code::StorageFull,
            "little space is left: it is kept for outcomes, new runs and proposals are refused. Free space",
        );
        let _ = reply.send(Err(Box::new(problem)));
        None
    }

    fn store_draft(&mut self, draft: Draft) -> Result<Arc<Stored>, Box<Problem>> {
        let Draft { proposal, body, contract, key } = draft;
        let id = proposal.id;
        let by = proposal.requester.clone();
        let at = self.now();
        let arguments = proposal.arguments_sha256;
        if !self.cache.is_stored(proposal.contract) {
            let known = Records(self.parts.store.as_ref()).contract(proposal.contract);
            if known.map_err(|error| unreadable(&error))?.is_none() {
                self.group.put_contract(proposal.contract, &contract);
            }
        }
        let fingerprint = proposal.contract;
        self.group.put_body(id, &body).map_err(|error| internal(&error))?;
        if let Some(key) = key {
            let record =
                IdempotencyRecord { request: key.request, arguments, created: Created::Operation(id), at };
            self.group.put_idempotency(key.scope, record).map_err(|error| internal(&error))?;
        }
        let stored = self.append(None, propose(proposal, at), &by).map_err(|error| internal(&error))?;
        let cache = Arc::clone(&self.cache);
        self.after_commit(Box::new(move |problem| {
            if problem.is_none() {
                cache.stored(fingerprint);
            }
        }));
        Ok(stored)
    }

    pub(super) fn remembered(&self, scope: Digest) -> Result<Option<IdempotencyRecord>, Box<Problem>> {
        if let Some(record) = self.group.idempotency.get(&scope) {
            return Ok(Some(record.clone()));
        }
        Records(self.parts.store.as_ref()).idempotency(scope).map_err(|error| unreadable(&error))
    }

    fn replay(&mut self, draft: &Draft, record: IdempotencyRecord, reply: Reply<Proposed>) {
        let same = draft.key.as_ref().is_some_and(|key| key.request == record.request);
        if !same {
            let _ = reply.send(Err(conflict(&record, draft.proposal.arguments_sha256)));
            return;
        }
        let Created::Operation(id) = record.created else {
            let _ = reply.send(Err(conflict(&record, draft.proposal.arguments_sha256)));
            return;
        };
        match self.load(id) {
            Ok(stored) => self.tell(reply, Proposed { stored, replayed: true }),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    /// Answers after the commit of the group, so that nothing is told that is not durable.
    pub(super) fn tell<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
        self.after_commit(Box::new(move |problem| {
            let _ = reply.send(match problem {
                None => Ok(value),
                Some(problem) => Err(Box::new(problem.clone())),
            });
        }));
    }

    pub(super) fn facts<'a>(&self, by: &'a Principal) -> Facts<'a> {
        Facts { now: self.now(), by, jitter: self.parts.ids.jitter() }
    }

    fn command(&mut self, id: OperationId, command: &Command, by: &Principal, reply: Reply<CommandDone>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let before = match self.load(id) {
            Ok(before) => before,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        let decided = decide(&before.operation, command, &self.facts(by));
        let after = if decided.events.is_empty() {
            before
        } else {
            let approved = decided.events.iter().any(|event| matches!(event, Event::Approved { .. }));
            let last = decided.events.iter().any(|event| matches!(event, Event::Denied { last: true, .. }));
            match self.append(Some(&before), decided.events, &Actor::from(by)) {
                Ok(after) => {
                    if last && let Err(problem) = self.remember_denial(&after) {
                        return drop(reply.send(Err(problem)));
                    }
                    if approved {
                        self.points.push("P2");
                    }
                    after
                }
                Err(error) => return drop(reply.send(Err(internal(&error)))),
            }
        };
        // The answer shows what follows in the same group, too: an approved write is on its way when it is told.
        self.look_at_runnable();
        let after = self.group.operations.get(&id).cloned().unwrap_or(after);
        self.answer_command(reply, after, decided.answer);
    }

    pub(super) fn answer_command(&mut self, reply: Reply<CommandDone>, stored: Arc<Stored>, answer: Answer) {
        match answer {
            Answer::Refused(refusal) => {
                let problem = refused(&refusal, &stored.operation);
                self.after_commit(Box::new(move |failed| {
                    let problem = failed.map_or(problem, |failed| Box::new(failed.clone()));
                    let _ = reply.send(Err(problem));
                }));
            }
            Answer::Done | Answer::Already(_) => self.tell(reply, CommandDone { stored, answer }),
        }
    }

    /// Clocks that have been reached.
    pub(super) fn clocks(&mut self) {
        let now = self.now();
        let daemon = Principal::daemon();
        for id in self.memory.due(now, super::CLOCKS_PER_GROUP) {
            let Ok(before) = self.load(id) else {
                self.memory.retry_soon(id, now);
                continue;
            };
            let decided = decide(&before.operation, &Command::Tick, &self.facts(&daemon));
            if decided.events.is_empty() {
                self.clock_without_event(&before);
            } else if let Err(error) = self.append(Some(&before), decided.events, &Actor::daemon()) {
                tracing::error!(%id, %error, "a clock could not be recorded");
                self.memory.retry_soon(id, now);
            }
        }
    }

    /// A clock that changes nothing by itself: a back-off that is over, an attempt that still runs, a reminder.
    fn clock_without_event(&mut self, stored: &Arc<Stored>) {
        let id = stored.operation.id();
        if stored.operation.state == State::Approved {
            self.memory.look_at(id);
        }
        self.memory.snooze(stored, self.now());
    }

    pub(super) fn append_fact(
        &mut self,
        subject: Subject,
        number: u32,
        fact: &Fact,
        by: &Actor,
    ) -> Result<(), Box<Problem>> {
        let ids = Arc::clone(&self.parts.ids);
        let salt = move || ids.salt();
        let stamp = Stamp { at: self.now(), by, salt: &salt };
        self.group
            .append_fact(&mut self.memory.head, subject, number, fact, &stamp)
            .map_err(|error| internal(&error))
    }
}

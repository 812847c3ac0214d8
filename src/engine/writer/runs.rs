//! Runs and their tokens in the writer.

use std::sync::Arc;

use super::Writer;
use super::refusals::conflict;
use crate::domain::ids::RunId;
use crate::domain::journal::{Fact, Subject};
use crate::domain::operation::{Actor, Command, decide};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::run::{Run, RunEnd};
use crate::domain::token::RunToken;
use crate::domain::{Code, Digest};
use crate::engine::contracts_seen::Seen;
use crate::engine::group::internal;
use crate::engine::handle::{not_found, unreadable};
use crate::engine::message::Reply;
use crate::store::records::{Created, IdempotencyRecord, Records, keys};

impl Writer {
    pub(super) fn open_run(
        &mut self,
        run: Run,
        token: RunToken,
        seen: &Seen,
        key: Option<(Digest, Digest)>,
        reply: Reply<(Arc<Run>, bool)>,
    ) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        // A repeat is answered all the same.
        let low = self.parts.store.low_space();
        if let Some((scope, request)) = key {
            match self.remembered(scope) {
                Ok(None) => {}
                Ok(Some(IdempotencyRecord { created: Created::Run(id), request: known, .. }))
                    if known == request =>
                {
                    match self.run_record(id) {
                        Ok(run) => self.tell(reply, (run, true)),
                        Err(problem) => drop(reply.send(Err(problem))),
                    }
                    return;
                }
                Ok(Some(record)) => return drop(reply.send(Err(conflict(&record, request)))),
                Err(problem) => return drop(reply.send(Err(problem))),
            }
            let record = IdempotencyRecord {
                request,
                arguments: request,
                created: Created::Run(run.id),
                at: run.opened,
            };
            if !low && let Err(error) = self.group.put_idempotency(scope, record) {
                return drop(reply.send(Err(internal(&error))));
            }
        }
        let Some(reply) = self.refuse_low_space(reply) else { return };
        let run = Arc::new(run);
        let fact = Fact::RunOpened(Box::new(run.as_ref().clone()));
        self.store_seen(seen);
        self.published.hold_run(run.id, None);
        let opener = run.opener.clone();
        let put = self.put_run(&run, 0, 1, &fact, &opener);
        match put.and_then(|()| self.put_run_token(token, 0, &opener)) {
            Ok(()) => self.tell(reply, (run, false)),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    fn put_run(
        &mut self,
        run: &Arc<Run>,
        version: u64,
        number: u32,
        fact: &Fact,
        by: &Actor,
    ) -> Result<(), Box<Problem>> {
        self.append_fact(Subject::Run(run.id), number, fact, by)?;
        self.group.put(keys::run(run.id), version, run.as_ref()).map_err(|error| internal(&error))?;
        self.memory.remember_run(run);
        Ok(())
    }

    pub(super) fn run_record(&mut self, id: RunId) -> Result<Arc<Run>, Box<Problem>> {
        if let Some(run) = self.memory.runs.get(&id) {
            return Ok(Arc::clone(run));
        }
        let run = Records(self.parts.store.as_ref()).run(id).map_err(|error| unreadable(&error))?;
        let run = Arc::new(run.ok_or_else(not_found)?);
        self.memory.remember_run(&run);
        Ok(run)
    }

    /// Cancels a run and everything of it that has not started; what is executing is learned to its end.
    pub(super) fn cancel_run(&mut self, id: RunId, by: &Principal, reply: Reply<Arc<Run>>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let run = match self.run_record(id) {
            Ok(run) => run,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        if run.ended.is_some() {
            return self.tell(reply, run);
        }
        let issued = match self.run_token(id) {
            Ok(token) => token.map_or(0, |(token, _)| token.count),
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        let mut ended = run.as_ref().clone();
        ended.ended = Some((self.now(), RunEnd::Cancelled));
        let ended = Arc::new(ended);
        let actor = Actor::from(by);
        self.published.hold_run(id, Some(Arc::clone(&run)));
        let fact = Fact::RunEnded(RunEnd::Cancelled);
        if let Err(problem) = self.put_run(&ended, 1, issued.saturating_add(2), &fact, &actor) {
            return drop(reply.send(Err(problem)));
        }
        let of_run: Vec<_> = self
            .memory
            .operations
            .values()
            .filter(|stored| stored.operation.proposal.run == id)
            .map(|stored| stored.operation.id())
            .collect();
        for operation in of_run {
            let Ok(before) = self.load(operation) else { continue };
            let command = Command::Cancel { reason: Some("its run was cancelled".to_owned()) };
            let decided = decide(&before.operation, &command, &self.facts(by));
            if !decided.events.is_empty()
                && let Err(error) = self.append(Some(&before), decided.events, &actor)
            {
                tracing::error!(%operation, %error, "the cancellation of a run could not be recorded");
            }
        }
        self.tell(reply, ended);
    }

    /// Another token for an open run: from the commit on the one before is worth nothing.
    pub(super) fn issue_run_token(&mut self, token: RunToken, by: &Actor, reply: Reply<()>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        match self.run_record(token.run) {
            Ok(run) if run.is_open(self.now()) => {}
            Ok(_) => {
                let problem = Problem::new(Code::DeadlineExceeded, "this run has ended");
                return drop(reply.send(Err(Box::new(problem))));
            }
            Err(problem) => return drop(reply.send(Err(problem))),
        }
        let Some(reply) = self.refuse_low_space(reply) else { return };
        let put = self.run_token(token.run).and_then(|before| {
            let (count, version) = before.map_or((0, 0), |(before, version)| (before.count, version));
            self.put_run_token(RunToken { count: count.saturating_add(1), ..token }, version, by)
        });
        match put {
            Ok(()) => self.tell(reply, ()),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    fn put_run_token(&mut self, token: RunToken, version: u64, by: &Actor) -> Result<(), Box<Problem>> {
        let (run, number) = (token.run, token.count.saturating_add(1));
        let fact = Fact::RunTokenIssued(Box::new(token.clone()));
        self.append_fact(Subject::Run(run), number, &fact, by)?;
        self.group.put(keys::run_token(run), version, &token).map_err(|error| internal(&error))?;
        self.group.run_tokens.insert(run, (token, version.saturating_add(1)));
        Ok(())
    }

    fn run_token(&self, run: RunId) -> Result<Option<(RunToken, u64)>, Box<Problem>> {
        if let Some(pending) = self.group.run_tokens.get(&run) {
            return Ok(Some(pending.clone()));
        }
        Records(self.parts.store.as_ref()).run_token(run).map_err(|error| unreadable(&error))
    }
}

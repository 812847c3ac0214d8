//! Executing: the preconditions in their order, in one decision with the durable intent.

use std::sync::Arc;

use super::Writer;
use crate::domain::Code;
use crate::domain::ids::OperationId;
use crate::domain::operation::command::{PolicyNow, Preconditions, RunStanding, VersionCheck};
use crate::domain::operation::{
    Actor, Answer, Body, Command, CommitMode, Event, Operation, State, TargetCheck, Wait, decide,
    proposal_digest,
};
use crate::domain::pause::Pause;
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::run::{Run, RunEnd};
use crate::domain::{Digest, Time};
use crate::engine::attempt::{Launch, VersionRead};
use crate::engine::grants;
use crate::engine::group::internal;
use crate::engine::handle::{CommandDone, visible};
use crate::engine::memory::Reading;
use crate::engine::message::Reply;
use crate::engine::rulings;
use crate::store::records::{Records, Stored};

impl Writer {
    /// Looks at every approved operation that may have become executable since the last look.
    pub(super) fn look_at_runnable(&mut self) {
        if self.draining {
            return;
        }
        let mut unsynced = Vec::new();
        while let Some(id) = self.memory.next_runnable(self.parts.limits.attempts) {
            if self.group.bodies.contains(&id) {
                unsynced.push(id);
                continue;
            }
            let Ok(stored) = self.load(id) else { continue };
            if stored.operation.state == State::Approved {
                self.try_start(&stored, None, false);
            }
        }
        // What is executed is what the store holds: one that needs no approval is looked at when its body is synced.
        for id in unsynced {
            self.memory.look_at(id);
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
    fn try_start(&mut self, stored: &Arc<Stored>, version: Option<VersionCheck>, explicit: bool) {
        let id = stored.operation.id();
        let operation = &stored.operation;
        let asked = explicit
            || operation.proposal.rules.commit == CommitMode::OnApproval
            || operation.wait.is_some()
            || !operation.attempts.is_empty();
        let version = match (stored.operation.proposal.rules.check, version) {
            (_, Some(version)) => version,
            (TargetCheck::IfMatch | TargetCheck::Absent, None) => VersionCheck::ByService,
            // While another write is on the target its version says nothing; the decision waits for the target first.
            // Nobody has asked for it yet: its version is read when somebody does.
            (TargetCheck::Read, None) if !asked => VersionCheck::Unavailable,
            (TargetCheck::Read, None) if self.is_blocked(stored) => VersionCheck::Unavailable,
            (TargetCheck::Read, None) => return self.read_version(stored, explicit),
        };
        if self.draining {
            return;
        }
        if self.attempt_is_alive(stored) {
            return self.memory.retry_soon(id, self.now());
        }
        let (body, facts_of) = self.preconditions(stored, explicit, version);
        let waits = Waits::of(&facts_of);
        let daemon = Principal::daemon();
        let decided = decide(&stored.operation, &Command::Commit(Box::new(facts_of)), &self.facts(&daemon));
        if let Answer::Refused(refusal) = &decided.answer {
            tracing::warn!(%id, code = refusal.code.as_str(), "an approved operation is not executed");
        }
        self.follow(stored, decided.events, &Actor::daemon(), body, waits);
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
        if approved && (self.draining || self.attempt_is_alive(&stored)) {
            let problem = Problem::new(
                Code::Unavailable,
                "nothing is started now: the daemon is stopping, or the last attempt's connection is still open",
            );
            return drop(reply.send(Err(Box::new(problem))));
        }
        let reads = approved && stored.operation.proposal.rules.check == TargetCheck::Read;
        let version = if reads { VersionCheck::Asked } else { VersionCheck::ByService };
        let (body, facts_of) = self.preconditions(&stored, true, version);
        let (waits, blocker) = (Waits::of(&facts_of), facts_of.target_busy);
        let mut decided = decide(&stored.operation, &Command::Commit(Box::new(facts_of)), &self.facts(by));
        if let (Answer::Refused(refusal), Some(blocker)) = (&mut decided.answer, blocker)
            && refusal.code == Code::TargetBusy
            && self.load(blocker).is_ok_and(|blocker| visible(&blocker, by))
        {
            refusal.detail.push_str(&format!(" (it is {blocker})"));
        }
        let Some(after) = self.follow(&stored, decided.events, &Actor::from(by), body, waits) else {
            let problem = Problem::new(Code::Internal, "this could not be recorded; nothing was executed");
            return drop(reply.send(Err(Box::new(problem))));
        };
        if reads && decided.answer == Answer::Done && after.operation.state == State::Approved {
            // The write goes on by itself when the version is there, and the caller sees where it stands.
            self.read_version(&after, true);
        }
        self.answer_command(reply, after, decided.answer);
    }

    fn is_blocked(&self, stored: &Stored) -> bool {
        let proposal = &stored.operation.proposal;
        self.memory.blocker(&proposal.target_key(), proposal.id).is_some()
    }

    /// Whether the connection of an earlier attempt of it is still open: one live attempt per key.
    fn attempt_is_alive(&self, stored: &Stored) -> bool {
        stored.operation.attempts.iter().any(|attempt| self.memory.running.contains(&attempt.id))
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
        let run = match self.run_record(proposal.run) {
            Ok(run) => {
                let bound = operation.state == State::Approved && proposal.compensation_of.is_none();
                if let Some(deadline) = run.deadline.filter(|_| bound) {
                    self.memory.run_ends(stored, deadline);
                }
                standing(&run, now)
            }
            Err(_) => RunStanding::Unreadable,
        };
        let (body, unreadable) = match Records(self.parts.store.as_ref()).body(proposal.id) {
            Ok(body) => (body, None),
            // That it cannot be read now does not say that it has changed.
            Err(error) => {
                tracing::error!(operation = %proposal.id, %error, "a proposal's body cannot be read");
                (None, Some("its stored bytes cannot be read".to_owned()))
            }
        };
        let digests_equal = body.as_ref().is_some_and(|body| {
            Digest::of(body.arguments.as_bytes()) == proposal.arguments_sha256
                && body.request.digest() == proposal.request_sha256
                && proposal_digest(proposal, body) == proposal.proposal_sha256
        });
        let facts_of = Preconditions {
            attempt: self.parts.ids.attempt(),
            explicit,
            entitled: grants::may_execute(&self.parts, proposal),
            run,
            paused: self.stands_still().or(unreadable).or_else(|| self.paused(operation, body.as_ref())),
            approvers: self.approvers(operation),
            policy: self.policy_now(operation, body.as_ref(), now),
            digests_equal,
            target_busy: self.memory.blocker(&proposal.target_key(), proposal.id),
            capacity: self.memory.running.len() < self.parts.limits.attempts,
            budget: self.memory.spent.used_up(operation, self.parts.directory.budgets(), now),
            version,
        };
        (body, facts_of)
    }

    /// Why nothing at all is executed.
    fn stands_still(&self) -> Option<String> {
        self.memory.unreadable.clone().or_else(|| self.memory.hold.clone())
    }

    /// Which pause it falls under.
    fn paused(&self, operation: &Operation, body: Option<&Body>) -> Option<String> {
        let base = body.map_or("", |body| body.request.base.as_str());
        let pauses = &self.memory.meta.0.pauses;
        pauses.iter().find(|pause| pause.stops(&operation.proposal, base)).map(Pause::words)
    }

    fn approvers(&self, operation: &Operation) -> Vec<(String, Option<Vec<String>>)> {
        let tenant = &operation.proposal.tenant;
        let groups = |by: &Actor| self.parts.directory.approver_groups(by, tenant);
        operation.approvals().map(|known| (known.by.name.clone(), groups(&known.by))).collect()
    }

    /// The table in force on the stored facts. Without them it cannot be asked; the digests do not agree then, either.
    fn policy_now(&self, operation: &Operation, body: Option<&Body>, now: Time) -> PolicyNow {
        let proposal = &operation.proposal;
        let mut known = PolicyNow {
            version: proposal.policy,
            requirement: operation.requirement().clone(),
            execute_within: proposal.rules.execute_within,
        };
        if let Some(body) = body {
            let ruling = rulings::ruling(&self.parts, proposal, body, now);
            known.version = ruling.version;
            known.requirement = ruling.requirement;
            known.execute_within = ruling.execute_within.unwrap_or(known.execute_within);
        }
        known
    }

    /// Appends what was decided and queues what follows: a launch, or a wait.
    fn follow(
        &mut self,
        before: &Arc<Stored>,
        events: Vec<Event>,
        by: &Actor,
        body: Option<Body>,
        waits: Waits,
    ) -> Option<Arc<Stored>> {
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
                    self.memory.running.insert(attempt.id);
                    self.launches.push(Launch { stored: Arc::clone(&after), body, attempt: attempt.id });
                }
            }
            State::Approved => self.queue_wait(&after, waits),
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

    /// Queues it for what it waits for *now*: the record may still show an earlier reason when the decision was another.
    fn queue_wait(&mut self, stored: &Arc<Stored>, waits: Waits) {
        let id = stored.operation.id();
        match stored.operation.wait.as_ref().map(|waiting| &waiting.wait) {
            Some(Wait::TargetBusy(_)) if waits.target => {
                self.memory.wait_for_target(stored.operation.proposal.target_key(), id);
            }
            Some(Wait::Limit) if waits.place => drop(self.memory.waiting_for_place.insert(id)),
            Some(Wait::Budget(_)) if waits.budget.is_some() => {
                self.memory.look_again(stored, waits.budget.flatten(), self.now());
            }
            Some(Wait::Paused(_)) if waits.unreadable => self.memory.retry_soon(id, self.now()),
            Some(
                Wait::TargetBusy(_)
                | Wait::Limit
                | Wait::Backoff
                | Wait::Paused(_)
                | Wait::VersionUnavailable
                | Wait::Budget(_),
            )
            | None => {}
        }
    }

    fn read_version(&mut self, stored: &Arc<Stored>, explicit: bool) {
        let id = stored.operation.id();
        if let Some(reading) = self.memory.reading_version.get_mut(&id) {
            reading.explicit |= explicit;
            return;
        }
        let target = stored.operation.proposal.target_key();
        self.memory.reading_version.insert(id, Reading { explicit, target, stale: false });
        let read = VersionRead { stored: Arc::clone(stored) };
        read.start(&self.parts, &self.cache, &self.to_self, &self.runtime);
    }

    pub(super) fn version_read(&mut self, id: OperationId, version: VersionCheck) {
        let reading = self.memory.reading_version.remove(&id);
        let explicit = reading.as_ref().is_some_and(|reading| reading.explicit);
        let Ok(stored) = self.load(id) else { return };
        if stored.operation.state != State::Approved || self.dead_since.is_some() {
            return;
        }
        if reading.is_none_or(|reading| reading.stale) {
            return self.try_start(&stored, None, explicit);
        }
        let unavailable = version == VersionCheck::Unavailable;
        self.try_start(&stored, Some(version), explicit);
        let waits = self.load(id).is_ok_and(|after| after.operation.state == State::Approved);
        if unavailable && waits {
            self.memory.retry_soon(id, self.now());
        }
    }
}

/// What a decision found in the way of an attempt.
#[derive(Clone, Copy)]
struct Waits {
    target: bool,
    place: bool,
    unreadable: bool,
    /// A budget that is used up, and until when.
    budget: Option<Option<Time>>,
}

impl Waits {
    fn of(facts_of: &Preconditions) -> Waits {
        Waits {
            target: facts_of.target_busy.is_some(),
            place: !facts_of.capacity,
            budget: facts_of.budget.as_ref().map(|used_up| used_up.until),
            unreadable: facts_of.run == RunStanding::Unreadable || !facts_of.digests_equal,
        }
    }
}

fn standing(run: &Run, now: Time) -> RunStanding {
    match (&run.ended, run.is_open(now)) {
        (Some((_, RunEnd::Cancelled)), _) => RunStanding::Cancelled,
        (None, true) => RunStanding::Open,
        (None, false) => RunStanding::DeadlinePassed,
    }
}

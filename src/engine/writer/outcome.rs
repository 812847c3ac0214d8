//! What comes back from the world: answers of attempts, of the status protocol, and the end of an attempt's task.

use super::Writer;
use crate::domain::Code;
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::operation::command::{AttemptAnswer, StatusAnswer};
use crate::domain::operation::{Actor, Command, Evidence, Readback, State, decide};
use crate::domain::principal::Principal;
use crate::engine::message::{Beside, Message};

impl Writer {
    pub(super) fn answer(
        &mut self,
        id: OperationId,
        attempt: AttemptId,
        answer: AttemptAnswer,
        beside: Beside,
    ) {
        let kept = Message::Answer {
            id,
            attempt,
            answer: Box::new(answer.clone()),
            beside: Box::new(beside.clone()),
        };
        let recorded = self.outcome(id, &Command::RecordAnswer { attempt, answer }, kept);
        if let Some(raw) = beside.raw.filter(|_| recorded)
            && let Err(error) = self.group.put_raw(id, &raw)
        {
            tracing::error!(%id, %error, "an answer that is not fit to be a receipt could not be kept");
        }
        self.read_back(id, beside.readback);
    }

    pub(super) fn status(&mut self, id: OperationId, answer: StatusAnswer, readback: Option<Readback>) {
        let kept = Message::Status { id, answer: answer.clone(), readback: readback.clone() };
        let _ = self.outcome(id, &Command::RecordStatus { answer }, kept);
        self.read_back(id, readback);
    }

    /// In the same group as the success that it looked at; or after it, where a kept receipt has settled it meanwhile.
    fn read_back(&mut self, id: OperationId, found: Option<Readback>) {
        let Some(found) = found.filter(|_| self.dead_since.is_none()) else { return };
        let Ok(before) = self.load(id) else { return };
        let daemon = Principal::daemon();
        let decided = decide(&before.operation, &Command::RecordReadback { found }, &self.facts(&daemon));
        if !decided.events.is_empty()
            && let Err(error) = self.append(Some(&before), decided.events, &Actor::daemon())
        {
            tracing::error!(%id, %error, "what an independent read saw could not be appended");
        }
    }

    /// Whether it was recorded.
    fn outcome(&mut self, id: OperationId, command: &Command, kept: Message) -> bool {
        if self.dead_since.is_some() {
            // What happened in the world is not forgotten because the store is away.
            self.outcomes.push(kept);
            return false;
        }
        let before = match self.load(id) {
            Ok(before) => before,
            Err(problem) => {
                tracing::error!(%id, code = problem.code.as_str(), "an outcome has no operation to go to");
                return false;
            }
        };
        let daemon = Principal::daemon();
        let decided = decide(&before.operation, command, &self.facts(&daemon));
        if decided.events.is_empty() {
            return false;
        }
        match self.append(Some(&before), decided.events, &Actor::daemon()) {
            Ok(after) => {
                if after.operation.state.is_ended() {
                    self.points.push("P6");
                }
                self.outcomes.push(kept);
                true
            }
            Err(error) => {
                tracing::error!(%id, %error, "an outcome could not be appended");
                false
            }
        }
    }

    /// Its place is free; who waits for one is found when everything else has been looked at.
    pub(super) fn attempt_ended(&mut self, attempt: AttemptId) {
        self.memory.running.remove(&attempt);
    }

    /// Intents that were stored although their commit was reported as failed: their attempts were never launched, which
    /// is proof that nothing was sent.
    pub(super) fn settle_unlaunched(&mut self) {
        for (id, attempt) in std::mem::take(&mut self.unlaunched) {
            self.memory.running.remove(&attempt);
            let executing = self.load(id).is_ok_and(|stored| {
                let operation = &stored.operation;
                operation.state == State::Executing
                    && operation.running_attempt().is_some_and(|running| running.id == attempt)
            });
            if executing {
                let answer = AttemptAnswer::NoEffect {
                    code: Code::Unavailable,
                    retry_after: None,
                    evidence: Evidence::NothingSent,
                };
                self.answer(id, attempt, answer, Beside::default());
            }
        }
    }
}

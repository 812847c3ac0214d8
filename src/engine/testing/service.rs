//! A service that keeps notes with versions, and a ledger of every effect.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::domain::request::RenderedRequest;
use crate::ports::{Invoker, Later, NoReply, Purpose, Reply};

/// What the service does with a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Behaviour {
    /// It does it and says so.
    #[default]
    Works,
    /// It does it, and the answer is lost.
    LosesAnswers,
    /// It does not listen: not a byte is sent.
    Down,
    /// It does it and answers only after the test has said so.
    Hangs,
    /// It does it and never answers: the connection ends with the caller's time.
    Silent,
}

#[derive(Default)]
struct State {
    notes: HashMap<String, (u64, String)>,
    ledger: Vec<(String, String)>,
    behaviour: Behaviour,
    reads: u64,
    writes: u64,
    at_once: u64,
    most_at_once: u64,
    unreadable: bool,
    slow_reads: bool,
}

/// The service.
#[derive(Default)]
pub(crate) struct NoteService {
    state: Mutex<State>,
    released: tokio::sync::Notify,
    reads_released: tokio::sync::Notify,
}

impl NoteService {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, id: &str, version: u64, text: &str) {
        self.state().notes.insert(id.to_owned(), (version, text.to_owned()));
    }

    pub(crate) fn behave(&self, behaviour: Behaviour) {
        self.state().behaviour = behaviour;
    }

    /// Lets one hanging answer go.
    pub(crate) fn release(&self) {
        self.released.notify_one();
    }

    /// Keys and notes, one line per effect.
    pub(crate) fn ledger(&self) -> Vec<(String, String)> {
        self.state().ledger.clone()
    }

    /// Reads so far.
    pub(crate) fn reads(&self) -> u64 {
        self.state().reads
    }

    /// Writes that have arrived, whatever became of them.
    pub(crate) fn writes(&self) -> u64 {
        self.state().writes
    }

    /// How many writes were under way at the same time, at most.
    pub(crate) fn most_at_once(&self) -> u64 {
        self.state().most_at_once
    }

    /// Reads are answered with an error, or not.
    pub(crate) fn unreadable(&self, unreadable: bool) {
        self.state().unreadable = unreadable;
    }

    /// Reads that come in from now on are answered, with what they saw, only after [`NoteService::release_read`].
    pub(crate) fn slow_reads(&self, slow: bool) {
        self.state().slow_reads = slow;
    }

    /// Lets one slow read go.
    pub(crate) fn release_read(&self) {
        self.reads_released.notify_one();
    }

    fn read(&self, id: &str) -> Reply {
        let mut state = self.state();
        state.reads += 1;
        if state.unreadable {
            return reply(503, &json!({}));
        }
        match state.notes.get(id) {
            Some((version, text)) => {
                reply(200, &json!({"id": id, "text": text, "version": version, "secret": "s3cret"}))
            }
            None => reply(404, &json!({"code": "NO_NOTE"})),
        }
    }

    fn write(&self, id: &str, request: &RenderedRequest) -> Result<Reply, NoReply> {
        let header = |name: &str| request.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        let body: serde_json::Value =
            serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap();
        let mut state = self.state();
        if state.behaviour == Behaviour::Down {
            return Err(NoReply::NothingSent { cause: "connection refused".to_owned() });
        }
        state.writes += 1;
        let Some((version, _)) = state.notes.get(id).cloned() else { return Ok(reply(404, &json!({}))) };
        if header("if-match") != Some(version.to_string()) {
            return Ok(reply(409, &json!({"version": version})));
        }
        let text = body["text"].as_str().unwrap_or_default().to_owned();
        state.notes.insert(id.to_owned(), (version + 1, text));
        state.ledger.push((header("idempotency-key").unwrap_or_default(), id.to_owned()));
        if state.behaviour == Behaviour::LosesAnswers {
            return Err(NoReply::MayHaveArrived { cause: "connection reset".to_owned() });
        }
        Ok(reply(200, &json!({"note": id, "version": version + 1})))
    }
}

fn reply(status: u16, body: &serde_json::Value) -> Reply {
    Reply { status, headers: Vec::new(), body: serde_json::to_vec(body).unwrap() }
}

impl Invoker for NoteService {
    fn send(
        &self,
        request: RenderedRequest,
        _: Purpose,
        whole: Duration,
        _: usize,
    ) -> Later<'_, Result<Reply, NoReply>> {
        Box::pin(async move {
            let id = request.path.trim_start_matches("/notes/").to_owned();
            if request.method == "GET" {
                let slow = self.state().slow_reads;
                let seen = self.read(&id);
                if slow {
                    self.reads_released.notified().await;
                }
                return Ok(seen);
            }
            let _under_way = UnderWay::begin(self);
            let reply = self.write(&id, &request);
            let behaviour = self.state().behaviour;
            match behaviour {
                Behaviour::Hangs => self.released.notified().await,
                Behaviour::Silent => {
                    tokio::time::sleep(whole).await;
                    return Err(NoReply::MayHaveArrived { cause: "no answer in time".to_owned() });
                }
                Behaviour::Works | Behaviour::LosesAnswers | Behaviour::Down => {}
            }
            reply
        })
    }
}

/// Counts a write while its connection is open, however that ends.
struct UnderWay<'a>(&'a NoteService);

impl UnderWay<'_> {
    fn begin(service: &NoteService) -> UnderWay<'_> {
        let mut state = service.state();
        state.at_once += 1;
        state.most_at_once = state.most_at_once.max(state.at_once);
        UnderWay(service)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state().at_once -= 1;
    }
}

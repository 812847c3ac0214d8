//! Settles unknown outcomes by idempotency key: asks the service what became of it, and tells the writer. It sends
//! status queries and nothing else.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Cadence;
use super::watch::{NotFound, Watch};
use crate::domain::ids::OperationId;
use crate::domain::operation::command::StatusAnswer;
use crate::domain::operation::{Body, Readback, State};
use crate::engine::Handle;
use crate::ports::{NoReply, Purpose, Tool};
use crate::store::records::Stored;

/// The longest sleep: connections end without a signal.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// Runs until it is stopped.
pub(super) async fn run(handle: Handle, cadence: Cadence, stop: CancellationToken) {
    let mut task = StatusTask { handle, cadence, watches: HashMap::new(), queries: JoinSet::new() };
    loop {
        task.activate();
        let sleep = task.sleep();
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(sleep) => {}
            () = task.handle.published().doubt.notified() => {}
            Some(answered) = task.queries.join_next(), if !task.queries.is_empty() => {
                if let Ok(answered) = answered {
                    task.take(answered);
                }
            }
        }
    }
}

struct StatusTask {
    handle: Handle,
    cadence: Cadence,
    watches: HashMap<OperationId, (Watch, bool)>,
    queries: JoinSet<Answered>,
}

struct Answered {
    stored: Arc<Stored>,
    /// When it was asked: an answer says nothing about later.
    asked: Instant,
    tool: Option<Arc<dyn Tool>>,
    answer: StatusAnswer,
    readback: Option<Readback>,
}

impl StatusTask {
    /// Reads anew what is in doubt and asks about what is due.
    fn activate(&mut self) {
        let now = Instant::now();
        let doubts = self.handle.published().doubts();
        let asked = self.handle.published().take_asked();
        self.watches.retain(|id, _| doubts.binary_search(id).is_ok());
        for id in doubts {
            let (watch, querying) =
                self.watches.entry(id).or_insert_with(|| (Watch::new(now, &self.cadence), false));
            if self.handle.published().in_flight(id) {
                watch.connection_lives();
            } else {
                watch.connection_is_gone(now);
            }
            if asked.contains(&id) {
                watch.next = now;
            }
            let free = self.queries.len() < self.cadence.concurrency.max(1);
            if !*querying && watch.next <= now && free {
                let Some(stored) = self.handle.published().cached(id) else { continue };
                *querying = true;
                self.queries.spawn(ask(self.handle.clone(), stored));
            }
        }
    }

    fn sleep(&self) -> Duration {
        let now = Instant::now();
        let next = self.watches.values().filter(|(_, querying)| !querying).map(|(watch, _)| watch.next).min();
        next.map_or(LONGEST_SLEEP, |next| next.saturating_duration_since(now)).clamp(MIN_SLEEP, LONGEST_SLEEP)
    }

    /// Weighs an answer and hands it to the writer.
    fn take(&mut self, answered: Answered) {
        let id = answered.stored.operation.id();
        let Some((watch, querying)) = self.watches.get_mut(&id) else { return };
        *querying = false;
        let now = Instant::now();
        let attempts = |stored: &Stored| stored.operation.attempts.len();
        let current = self.handle.published().cached(id);
        if current.is_none_or(|current| attempts(&current) != attempts(&answered.stored)) {
            // Asked about an earlier attempt: it says nothing about the one that is in doubt now.
            watch.next = now;
            return;
        }
        let paused = answered.stored.operation.doubt.as_ref().is_some_and(|doubt| doubt.paused.is_some());
        let mut wish = None;
        let answer = match (answered.answer, &answered.tool) {
            (StatusAnswer::NotFound { .. }, Some(tool)) => {
                let proven = match watch.not_found(answered.asked, &tool.settlement()) {
                    NotFound::Proven => true,
                    NotFound::AskAgain(after) => {
                        wish = Some(after).filter(|_| !paused);
                        false
                    }
                };
                StatusAnswer::NotFound { proven }
            }
            (answer, _) => {
                watch.other_answer();
                answer
            }
        };
        watch.schedule(now, wish, paused, &self.cadence, fastrand::f64());
        // The engine goes away only together with this task.
        let _ = self.handle.record_status(id, answer, answered.readback);
    }
}

/// The shortest sleep, so that a full set of queries does not make a busy loop.
const MIN_SLEEP: Duration = Duration::from_millis(5);

/// One status query.
async fn ask(handle: Handle, stored: Arc<Stored>) -> Answered {
    let asked = Instant::now();
    let of = Arc::clone(&stored);
    // A task of its own: a query that ends badly is not decisive, and the next one is made all the same.
    let answered = tokio::spawn(async move { query(&handle, &of).await }).await;
    match answered.unwrap_or_else(|_| Err("the query ended before its answer".to_owned())) {
        Ok((tool, answer, readback)) => Answered { stored, asked, tool: Some(tool), answer, readback },
        Err(cause) => {
            let answer = StatusAnswer::Inconclusive { cause };
            Answered { stored, asked, tool: None, answer, readback: None }
        }
    }
}

/// What the status protocol said, and after a success what an independent read sees.
type Found = (Arc<dyn Tool>, StatusAnswer, Option<Readback>);

async fn query(handle: &Handle, stored: &Arc<Stored>) -> Result<Found, String> {
    let proposal = &stored.operation.proposal;
    debug_assert_ne!(stored.operation.state, State::Proposed, "nothing is in doubt about it");
    let tool = handle.tool_of(proposal)?;
    let body: Body = handle.body(proposal.id).map_err(|_| "its proposal cannot be read".to_owned())?;
    let arguments =
        serde_json::from_str(&body.arguments).map_err(|_| "its arguments cannot be read".to_owned())?;
    let Some(request) = tool.status_request(proposal, &arguments) else {
        return Err("its contract has no status protocol: only an operator can know".to_owned());
    };
    let invoker = &handle.parts().invoker;
    let request = handle.traced(proposal, request);
    let answer = match invoker.send(request, Purpose::Status, tool.timeout(), tool.max_output()).await {
        Ok(reply) => {
            // Away from the threads that serve sockets: what a check costs is bounded, but not nothing.
            let (judge, stored) = (Arc::clone(&tool), Arc::clone(stored));
            let judged = move || judge.classify_status(&stored.operation.proposal, &body.request, &reply);
            let broken = |_| "the check of the answer ended badly".to_owned();
            tokio::task::spawn_blocking(judged).await.map_err(broken)?
        }
        Err(NoReply::NothingSent { cause } | NoReply::MayHaveArrived { cause }) => {
            StatusAnswer::Inconclusive { cause: format!("the service could not be asked: {cause}") }
        }
    };
    let readback = match &answer {
        StatusAnswer::Succeeded { receipt, .. } => {
            handle.read_back(proposal, tool.as_ref(), &body.arguments, receipt).await
        }
        StatusAnswer::Failed { .. }
        | StatusAnswer::InProgress { .. }
        | StatusAnswer::NotFound { .. }
        | StatusAnswer::Inconclusive { .. } => None,
    };
    Ok((tool, answer, readback))
}

//! One attempt: send exactly the stored request, classify the answer, tell the writer. Ambiguous is the default.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::message::{Beside, Message};
use super::published::Published;
use super::readback::read_back;
use super::toolcache::ToolCache;
use super::{Parts, admit, call, failpoint};
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::operation::command::{AttemptAnswer, StatusAnswer, VersionCheck};
use crate::domain::operation::{Body, Evidence, Loss, RAW_ANSWER_KEPT, RawAnswer};
use crate::domain::{Code, Digest, Time};
use crate::ports::{NoReply, Purpose, Reply, Tool};
use crate::store::records::{Records, Stored};

/// After the deadline the connection is kept for one more timeout, at most this long: a late answer is evidence. The
/// settle time begins when it is gone.
const LATE_ANSWER_WINDOW: Duration = Duration::from_secs(30);

/// An attempt whose intent is stored.
pub(super) struct Launch {
    pub(super) stored: Arc<Stored>,
    pub(super) body: Body,
    pub(super) attempt: AttemptId,
}

impl Launch {
    pub(super) fn names(&self) -> (OperationId, AttemptId) {
        (self.stored.operation.id(), self.attempt)
    }

    /// Starts the attempt's task. Nothing before this line has sent a byte.
    pub(super) fn start(
        self,
        parts: &Parts,
        published: &Arc<Published>,
        cache: &Arc<ToolCache>,
        writer: &Sender<Message>,
        runtime: &tokio::runtime::Handle,
    ) {
        let (parts, published) = (parts.clone(), Arc::clone(published));
        let (cache, writer) = (Arc::clone(cache), writer.clone());
        let (id, attempt) = self.names();
        published.attempt_begins(id);
        let place = Place { id, attempt, published, writer: writer.clone() };
        runtime.spawn(async move {
            self.run(&parts, &cache, &writer).await;
            drop(place);
        });
    }

    async fn run(self, parts: &Parts, cache: &ToolCache, writer: &Sender<Message>) {
        let proposal = &self.stored.operation.proposal;
        let tell_with = |answer: AttemptAnswer, beside: Beside| {
            let (answer, beside) = (Box::new(answer), Box::new(beside));
            let _ = writer.send(Message::Answer { id: proposal.id, attempt: self.attempt, answer, beside });
        };
        let tell = |answer| tell_with(answer, Beside::default());
        let tool = match cache.of(proposal, parts.tools.as_ref(), Records(parts.store.as_ref())) {
            Ok(tool) => tool,
            Err(error) => {
                tracing::error!(operation = %proposal.id, %error, "an attempt cannot be made");
                return tell(nothing_sent(Code::UnsupportedTool));
            }
        };
        let timeout = proposal.rules.timeout.to_std();
        let whole = timeout + timeout.min(LATE_ANSWER_WINDOW);
        let send = parts.invoker.send(
            call::traced(parts, proposal.trace, self.body.request.clone()),
            Purpose::Write,
            whole,
            tool.max_output(),
        );
        tokio::pin!(send);
        let answered = match tokio::time::timeout(timeout, &mut send).await {
            Ok(answered) => answered,
            Err(_) => {
                tell(AttemptAnswer::Ambiguous { cause: Loss::Deadline });
                send.await
            }
        };
        failpoint::pass("P5");
        let reply = answered.as_ref().ok().cloned();
        let answer = self.classify(Arc::clone(&tool), answered).await;
        let mut beside = Beside::default();
        match (&answer, reply) {
            (AttemptAnswer::Ambiguous { .. }, Some(reply)) => {
                beside.raw = self.raw(tool.as_ref(), &reply, parts.clock.now());
            }
            (AttemptAnswer::Receipt { receipt, .. }, _) => {
                self.keep_receipt(tool.as_ref(), receipt, writer);
                let arguments = &self.body.arguments;
                beside.readback = read_back(parts, tool.as_ref(), proposal, arguments, receipt).await;
            }
            _ => {}
        }
        tell_with(answer, beside);
    }

    /// The receipt is stored before an independent read is made: whatever becomes of that, the success is proven.
    fn keep_receipt(&self, tool: &dyn Tool, receipt: &str, writer: &Sender<Message>) {
        if tool.wants_readback() {
            let answer = StatusAnswer::Succeeded { receipt: receipt.to_owned(), new_version: None };
            let id = self.stored.operation.id();
            let _ = writer.send(Message::Status { id, answer, readback: None });
        }
    }

    /// What is kept of an answer that claims success and is not fit to be a receipt.
    fn raw(&self, tool: &dyn Tool, reply: &Reply, at: Time) -> Option<RawAnswer> {
        let mut bytes = tool.keep_raw(reply)?;
        bytes.truncate(RAW_ANSWER_KEPT);
        Some(RawAnswer {
            attempt: self.attempt,
            at,
            status: reply.status,
            bytes,
            size: u64::try_from(reply.body.len()).unwrap_or(u64::MAX),
            sha256: Digest::of(&reply.body),
        })
    }

    async fn classify(&self, tool: Arc<dyn Tool>, answered: Result<Reply, NoReply>) -> AttemptAnswer {
        match answered {
            Ok(reply) => {
                admit::classify(tool, Arc::clone(&self.stored), self.body.request.clone(), reply).await
            }
            Err(NoReply::NothingSent { cause }) => {
                tracing::info!(operation = %self.stored.operation.id(), cause, "nothing was sent");
                nothing_sent(Code::Unavailable)
            }
            Err(NoReply::MayHaveArrived { cause }) => {
                AttemptAnswer::Ambiguous { cause: Loss::ConnectionLost(cause) }
            }
        }
    }
}

/// The place of a running attempt. It is given back whatever becomes of the task, or it would be lost for ever.
struct Place {
    id: OperationId,
    attempt: AttemptId,
    published: Arc<Published>,
    writer: Sender<Message>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.published.attempt_is_gone(self.id);
        let _ = self.writer.send(Message::AttemptEnded { attempt: self.attempt });
    }
}

fn nothing_sent(code: Code) -> AttemptAnswer {
    AttemptAnswer::NoEffect { code, retry_after: None, evidence: Evidence::NothingSent }
}

/// The target's version, read just before an attempt where the contract wants that.
pub(super) struct VersionRead {
    pub(super) stored: Arc<Stored>,
}

impl VersionRead {
    pub(super) fn start(
        self,
        parts: &Parts,
        cache: &Arc<ToolCache>,
        writer: &Sender<Message>,
        runtime: &tokio::runtime::Handle,
    ) {
        let (parts, cache, writer) = (parts.clone(), Arc::clone(cache), writer.clone());
        let id = self.stored.operation.id();
        let read = runtime.spawn(async move { self.read(&parts, &cache).await });
        runtime.spawn(async move {
            // A read that ended badly is a version that is not known.
            let version = read.await.ok().flatten().unwrap_or(VersionCheck::Unavailable);
            let _ = writer.send(Message::VersionRead { id, version });
        });
    }

    async fn read(&self, parts: &Parts, cache: &ToolCache) -> Option<VersionCheck> {
        let proposal = &self.stored.operation.proposal;
        let records = Records(parts.store.as_ref());
        let tool = cache.of(proposal, parts.tools.as_ref(), records).ok()?;
        let body = records.body(proposal.id).ok().flatten()?;
        let arguments = serde_json::from_str(&body.arguments).ok()?;
        let before =
            call::preview(parts, tool.as_ref(), &arguments, &call::AskedBy::proposer(proposal)).await.ok()?;
        tool.version_in(&arguments, &before).ok().map(VersionCheck::Read)
    }
}

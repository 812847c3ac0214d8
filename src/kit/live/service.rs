//! A service as a contract reaches it: reads, writes and status queries, each made, sent and judged by the daemon's own
//! parts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::sandbox::{self, Looked};
use crate::contracts::{
    Answer, Classified, Contract, Expect, NotFound, Recovery, StatusAnswer, StatusContext, StatusProtocol,
    ToolRef,
};
use crate::domain::Digest;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::Actor;
use crate::domain::principal::{Assurance, PrincipalKind};
use crate::domain::problem::Problem;
use crate::kit::Parts;
use crate::ports::{NoReply, Plan, PlanInput, Purpose, Tool};

/// Who the service sees in the actor headers.
const REQUESTER: &str = "contract-kit";

/// The service behind a contract.
pub(in crate::kit) struct Service<'p> {
    pub(super) parts: &'p Parts,
    pub(in crate::kit) contract: Arc<Contract>,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) patience: Duration,
}

/// The names under which a write is sent.
#[derive(Clone, Debug)]
pub(in crate::kit) struct Identity {
    pub(super) operation: OperationId,
    pub(super) run: RunId,
    pub(super) key: String,
}

/// A write, ready to be sent.
#[derive(Clone, Debug)]
pub(in crate::kit) struct Write {
    pub(super) args: Value,
    pub(super) before: Value,
    pub(super) plan: Plan,
    pub(super) id: Identity,
}

/// Why there is no request, or no data.
#[derive(Debug)]
pub(in crate::kit) enum Stop {
    /// The contract refuses the arguments; nothing was sent.
    Refused(Box<Problem>),
    /// The service refuses the read.
    Read(Box<Problem>),
    /// No answer.
    NoAnswer(String),
}

/// What came of sending a write.
#[derive(Debug)]
pub(in crate::kit) enum Sent {
    /// An answer, and what it says.
    Answered(Answer, Classified),
    /// Nothing was sent.
    Nothing(String),
    /// No answer: it may have arrived.
    Lost(String),
}

impl Stop {
    /// In words, without values.
    pub(in crate::kit) fn words(&self) -> String {
        match self {
            Stop::Refused(problem) => {
                format!("the contract refuses it ({}): {}", problem.code, problem.detail)
            }
            Stop::Read(problem) => format!("the read is refused ({}): {}", problem.code, problem.detail),
            Stop::NoAnswer(cause) => format!("the service does not answer: {cause}"),
        }
    }
}

impl Sent {
    /// In words, without values.
    pub(in crate::kit) fn words(&self) -> String {
        match self {
            Sent::Answered(answer, Classified::Receipt(_)) => format!("a receipt (status {})", answer.status),
            Sent::Answered(answer, Classified::Failed { code, .. }) => {
                format!("{code} (status {})", answer.status)
            }
            Sent::Answered(answer, Classified::NoEffectRetryable { code, .. }) => {
                format!("{code} (status {}): nothing happened, try again", answer.status)
            }
            Sent::Answered(answer, Classified::Partial { code, .. }) => {
                format!("a partial result, {code} (status {})", answer.status)
            }
            Sent::Answered(answer, Classified::Accepted { .. }) => {
                format!("accepted (status {})", answer.status)
            }
            Sent::Answered(_, Classified::Ambiguous { cause }) => {
                format!("nothing that proves anything: {cause}")
            }
            Sent::Nothing(cause) => format!("nothing was sent: {cause}"),
            Sent::Lost(cause) => format!("no answer: {cause}"),
        }
    }
}

impl<'p> Service<'p> {
    pub(in crate::kit) fn new(
        parts: &'p Parts,
        contract: &Arc<Contract>,
        tool: Arc<dyn Tool>,
        patience: Duration,
    ) -> Service<'p> {
        Service { parts, contract: Arc::clone(contract), tool, patience }
    }

    /// The contract as the engine sees it.
    pub(in crate::kit) fn tool(&self) -> &dyn Tool {
        self.tool.as_ref()
    }

    /// How long a status may take.
    pub(in crate::kit) fn patience(&self) -> Duration {
        self.patience
    }

    /// Where it is, if its base is configured.
    pub(in crate::kit) fn origin(&self) -> Option<&'p str> {
        self.parts.origins.get(self.contract.base()).map(String::as_str)
    }

    /// The sandbox behind it, if there is one.
    pub(in crate::kit) async fn look(&self) -> Looked<'p> {
        match self.origin() {
            Some(origin) => sandbox::look(self.parts.invoker.as_ref(), self.contract.base(), origin).await,
            None => Looked::Unreachable(format!("the base `{}` is not configured", self.contract.base())),
        }
    }

    /// New names.
    pub(in crate::kit) fn identity(&self) -> Identity {
        let (operation, run) = (self.parts.ids.operation(), self.parts.ids.run());
        Identity { operation, run, key: format!("{run}:{operation}") }
    }

    /// The data of a read.
    pub(in crate::kit) async fn read(&self, tool: &dyn Tool, args: &Value) -> Result<Value, Stop> {
        let full = tool.admit(args).map_err(Stop::Refused)?.value();
        let actor = Actor {
            name: REQUESTER.to_owned(),
            kind: PrincipalKind::Service,
            person: REQUESTER.to_owned(),
            assurance: Assurance::LocalUid,
        };
        let request = tool.read_request(&full, self.parts.ids.run(), &actor).map_err(Stop::Refused)?;
        let sent = self.parts.invoker.send(request, Purpose::Read, tool.timeout(), tool.max_output()).await;
        let reply = sent.map_err(|error| Stop::NoAnswer(error.to_string()))?;
        tool.read_result(&reply).map_err(Stop::Read)
    }

    /// What the preview answers now.
    pub(super) async fn before(&self, args: &Value) -> Result<Value, Stop> {
        let Some(read) = self.tool.preview(args).map_err(Stop::Refused)? else { return Ok(Value::Null) };
        let Some(tool) = self.parts.tools.current(&read.tool, read.major) else {
            let tool = ToolRef { name: read.tool, major: read.major };
            return Err(Stop::NoAnswer(format!("the read `{tool}` is not in the catalog")));
        };
        self.read(tool.as_ref(), &read.arguments).await
    }

    /// A write under these names, from what is there now.
    pub(in crate::kit) async fn prepare(&self, args: &Value, id: Identity) -> Result<Write, Stop> {
        let full = self.tool.admit(args).map_err(Stop::Refused)?.value();
        let before = self.before(&full).await?;
        self.plan(full, before, id)
    }

    /// A write under these names, from what is said to be there.
    pub(super) fn plan(&self, args: Value, before: Value, id: Identity) -> Result<Write, Stop> {
        let args = match self.tool.quote(&args, &before).map_err(Stop::Refused)?.arguments {
            Some(filled) => self.tool.admit(&filled).map_err(Stop::Refused)?.value(),
            None => args,
        };
        let input = PlanInput {
            arguments: &args,
            before: &before,
            operation: id.operation,
            run: id.run,
            requester: REQUESTER,
            on_behalf_of: None,
            key: &id.key,
        };
        let plan = self.tool.plan(input).map_err(Stop::Refused)?;
        Ok(Write { args, before, plan, id })
    }

    /// Sends exactly the request of the write, once.
    pub(in crate::kit) async fn send(&self, write: &Write) -> Sent {
        let request = write.plan.request.clone();
        let (timeout, max) = (self.tool.timeout(), self.tool.max_output());
        match self.parts.invoker.send(request, Purpose::Write, timeout, max).await {
            Err(NoReply::NothingSent { cause }) => Sent::Nothing(cause),
            Err(NoReply::MayHaveArrived { cause }) => Sent::Lost(cause),
            Ok(reply) => {
                let answer = Answer::read(reply.status, reply.headers, &reply.body, max);
                let operation = write.id.operation.to_string();
                let classified = self.contract.classify(&answer, &expect(write, &operation));
                Sent::Answered(answer, classified)
            }
        }
    }

    /// Asks the status route what became of the write, once.
    pub(in crate::kit) async fn status(&self, write: &Write) -> StatusAnswer {
        let (operation, run) = (write.id.operation.to_string(), write.id.run.to_string());
        let of = StatusContext {
            origin: &write.plan.request.origin,
            key: &write.id.key,
            operation: &operation,
            run: &run,
            args: &write.args,
        };
        let request = match self.contract.render_status(&of) {
            Ok(request) => request,
            Err(error) => return StatusAnswer::Inconclusive { cause: error.to_string() },
        };
        let (timeout, max) = (self.tool.timeout(), self.tool.max_output());
        match self.parts.invoker.send(request, Purpose::Status, timeout, max).await {
            Err(error) => StatusAnswer::Inconclusive { cause: error.to_string() },
            Ok(reply) => {
                let answer = Answer::read(reply.status, reply.headers, &reply.body, max);
                self.contract.classify_status(&answer, &expect(write, &operation))
            }
        }
    }

    /// How an unknown outcome is settled, where a status route does it.
    pub(super) fn protocol(&self) -> Option<&StatusProtocol> {
        match self.contract.as_write().map(|write| &write.recovery) {
            Ok(Recovery::StatusByKey(protocol)) => Some(protocol),
            Ok(Recovery::None) | Err(_) => None,
        }
    }

    /// Whether the contract takes "not found" as proof.
    pub(super) fn not_found_is_proof(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.not_found == NotFound::NoEffect)
    }
}

fn expect<'a>(write: &'a Write, operation: &'a str) -> Expect<'a> {
    Expect {
        key: &write.id.key,
        operation,
        body_sha256: Digest::of(write.plan.request.body.as_deref().unwrap_or_default()),
        version: write.plan.target.version.as_deref(),
    }
}

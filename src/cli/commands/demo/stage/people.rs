//! Who speaks to the daemon, each under a name of its own, through the same client and the same wire objects as every
//! command.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::wire::request::{ApproveBody, CallBody, OpenRunBody, ProposeBody, ResolveBody, ToolRef};
use crate::api::wire::{CallView, CommandAnswer, EventView, OperationDetail, OperationView, Page, RunView};
use crate::cli::client::{Ask, Client, ClientError};
use crate::cli::failure::Failure;
use crate::cli::waiting::path;
use crate::domain::Digest;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::problem::Problem;

/// How long anything that must happen may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// One long poll.
const POLL: Duration = Duration::from_secs(2);

/// The agent, an approver, an operator.
pub(crate) struct People {
    agent: Client,
    alice: Client,
    oscar: Client,
}

/// A write as the agent asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Written<'a> {
    /// The agent's own key for it.
    pub(crate) key: &'a str,
    /// The tool.
    pub(crate) tool: &'a str,
    /// Whose address.
    pub(crate) customer: &'a str,
    /// The version that the agent read.
    pub(crate) based_on: Value,
    /// The first line of the new address.
    pub(crate) line1: &'a str,
}

impl People {
    pub(super) fn at(socket: &Path) -> People {
        let named = |name: &str| Client::new(socket.to_owned(), Some(name.to_owned()));
        People { agent: named("agent"), alice: named("alice"), oscar: named("oscar") }
    }

    /// The agent opens a run that may propose these tools.
    pub(crate) async fn open_run(&self, tools: &[&str]) -> Result<RunId, Failure> {
        let body = OpenRunBody {
            purpose: "Customers told us that they have moved".to_owned(),
            tools: tools.iter().map(|name| tool(name)).collect::<Result<_, _>>()?,
            deadline: None,
        };
        Ok(self.agent.ask::<RunView>(Ask::post("/v1/runs", &body).key("demo-run")).await?.id)
    }

    /// The agent reads a customer.
    pub(crate) async fn read(&self, run: RunId, customer: &str) -> Result<Value, Failure> {
        let body = CallBody { tool: tool("get_customer.v1")?, arguments: json!({"customer_id": customer}) };
        Ok(self.agent.ask::<CallView>(Ask::post(format!("/v1/runs/{run}/calls"), &body)).await?.data)
    }

    /// The agent proposes a write.
    pub(crate) async fn propose(
        &self,
        run: RunId,
        write: &Written<'_>,
    ) -> Result<OperationView, ClientError> {
        let Ok(tool) = write.tool.parse::<ToolRef>() else {
            return Err(ClientError::Refused(no_tool(write.tool)));
        };
        let body = ProposeBody {
            tool,
            arguments: write.arguments(),
            based_on: Some(write.based_on.clone()),
            purpose: format!("{} has moved and asks for the new address", write.customer),
            supersedes: None,
        };
        self.agent.ask(Ask::post(format!("/v1/runs/{run}/proposals"), &body).key(write.key)).await
    }

    /// Alice looks at a write.
    pub(crate) async fn show(&self, id: OperationId) -> Result<OperationDetail, Failure> {
        Ok(self.alice.ask(Ask::get(path(id))).await?)
    }

    /// Alice approves what has this digest.
    pub(crate) async fn approve(
        &self,
        id: OperationId,
        digest: Digest,
    ) -> Result<CommandAnswer, ClientError> {
        let body = ApproveBody { digest, note: None };
        self.alice.ask(Ask::post(format!("{}/approve", path(id)), &body)).await
    }

    /// Oscar says what became of a write.
    pub(crate) async fn resolve(
        &self,
        id: OperationId,
        body: &ResolveBody,
    ) -> Result<CommandAnswer, Failure> {
        Ok(self.oscar.ask(Ask::post(format!("{}/resolve", path(id)), body)).await?)
    }

    /// Everything there is, oldest first.
    pub(crate) async fn operations(&self) -> Result<Vec<OperationView>, Failure> {
        let page: Page<OperationView> = self.oscar.ask(Ask::get("/v1/operations?limit=100")).await?;
        Ok(page.items.into_iter().rev().collect())
    }

    /// The journal of a write, oldest entry first.
    pub(crate) async fn events(&self, id: OperationId) -> Result<Vec<EventView>, Failure> {
        let page: Page<EventView> =
            self.oscar.ask(Ask::get(format!("{}/events?limit=100", path(id)))).await?;
        Ok(page.items)
    }

    /// Waits until something is true of a write; `what` is for the failure.
    pub(crate) async fn until(
        &self,
        id: OperationId,
        what: &str,
        wanted: impl Fn(&OperationDetail) -> bool,
    ) -> Result<OperationDetail, Failure> {
        let until = Instant::now() + PATIENCE;
        let mut seen = self.show(id).await?;
        while !wanted(&seen) {
            if Instant::now() > until {
                let (state, effect) = (seen.summary.state, seen.summary.effect);
                let words = format!("{id} was to be {what}, and is {state} (effect {effect})");
                return Err(Failure::internal(words));
            }
            let after = format!("{}?after={}", path(id), seen.summary.events);
            seen = self.alice.ask(Ask::get(after).wait(Some(POLL))).await?;
        }
        Ok(seen)
    }
}

impl Written<'_> {
    /// The arguments, as the agent's object holds them.
    pub(crate) fn arguments(&self) -> Value {
        json!({"customer_id": self.customer, "destination": address(self.line1)})
    }
}

/// An address in Stockholm.
pub(crate) fn address(line1: &str) -> Value {
    json!({"line1": line1, "postal_code": "111 34", "city": "Stockholm", "country": "SE"})
}

/// The refusal that was wanted; an answer, or the lack of one, is a failure.
pub(crate) fn refusal<T>(what: &str, answer: Result<T, ClientError>) -> Result<Box<Problem>, Failure> {
    match answer {
        Err(ClientError::Refused(problem)) => Ok(problem),
        Err(other) => Err(other.into()),
        Ok(_) => Err(Failure::internal(format!("{what} was to be refused, and was not"))),
    }
}

fn tool(name: &str) -> Result<ToolRef, Failure> {
    name.parse().map_err(|_| Failure::Problem(no_tool(name)))
}

fn no_tool(name: &str) -> Box<Problem> {
    Box::new(Problem::new(crate::domain::Code::Internal, format!("`{name}` names no tool")))
}

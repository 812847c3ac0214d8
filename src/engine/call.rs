//! Reads: a call inside a run, and the preview that a proposal is made from.

use std::sync::Arc;

use serde_json::Value;

use super::Parts;
use super::admit;
use super::handle::Handle;
use crate::domain::ids::{CallId, RunId};
use crate::domain::json::Canonical;
use crate::domain::operation::{Actor, Effect, Proposal};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::domain::trace::{TRACEPARENT, TraceId};
use crate::domain::{Code, Time};
use crate::ports::{Audience, NoReply, PreviewRead, Purpose, Tool, ToolError};

/// A read that an agent wants.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The tool.
    pub tool: String,
    /// Its major version.
    pub major: u32,
    /// Its arguments.
    pub arguments: Value,
}

/// What a read answered.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// The call.
    pub id: CallId,
    /// The data, redacted for agents. Untrusted.
    pub data: Value,
}

impl Handle {
    /// Makes a read in an open run.
    ///
    /// # Errors
    /// What the contract or the service says; a read has no effect.
    pub async fn call(
        &self,
        run: RunId,
        by: &Principal,
        request: CallRequest,
    ) -> Result<CallResult, Box<Problem>> {
        let of = self.open_run_of(run, by)?;
        let name = format!("{}.v{}", request.tool, request.major);
        super::grants::may_use(&self.parts, by, of.on_behalf_of.as_deref(), &name)?;
        let tool = self
            .tool_in(&of, &request.tool, request.major)
            .filter(|tool| !tool.is_write())
            .ok_or_else(|| no_such_tool(&request.tool, request.major, "read"))?;
        let arguments = admit::admit(&tool, &request.arguments).await?.value();
        let by = AskedBy { run, requester: &Actor::from(by), trace: of.trace };
        let data = read(&self.parts, &tool, &arguments, &by).await?;
        Ok(CallResult { id: self.parts.ids.call(), data: tool.redact(Audience::Agent, data) })
    }
}

/// The answer is the same for a tool that does not exist and for one of another kind.
pub(super) fn no_such_tool(tool: &str, major: u32, kind: &str) -> Box<Problem> {
    let detail = format!("there is no {kind} tool `{tool}` with major version {major} in the catalog");
    Box::new(Problem::new(Code::UnsupportedTool, detail))
}

/// For whom something is read.
#[derive(Clone, Copy)]
pub(super) struct AskedBy<'a> {
    pub(super) run: RunId,
    pub(super) requester: &'a Actor,
    pub(super) trace: TraceId,
}

impl<'a> AskedBy<'a> {
    /// Whoever proposed a write.
    pub(super) fn proposer(proposal: &'a Proposal) -> AskedBy<'a> {
        AskedBy { run: proposal.run, requester: &proposal.requester, trace: proposal.trace }
    }
}

/// A request as it leaves: with the context of its trace beside what was rendered, hashed and stored.
pub(crate) fn traced(parts: &Parts, trace: TraceId, mut request: RenderedRequest) -> RenderedRequest {
    let known = |(name, _): &(String, String)| name.eq_ignore_ascii_case(TRACEPARENT);
    if !request.headers.iter().any(known) {
        request.headers.push((TRACEPARENT.to_owned(), trace.traceparent(parts.ids.salt())));
    }
    request
}

/// One read under its contract: rendered, sent, validated. Not redacted.
pub(super) async fn read(
    parts: &Parts,
    tool: &Arc<dyn Tool>,
    arguments: &Value,
    by: &AskedBy<'_>,
) -> Result<Value, ToolError> {
    let request = traced(parts, by.trace, tool.read_request(arguments, by.run, by.requester)?);
    match parts.invoker.send(request, Purpose::Read, tool.timeout(), tool.max_output()).await {
        Ok(reply) => admit::read_result(tool, reply).await,
        Err(NoReply::NothingSent { cause } | NoReply::MayHaveArrived { cause }) => {
            let detail = format!("the service did not answer the read `{}`: {cause}", tool.name());
            Err(Box::new(Problem::new(Code::Unavailable, detail)))
        }
    }
}

/// What a proposal is made from.
pub(super) struct Previewed {
    /// The canonical arguments, with what a preview tool filled in.
    pub(super) arguments: Canonical,
    /// What the preview answered.
    pub(super) answer: Value,
    /// The id that a preview tool gave its answer, else that of the call.
    pub(super) id: String,
    /// Until when the answer holds.
    pub(super) expires: Option<Time>,
}

/// Makes the preview of admitted arguments. What a preview tool fills in is admitted as if it had been given.
pub(super) async fn previewed(
    parts: &Parts,
    tool: &Arc<dyn Tool>,
    arguments: Canonical,
    by: &AskedBy<'_>,
) -> Result<Previewed, ToolError> {
    let value = arguments.value();
    let call = parts.ids.call();
    let answer = preview(parts, tool.as_ref(), &value, by).await?;
    let quote = tool.quote(&value, &answer)?;
    let arguments = match quote.arguments {
        Some(filled) => admit::admit(tool, &filled).await.map_err(|problem| filled_in_badly(*problem))?,
        None => arguments,
    };
    let id = quote.id.unwrap_or_else(|| call.to_string());
    Ok(Previewed { arguments, answer, id, expires: quote.expires })
}

/// The arguments were taken before something was filled in: it is not the proposer's mistake.
fn filled_in_badly(mut problem: Problem) -> ToolError {
    let detail = format!("what the preview tool filled in is refused: {}", problem.detail);
    problem.detail = detail;
    problem.code = Code::OutputInvalid;
    problem.effect = Effect::None;
    Box::new(problem)
}

/// The data of a write tool's preview; null where it has none.
pub(super) async fn preview(
    parts: &Parts,
    tool: &dyn Tool,
    arguments: &Value,
    by: &AskedBy<'_>,
) -> Result<Value, ToolError> {
    let Some(wanted) = tool.preview(arguments)? else { return Ok(Value::Null) };
    by_reference(parts, &wanted, by).await
}

/// A read that a write tool's contract names.
pub(super) async fn by_reference(
    parts: &Parts,
    wanted: &PreviewRead,
    by: &AskedBy<'_>,
) -> Result<Value, ToolError> {
    let reader = parts
        .tools
        .current(&wanted.tool, wanted.major)
        .filter(|reader| !reader.is_write())
        .ok_or_else(|| no_such_tool(&wanted.tool, wanted.major, "read"))?;
    let arguments = admit::admit(&reader, &wanted.arguments).await?.value();
    read(parts, &reader, &arguments, by).await
}

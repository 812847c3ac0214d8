//! Checking arguments and answers against a contract, away from the threads that serve sockets: what a value costs is
//! bounded, but not nothing.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::Code;
use crate::domain::json::Canonical;
use crate::domain::operation::Loss;
use crate::domain::operation::command::AttemptAnswer;
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::ports::{Reply, Tool, ToolError};
use crate::store::records::Stored;

fn broken<T>(_: T) -> ToolError {
    Box::new(Problem::new(Code::Internal, "a check against the contract ended badly; nothing was executed"))
}

/// The arguments of a call, validated and with their defaults.
pub(super) async fn admit(tool: &Arc<dyn Tool>, arguments: &Value) -> Result<Canonical, ToolError> {
    let (tool, arguments) = (Arc::clone(tool), arguments.clone());
    tokio::task::spawn_blocking(move || tool.admit(&arguments)).await.map_err(broken)?
}

/// What an answer to an attempt says. A check that ended badly proves nothing.
pub(super) async fn classify(
    tool: Arc<dyn Tool>,
    stored: Arc<Stored>,
    request: RenderedRequest,
    reply: Reply,
) -> AttemptAnswer {
    let judge = move || tool.classify(&stored.operation.proposal, &request, &reply);
    tokio::task::spawn_blocking(judge).await.unwrap_or_else(|_| {
        let cause = "the check of the answer ended badly".to_owned();
        AttemptAnswer::Ambiguous { cause: Loss::Undeclared(cause) }
    })
}

/// The data of a read's answer, validated.
pub(super) async fn read_result(tool: &Arc<dyn Tool>, reply: Reply) -> Result<Value, ToolError> {
    let tool = Arc::clone(tool);
    tokio::task::spawn_blocking(move || tool.read_result(&reply)).await.map_err(broken)?
}

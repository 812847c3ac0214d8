//! Checking arguments and answers against a contract, away from the threads that serve sockets: what a value costs is
//! bounded, but not nothing.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::Code;
use crate::domain::json::Canonical;
use crate::domain::problem::Problem;
use crate::ports::{Reply, Tool, ToolError};

fn broken<T>(_: T) -> ToolError {
    Box::new(Problem::new(Code::Internal, "a check against the contract ended badly; nothing was executed"))
}

/// The arguments of a call, validated and with their defaults.
pub(super) async fn admit(tool: &Arc<dyn Tool>, arguments: &Value) -> Result<Canonical, ToolError> {
    let (tool, arguments) = (Arc::clone(tool), arguments.clone());
    tokio::task::spawn_blocking(move || tool.admit(&arguments)).await.map_err(broken)?
}

/// The data of a read's answer, validated.
pub(super) async fn read_result(tool: &Arc<dyn Tool>, reply: Reply) -> Result<Value, ToolError> {
    let tool = Arc::clone(tool);
    tokio::task::spawn_blocking(move || tool.read_result(&reply)).await.map_err(broken)?
}

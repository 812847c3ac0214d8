//! Checking arguments and answers against a contract, away from the threads that serve sockets: what a value costs is
//! bounded, but not nothing. What is small is checked in place: a hop to another thread costs more.

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

/// Values up to about so many bytes are checked in place.
const SMALL: usize = 4096;

/// Whether a value is small, without writing it out.
fn is_small(value: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) -> bool {
        let own = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
            Value::String(text) => text.len() + 8,
            Value::Array(_) | Value::Object(_) => 16,
        };
        let Some(rest) = left.checked_sub(own) else { return false };
        *left = rest;
        match value {
            Value::Array(elements) => elements.iter().all(|element| count(element, left)),
            Value::Object(members) => members.iter().all(|(name, member)| {
                *left = left.saturating_sub(name.len());
                count(member, left)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    count(value, &mut { SMALL })
}

fn broken<T>(_: T) -> ToolError {
    Box::new(Problem::new(Code::Internal, "a check against the contract ended badly; nothing was executed"))
}

/// The arguments of a call, validated and with their defaults.
pub(super) async fn admit(tool: &Arc<dyn Tool>, arguments: &Value) -> Result<Canonical, ToolError> {
    if is_small(arguments) {
        return tool.admit(arguments);
    }
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
    if reply.body.len() <= SMALL {
        return tool.classify(&stored.operation.proposal, &request, &reply);
    }
    let judge = move || tool.classify(&stored.operation.proposal, &request, &reply);
    tokio::task::spawn_blocking(judge).await.unwrap_or_else(|_| {
        let cause = "the check of the answer ended badly".to_owned();
        AttemptAnswer::Ambiguous { cause: Loss::Undeclared(cause) }
    })
}

/// The data of a read's answer, validated.
pub(super) async fn read_result(tool: &Arc<dyn Tool>, reply: Reply) -> Result<Value, ToolError> {
    if reply.body.len() <= SMALL {
        return tool.read_result(&reply);
    }
    let tool = Arc::clone(tool);
    tokio::task::spawn_blocking(move || tool.read_result(&reply)).await.map_err(broken)?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_small_is_known_without_writing_it_out() {
        assert!(is_small(&json!({"a": ["b", 1, null]})));
        assert!(!is_small(&json!("x".repeat(SMALL))));
        assert!(!is_small(&json!(vec![0; SMALL])));
        let mut deep = json!(1);
        for _ in 0..300 {
            deep = Value::Array(vec![deep]);
        }
        assert!(!is_small(&deep));
    }
}

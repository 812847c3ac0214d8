//! Words of the contracts module in the words of the domain. Pure.

use serde_json::Value;

use crate::contracts::{Answer, Contract, Lifecycle, Receipt, RenderError, ToolRef, Violation};
use crate::domain::Code;
use crate::domain::json::Canonical;
use crate::domain::operation::command::AttemptAnswer;
use crate::domain::operation::{Effect, Loss};
use crate::domain::problem::Problem;
use crate::ports::{Life, Reply, ToolError};

pub(super) fn ambiguous(cause: &str) -> AttemptAnswer {
    AttemptAnswer::Ambiguous { cause: Loss::Undeclared(cause.to_owned()) }
}

pub(super) fn canonical_text(value: &Value) -> Result<String, ToolError> {
    let canonical = Canonical::of(value).map_err(|error| Box::new(Problem::from(&error)))?;
    Ok(canonical.as_str().to_owned())
}

/// Contracts are checked against the dictionary when they are loaded; a code that is not in it means stop.
pub(super) fn code_of(text: &str) -> Code {
    text.parse().unwrap_or(Code::Internal)
}

pub(super) fn life(lifecycle: &Lifecycle) -> Life {
    let name = |tool: &Option<ToolRef>| tool.as_ref().map(ToString::to_string);
    match lifecycle {
        Lifecycle::Active => Life::Active,
        Lifecycle::Deprecated { until, successor } => {
            Life::Deprecated { until: until.clone(), successor: name(successor) }
        }
        Lifecycle::Retired { successor } => Life::Retired { successor: name(successor) },
    }
}

pub(super) fn invalid(violations: &[Violation]) -> ToolError {
    let mut problem = Problem::new(Code::InvalidArgument, "the arguments do not fit the contract");
    if let Some(first) = violations.first() {
        problem = problem.pointer(format!("/arguments{}", first.pointer));
    }
    for violation in violations {
        let pointer = format!("/arguments{}", violation.pointer);
        problem = problem.finding(pointer, Code::InvalidArgument, violation.message.clone());
    }
    Box::new(problem)
}

pub(super) fn unrendered(error: &RenderError) -> ToolError {
    if matches!(error, RenderError::Quote { .. }) {
        let mut problem = Problem::new(Code::OutputInvalid, error.to_string());
        problem.effect = Effect::None;
        return Box::new(problem);
    }
    Box::new(Problem::new(
        Code::InvalidArgument,
        format!("the request cannot be made from these values: {error}"),
    ))
}

/// The receipt as it is stored.
pub(super) fn receipt_text(contract: &Contract, receipt: &Receipt) -> Option<String> {
    canonical_text(&contract.without_never_store(&receipt.data)).ok()
}

/// The answer, parsed strictly; what cannot be read is said to be unreadable, never guessed.
pub(super) fn answer_of(reply: &Reply, max_output: usize) -> Answer {
    Answer::read(reply.status, reply.headers.clone(), &reply.body, max_output)
}

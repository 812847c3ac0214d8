//! What a refused member is told.

use crate::domain::operation::{Effect, Operation, Refusal};
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest};
use crate::store::records::{Created, IdempotencyRecord};

/// The key stands for another request; the first one stands.
pub(in crate::engine) fn conflict(record: &IdempotencyRecord, arguments: Digest) -> Box<Problem> {
    let differs = match record.arguments == arguments {
        true => "with the same arguments it was based on another version, had another purpose or superseded another".to_owned(),
        false => format!("its arguments were {}, these are {arguments}", record.arguments),
    };
    let detail = format!(
        "this Idempotency-Key was used for another request: {differs}. \
         The first request stands; use another key for another write"
    );
    let mut problem = Problem::new(Code::IdempotencyConflict, detail);
    if let Created::Operation(id) = record.created {
        problem.operation_id = Some(id);
    }
    Box::new(problem)
}

/// A refusal, with what is true of the operation: once an attempt exists, state and effect come first.
pub(super) fn refused(refusal: &Refusal, operation: &Operation) -> Box<Problem> {
    let mut problem = Problem::new(refusal.code, refusal.detail.clone());
    problem.operation_id = Some(operation.id());
    problem.state = Some(operation.state.as_str().to_owned());
    problem.effect = if operation.attempts.is_empty() { Effect::None } else { operation.effect };
    Box::new(problem)
}

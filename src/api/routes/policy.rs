//! What the policy table in force says: about an operation, and about a write that is not proposed.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::{ExplainQuery, NoQuery};
use crate::api::strict::{JsonBody, Query};
use crate::api::wire::ExplainView;
use crate::api::wire::request::ExplainBody;
use crate::engine::ProposeRequest;

pub(super) async fn explain(caller: Caller, Query(query): Query<ExplainQuery>) -> Answer {
    let found = caller.engine().explain(query.operation, caller.principal())?;
    let operation = &found.stored.operation;
    let view = ExplainView::of(&operation.proposal, found.at, &found.explained, caller.is_person());
    json(StatusCode::OK, &view.beside(operation, &found.explained))
}

pub(super) async fn dry_run(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<ExplainBody>,
) -> Answer {
    let request = ProposeRequest {
        tool: body.tool.name,
        major: body.tool.major,
        arguments: body.arguments,
        based_on: body.based_on,
        purpose: body.purpose,
        supersedes: None,
        key: None,
    };
    let run = caller.engine().dry_run(body.run, caller.principal(), request).await?;
    let mut view = ExplainView::of(&run.proposal, run.proposal.created, &run.explained, caller.is_person());
    view.dry_run = true;
    json(StatusCode::OK, &view)
}

//! Emergency pauses: looked at, begun, ended.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::{JsonBody, Query};
use crate::api::wire::PausesView;
use crate::api::wire::request::{PauseBody, ResumeBody};

pub(super) async fn list(caller: Caller, Query(NoQuery): Query<NoQuery>) -> Answer {
    let pauses = caller.engine().pauses(caller.principal()).await?;
    json(StatusCode::OK, &PausesView::of(&pauses))
}

pub(super) async fn pause(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<PauseBody>,
) -> Answer {
    let PauseBody { scope, name, reason } = body;
    let pauses = caller.engine().pause(caller.principal(), scope, name, reason).await?;
    json(StatusCode::OK, &PausesView::of(&pauses))
}

pub(super) async fn resume(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<ResumeBody>,
) -> Answer {
    let pauses = caller.engine().resume(caller.principal(), body.scope, body.name).await?;
    json(StatusCode::OK, &PausesView::of(&pauses))
}

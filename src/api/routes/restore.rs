//! After an import: the operator releases the writes that it holds.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::{JsonBody, Query};
use crate::api::wire::Accepted;
use crate::api::wire::request::EmptyBody;

pub(super) async fn accept(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let epoch = caller.engine().accept_restore(caller.principal()).await?;
    json(StatusCode::OK, &Accepted { epoch })
}

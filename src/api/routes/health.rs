//! Whether the daemon lives and works. The only routes without a principal: they say nothing about anything else.

use axum::extract::State;
use axum::http::StatusCode;

use crate::api::Api;
use crate::api::answer::{Answer, json};
use crate::api::caller::starting;
use crate::api::queries::NoQuery;
use crate::api::strict::Query;
use crate::api::wire::HealthState;
use crate::domain::Code;
use crate::domain::problem::Problem;

/// It lives; also while it starts.
pub(super) async fn healthz(State(api): State<Api>, Query(NoQuery): Query<NoQuery>) -> Answer {
    json(StatusCode::OK, &api.health())
}

/// It works.
pub(super) async fn readyz(State(api): State<Api>, Query(NoQuery): Query<NoQuery>) -> Answer {
    let health = api.health();
    match health.state {
        HealthState::Ready => json(StatusCode::OK, &health),
        HealthState::Starting => Err(starting(&api)),
        HealthState::Stopping => {
            Err(Problem::new(Code::Unavailable, "the daemon is stopping").retry_after(1).into())
        }
    }
}

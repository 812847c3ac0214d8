//! The list of routes. One file per resource; each handler takes a [`super::caller::Caller`] first.

mod catalog;
mod commands;
mod events;
mod health;
mod inbox;
mod operations;
mod pauses;
mod policy;
mod restore;
mod runs;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::routing::{MethodRouter, get, post};
use strsim::damerau_levenshtein;

use super::Api;
use super::answer::{Refused, invalid};
use crate::domain::Code;
use crate::domain::problem::Problem;

type Route = (&'static str, MethodRouter<Api>);

/// Every path and its methods.
fn list() -> Vec<Route> {
    let mut routes = vec![
        ("/v1/runs", post(runs::open)),
        ("/v1/runs/{id}", get(runs::show)),
        ("/v1/runs/{id}/calls", post(runs::call)),
        ("/v1/runs/{id}/proposals", post(runs::propose)),
        ("/v1/runs/{id}/cancel", post(runs::cancel)),
        ("/v1/operations", get(operations::list)),
        ("/v1/operations/{id}", get(operations::show)),
        ("/v1/operations/{id}/events", get(operations::events)),
        ("/v1/operations/{id}/answer", get(operations::answer)),
        ("/v1/inbox", get(inbox::show)),
        ("/v1/events", get(events::stream)),
        ("/v1/contracts", get(catalog::contracts)),
        ("/v1/catalog", get(catalog::show)),
        ("/v1/catalog/reload", post(catalog::reload)),
        ("/v1/pauses", get(pauses::list).post(pauses::pause)),
        ("/v1/pauses/resume", post(pauses::resume)),
        ("/v1/policy/explain", get(policy::explain).post(policy::dry_run)),
        ("/v1/restore/accept", post(restore::accept)),
        ("/healthz", get(health::healthz)),
        ("/readyz", get(health::readyz)),
    ];
    routes.extend(commands());
    routes
}

/// The commands on an operation.
fn commands() -> Vec<Route> {
    vec![
        ("/v1/operations/{id}/approve", post(commands::approve)),
        ("/v1/operations/{id}/deny", post(commands::deny)),
        ("/v1/operations/{id}/revoke", post(commands::revoke)),
        ("/v1/operations/{id}/commit", post(commands::commit)),
        ("/v1/operations/{id}/cancel", post(commands::cancel)),
        ("/v1/operations/{id}/reconcile", post(commands::reconcile)),
        ("/v1/operations/{id}/resolve", post(commands::resolve)),
        ("/v1/operations/{id}/abandon", post(commands::abandon)),
        ("/v1/operations/{id}/compensate", post(commands::compensate)),
    ]
}

/// The router of the whole API; made once per process.
pub(super) fn router(api: Api) -> Router {
    let mut router = Router::new();
    for (path, methods) in list() {
        router = router.route(path, methods);
    }
    router.fallback(no_such_path).method_not_allowed_fallback(wrong_method).with_state(api)
}

async fn no_such_path(uri: Uri) -> Refused {
    let path = uri.path();
    // Ids in a path differ by more than a slip of the finger; only fixed paths are worth a suggestion.
    let near = list()
        .iter()
        .filter(|(known, _)| !known.contains('{'))
        .map(|(known, _)| (damerau_levenshtein(path, known), *known))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    let detail = match near {
        Some((_, known)) => format!("there is no such path; did you mean {known}?"),
        None => "there is no such path".to_owned(),
    };
    Problem::new(Code::NotFound, detail).into()
}

async fn wrong_method() -> Refused {
    invalid(
        StatusCode::METHOD_NOT_ALLOWED,
        "this path does not take this method; the header Allow names those it takes",
    )
}

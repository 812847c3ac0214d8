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
mod tokens;

use axum::http::{StatusCode, Uri};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use strsim::damerau_levenshtein;

use super::Api;
use super::answer::{Refused, invalid};
use crate::domain::Code;
use crate::domain::problem::Problem;

/// One path.
struct Route {
    path: &'static str,
    methods: MethodRouter<Api>,
    /// Whether it is there for the token of a run.
    run: bool,
    /// Whether it is there on the network, too.
    network: bool,
}

fn route(path: &'static str, methods: MethodRouter<Api>) -> Route {
    Route { path, methods, run: false, network: true }
}

impl Route {
    fn for_runs(mut self) -> Route {
        self.run = true;
        self
    }

    /// What changes who may do what, or what is in force, is for whoever has a place on this machine.
    fn local(mut self) -> Route {
        self.network = false;
        self
    }
}

/// Through which door a request comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Door {
    /// The local socket: the kernel names the account.
    Socket,
    /// The listener of the network: tokens only.
    Network,
}

/// What a route is for, seen by whoever looks at the caller.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) run: bool,
}

/// Every path and its methods.
fn list() -> Vec<Route> {
    let mut routes = vec![
        route("/v1/runs", post(runs::open)),
        route("/v1/runs/{id}", get(runs::show)).for_runs(),
        route("/v1/runs/{id}/calls", post(runs::call)).for_runs(),
        route("/v1/runs/{id}/proposals", post(runs::propose)).for_runs(),
        route("/v1/runs/{id}/cancel", post(runs::cancel)),
        route("/v1/runs/{id}/token", post(runs::token)),
        route("/v1/operations", get(operations::list)).for_runs(),
        route("/v1/operations/{id}", get(operations::show)).for_runs(),
        route("/v1/operations/{id}/events", get(operations::events)).for_runs(),
        route("/v1/operations/{id}/answer", get(operations::answer)),
        route("/v1/inbox", get(inbox::show)),
        route("/v1/events", get(events::stream)).for_runs(),
        route("/v1/contracts", get(catalog::contracts)),
        route("/v1/catalog", get(catalog::show)),
        route("/v1/catalog/reload", post(catalog::reload)).local(),
        route("/v1/pauses", get(pauses::list).post(pauses::pause)),
        route("/v1/pauses/resume", post(pauses::resume)),
        route("/v1/policy/explain", get(policy::explain).post(policy::dry_run)),
        route("/v1/restore/accept", post(restore::accept)).local(),
        route("/v1/tokens", get(tokens::list).post(tokens::create)).local(),
        route("/v1/tokens/{id}/revoke", post(tokens::revoke)).local(),
        // They ask for no token, and say more than a stranger needs.
        route("/healthz", get(health::healthz)).local(),
        route("/readyz", get(health::readyz)).local(),
    ];
    routes.extend(commands());
    routes
}

/// The commands on an operation.
fn commands() -> Vec<Route> {
    vec![
        route("/v1/operations/{id}/approve", post(commands::approve)),
        route("/v1/operations/{id}/deny", post(commands::deny)),
        route("/v1/operations/{id}/revoke", post(commands::revoke)),
        route("/v1/operations/{id}/commit", post(commands::commit)).for_runs(),
        route("/v1/operations/{id}/cancel", post(commands::cancel)).for_runs(),
        route("/v1/operations/{id}/reconcile", post(commands::reconcile)),
        route("/v1/operations/{id}/resolve", post(commands::resolve)),
        route("/v1/operations/{id}/abandon", post(commands::abandon)),
        route("/v1/operations/{id}/compensate", post(commands::compensate)),
    ]
}

fn behind(door: Door) -> impl Iterator<Item = Route> {
    list().into_iter().filter(move |route| match door {
        Door::Socket => true,
        Door::Network => route.network,
    })
}

/// The router behind a door; made once per process.
pub(super) fn router(api: Api, door: Door) -> Router {
    let mut router = Router::new();
    for Route { path, methods, run, .. } in behind(door) {
        router = router.route(path, methods.layer(Extension(Access { run })));
    }
    let no_such_path = move |uri: Uri| async move { no_such_path(&uri, door) };
    router.fallback(no_such_path).method_not_allowed_fallback(wrong_method).with_state(api)
}

fn no_such_path(uri: &Uri, door: Door) -> Refused {
    let path = uri.path();
    // Ids in a path differ by more than a slip of the finger; only fixed paths are worth a suggestion.
    let near = behind(door)
        .filter(|route| !route.path.contains('{'))
        .map(|route| (damerau_levenshtein(path, route.path), route.path))
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

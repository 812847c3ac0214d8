//! The API: HTTP/1.1 and JSON over the local socket, and over the listener of the network.
//!
//! It owns the [`wire`] types, the strict reading of requests, the routes, the two doors ([`socket`], [`network`]) and
//! their connections. Who may
//! call it: the composition root; the CLI for the wire types. What it never does: change a state by itself, reach the
//! engine without an authenticated principal ([`caller::Caller`] is the only way in), name a store, an adapter or the
//! configuration, or answer anything that the engine has not made durable.

mod answer;
mod bodies;
mod caller;
pub mod network;
mod queries;
mod routes;
mod server;
pub mod socket;
mod stream;
mod strict;
#[cfg(test)]
mod tests;
pub mod wire;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::principal::Principal;
use crate::engine::Handle;

pub use caller::Peer;
pub use server::Service;

use self::wire::{Health, HealthState, Progress};

/// From the peer's account and the name that it chose to a principal, or in words why nobody was identified. The words
/// must be the same for a name of another account and one that does not exist.
pub type Identify = Arc<dyn Fn(u32, Option<&str>) -> Result<Principal, String> + Send + Sync>;

/// What the API is told by the composition root.
#[derive(Clone)]
pub struct Settings {
    /// Who is who.
    pub identify: Identify,
    /// Largest body of a request, in bytes.
    pub max_request: usize,
    /// Longest `?wait=`; longer ones are cut to it.
    pub max_wait: Duration,
    /// Items of a page that says no size.
    pub page_default: usize,
    /// Most items of a page.
    pub page_max: usize,
}

struct Inner {
    settings: Settings,
    engine: OnceLock<Handle>,
    progress: Mutex<Progress>,
    stopping: CancellationToken,
}

/// The API, as the composition root holds it: cheap to clone.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

impl Api {
    /// An API that answers "starting" until [`Api::ready`].
    #[must_use]
    pub fn new(settings: Settings) -> Api {
        let progress = Progress { phase: "starting".to_owned(), done: 0, total: None };
        Api(Arc::new(Inner {
            settings,
            engine: OnceLock::new(),
            progress: Mutex::new(progress),
            stopping: CancellationToken::new(),
        }))
    }

    /// How far the start has come.
    pub fn progress(&self, progress: Progress) {
        *self.0.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// The engine is there. Only the first call counts.
    pub fn ready(&self, engine: Handle) {
        let _ = self.0.engine.set(engine);
    }

    /// No new connections and requests; long polls and streams end. [`Service::serve`] returns when the requests in
    /// flight are answered.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    /// The routes, ready to answer.
    #[must_use]
    pub fn service(&self) -> Service {
        Service::new(self.clone())
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    fn health(&self) -> Health {
        let state = match (self.0.stopping.is_cancelled(), self.0.engine.get()) {
            (true, _) => HealthState::Stopping,
            (false, Some(_)) => HealthState::Ready,
            (false, None) => HealthState::Starting,
        };
        let progress = (state == HealthState::Starting)
            .then(|| self.0.progress.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Health { state, version: env!("CARGO_PKG_VERSION").to_owned(), pid: std::process::id(), progress }
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("health", &self.health()).finish_non_exhaustive()
    }
}

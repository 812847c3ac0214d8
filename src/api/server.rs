//! Connections: each with the account of its peer, bounded in number and in time, and finished in order at a stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::answer::finish;
use super::caller::Peer;
use super::socket::Bound;
use super::{Api, routes};

/// Connections at a time. Each takes a file descriptor, of which a process usually has 1024; the rest wait.
const MAX_CONNECTIONS: usize = 512;
/// For the head of a request, and for the next one on an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// At a stop: for the requests in flight. What is decided is stored already; only its answer is lost.
const DRAIN: Duration = Duration::from_secs(5);
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The routes, ready to answer.
#[derive(Clone)]
pub struct Service {
    api: Api,
    router: TowerToHyperService<Router>,
}

impl Service {
    pub(super) fn new(api: Api) -> Service {
        let router = TowerToHyperService::new(routes::router(api.clone()));
        Service { api, router }
    }

    /// Answers one request of a peer.
    pub async fn answer(&self, peer: Peer, request: Request<Body>) -> Response {
        self.route(peer, request).await
    }

    async fn route<B>(&self, peer: Peer, mut request: Request<B>) -> Response
    where
        B: hyper::body::Body<Data = hyper::body::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = request.uri().path().to_owned();
        request.extensions_mut().insert(peer);
        match self.router.call(request).await {
            Ok(response) => finish(&path, response),
            Err(never) => match never {},
        }
    }

    /// Serves a bound socket until [`Api::stop`]; then returns when the requests in flight are answered, or their time
    /// is up, and the socket's file is gone.
    pub async fn serve(&self, bound: Bound) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = self.api.stopping().cancelled() => break,
                accepted = accept(&bound, &places) => accepted,
            };
            match accepted {
                Ok((stream, place)) => {
                    let service = self.clone();
                    connections.spawn(async move {
                        service.connection(stream).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        bound.close();
        connections.close();
        if tokio::time::timeout(DRAIN, connections.wait()).await.is_err() {
            tracing::warn!(
                connections = connections.len(),
                "connections are cut: their requests took too long"
            );
        }
    }

    async fn connection(self, stream: UnixStream) {
        let peer = match stream.peer_cred() {
            Ok(credentials) => Peer { uid: credentials.uid() },
            Err(error) => return tracing::warn!(%error, "the account of a peer cannot be told"),
        };
        let stopping = self.api.stopping().clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let service = self.clone();
            async move { Ok::<_, std::convert::Infallible>(service.route(peer, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("api", &self.api).finish_non_exhaustive()
    }
}

/// A place first, then a connection: what has no place waits in the kernel's queue.
async fn accept(
    bound: &Bound,
    places: &Arc<Semaphore>,
) -> std::io::Result<(UnixStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, _) = bound.listener().accept().await?;
    Ok((stream, place))
}

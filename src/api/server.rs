//! Connections: each with the account of its peer, bounded in number and in time, and finished in order at a stop.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::answer::finish;
use super::caller::Peer;
use super::network::{Network, Rules};
use super::routes::Door;
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
    socket: TowerToHyperService<Router>,
    network: TowerToHyperService<Router>,
}

/// Where connections come in.
pub(super) trait Doorway: Sync {
    /// A connection.
    type Stream: Send;

    /// Connections at a time.
    fn places(&self) -> usize;
    /// The next connection.
    fn accept(&self) -> impl Future<Output = std::io::Result<Self::Stream>> + Send;
    /// Answers what comes over it.
    fn serve(stream: Self::Stream, service: Service) -> impl Future<Output = ()> + Send + 'static;
}

impl Doorway for Bound {
    type Stream = UnixStream;

    fn places(&self) -> usize {
        MAX_CONNECTIONS
    }

    async fn accept(&self) -> std::io::Result<UnixStream> {
        Ok(self.listener().accept().await?.0)
    }

    async fn serve(stream: UnixStream, service: Service) {
        let side = match stream.peer_cred() {
            Ok(credentials) => Side::Socket(Peer { uid: credentials.uid() }),
            Err(error) => return tracing::warn!(%error, "the account of a peer cannot be told"),
        };
        service.connection(stream, side, http1::Builder::new(), HEAD_TIMEOUT).await;
    }
}

/// From where a connection comes, and what its requests may be.
#[derive(Clone)]
pub(super) enum Side {
    Socket(Peer),
    Network(Arc<Rules>),
}

impl Service {
    pub(super) fn new(api: Api) -> Service {
        let router = |door| TowerToHyperService::new(routes::router(api.clone(), door));
        let (socket, network) = (router(Door::Socket), router(Door::Network));
        Service { api, socket, network }
    }

    /// Answers one request of a peer at the socket.
    pub async fn answer(&self, peer: Peer, request: Request<Body>) -> Response {
        self.route(&Side::Socket(peer), request).await
    }

    /// Answers one request at the listener of the network.
    #[cfg(test)]
    pub(super) async fn answer_network(&self, rules: &Arc<Rules>, request: Request<Body>) -> Response {
        self.route(&Side::Network(Arc::clone(rules)), request).await
    }

    async fn route<B>(&self, side: &Side, mut request: Request<B>) -> Response
    where
        B: hyper::body::Body<Data = hyper::body::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = request.uri().path().to_owned();
        let router = match side {
            Side::Socket(peer) => {
                request.extensions_mut().insert(*peer);
                &self.socket
            }
            Side::Network(rules) => {
                if let Err(refused) = rules.check(&request) {
                    return finish(&path, refused.into_response());
                }
                &self.network
            }
        };
        let mut response = match router.call(request).await {
            Ok(response) => finish(&path, response),
            Err(never) => match never {},
        };
        if response.status() == StatusCode::UNAUTHORIZED && matches!(side, Side::Network(_)) {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    /// Serves a bound socket until [`Api::stop`]; then returns when the requests in flight are answered, or their time
    /// is up, and the socket's file is gone.
    pub async fn serve(&self, bound: Bound) {
        let connections = self.accept_all(&bound).await;
        bound.close();
        drain(&connections).await;
    }

    /// Serves the listener of the network in the same way.
    pub async fn serve_network(&self, network: Network) {
        let connections = self.accept_all(&network).await;
        drop(network);
        drain(&connections).await;
    }

    /// A place first, then a connection: what has no place waits in the kernel's queue.
    async fn accept_all<D: Doorway>(&self, doorway: &D) -> TaskTracker {
        let places = Arc::new(Semaphore::new(doorway.places()));
        let connections = TaskTracker::new();
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await.map_err(std::io::Error::other)?;
                Ok::<_, std::io::Error>((doorway.accept().await?, place))
            };
            let accepted = tokio::select! {
                () = self.api.stopping().cancelled() => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, place)) => {
                    let serving = D::serve(stream, self.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        connections.close();
        connections
    }

    /// Answers the requests of one connection until it ends or the daemon stops.
    pub(super) async fn connection<S>(
        self,
        stream: S,
        side: Side,
        mut builder: http1::Builder,
        head_timeout: Duration,
    ) where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stopping = self.api.stopping().clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let (service, side) = (self.clone(), side.clone());
            async move { Ok::<_, std::convert::Infallible>(service.route(&side, request).await) }
        });
        let connection = builder
            .timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
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

async fn drain(connections: &TaskTracker) {
    if tokio::time::timeout(DRAIN, connections.wait()).await.is_err() {
        tracing::warn!(connections = connections.len(), "connections are cut: their requests took too long");
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("api", &self.api).finish_non_exhaustive()
    }
}

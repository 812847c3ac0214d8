//! The listener for clients that bring a token: the same routes as the socket, behind stricter doors.
//!
//! Before routing: the host must be one of ours (a name of somebody else that leads here would let a web page in),
//! the page of a browser must be allowed, and a body has a length that was said before. One connection is one request,
//! so there is no second one that could be hidden in the first.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Request, StatusCode};
use hyper::server::conn::http1;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::answer::{Refused, invalid};
use super::server::{Doorway, Service, Side};
use crate::domain::Code;
use crate::domain::origin::Origin;
use crate::domain::problem::Problem;

/// For the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// For the handshake of TLS.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest head, the names and values of all headers: ours are a fraction of it.
const HEAD_BYTES: usize = 16 * 1024;
/// The most headers.
const HEADERS: usize = 64;

/// What the composition root says about the listener.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    /// Where.
    pub listen: SocketAddr,
    /// PEM files of certificate and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// What clients may write into `host`, in lower case; none: the address, and localhost.
    pub hosts: Vec<String>,
    /// Pages from which browsers may speak to it.
    pub origins: Vec<Origin>,
    /// Connections at a time.
    pub max_connections: usize,
}

/// Why the listener is not there.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The address.
    #[error("http.listen: {address} cannot be listened on: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificate or key.
    #[error("{key}: {} {why}", path.display())]
    Tls {
        /// The key of the configuration.
        key: &'static str,
        /// Its file.
        path: PathBuf,
        /// What is wrong with it, without its content.
        why: &'static str,
    },
}

/// A listener that is bound and accepts nobody yet.
pub struct Network {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    rules: Arc<Rules>,
    max_connections: usize,
}

/// What requests must look like before anybody looks at what they want.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    hosts: Vec<String>,
    origins: Vec<Origin>,
}

impl Network {
    /// Binds it. Needs a running tokio.
    ///
    /// # Errors
    /// [`NetworkError`].
    pub async fn bind(settings: NetworkSettings) -> Result<Network, NetworkError> {
        let NetworkSettings { listen, tls, hosts, origins, max_connections } = settings;
        let tls = tls.map(|(cert, key)| acceptor(&cert, &key)).transpose()?;
        let failed = |source| NetworkError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let hosts = if hosts.is_empty() { own_hosts(bound) } else { hosts };
        Ok(Network { listener, tls, rules: Arc::new(Rules { hosts, origins }), max_connections })
    }

    /// Where it is.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that was accepted, and has not said anything yet.
pub(super) struct Accepted {
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    rules: Arc<Rules>,
}

impl Doorway for Network {
    type Stream = Accepted;

    fn places(&self) -> usize {
        self.max_connections
    }

    async fn accept(&self) -> io::Result<Accepted> {
        let (stream, _) = self.listener.accept().await?;
        Ok(Accepted { stream, tls: self.tls.clone(), rules: Arc::clone(&self.rules) })
    }

    async fn serve(accepted: Accepted, service: Service) {
        let Accepted { stream, tls, rules } = accepted;
        let mut builder = http1::Builder::new();
        builder.keep_alive(false).max_buf_size(HEAD_BYTES).max_headers(HEADERS);
        let side = Side::Network(rules);
        let Some(tls) = tls else {
            return service.connection(stream, side, builder, HEAD_TIMEOUT).await;
        };
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => service.connection(stream, side, builder, HEAD_TIMEOUT).await,
            Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }
}

fn own_hosts(bound: SocketAddr) -> Vec<String> {
    vec![bound.to_string(), format!("localhost:{}", bound.port())]
}

impl Rules {
    #[cfg(test)]
    pub(super) fn new(hosts: &[&str], origins: &[&str]) -> Arc<Rules> {
        let origins = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
        Arc::new(Rules { hosts: hosts.iter().map(|host| (*host).to_owned()).collect(), origins })
    }

    /// Refuses what is not for us, or not unmistakable.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        if request.headers().contains_key(TRANSFER_ENCODING) {
            let detail =
                "a body is sent with its content-length: two ways to say where it ends are one too many";
            return Err(invalid(StatusCode::LENGTH_REQUIRED, detail));
        }
        let mut hosts = request.headers().get_all(HOST).iter();
        let host = hosts.next().filter(|_| hosts.next().is_none());
        // A target with a host of its own would win over the header.
        let absolute = request.uri().authority().is_some();
        if absolute || !host.is_some_and(|host| self.is_ours(host)) {
            let detail = "this daemon is not known by this host; http.hosts in daemon.toml lists its names";
            return Err(invalid(StatusCode::MISDIRECTED_REQUEST, detail));
        }
        let mut pages = request.headers().get_all(ORIGIN).iter();
        if pages.all(|page| self.is_allowed(page)) {
            return Ok(());
        }
        let detail = "web pages of this origin may not speak to this daemon; http.origins in daemon.toml lists those \
                      that may";
        Err(Problem::new(Code::PermissionDenied, detail).into())
    }

    fn is_ours(&self, host: &HeaderValue) -> bool {
        host.to_str().is_ok_and(|host| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
    }

    fn is_allowed(&self, page: &HeaderValue) -> bool {
        let page: Option<Origin> = page.to_str().ok().and_then(|page| page.parse().ok());
        page.is_some_and(|page| self.origins.contains(&page))
    }
}

fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, NetworkError> {
    let of_cert = |why| NetworkError::Tls { key: "http.tls_cert", path: cert.to_owned(), why };
    let of_key = |why| NetworkError::Tls { key: "http.tls_key", path: key.to_owned(), why };
    let unreadable = "cannot be read as PEM";
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|_| of_cert("cannot be read as a certificate in PEM"))?;
    if chain.is_empty() {
        return Err(of_cert("has no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|_| of_key(unreadable))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| of_cert("does not go with any version of TLS"))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|_| of_key("is not the key of http.tls_cert"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("rules", &self.rules).finish_non_exhaustive()
    }
}

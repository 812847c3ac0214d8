//! One configured base: where it is, how it is reached, and its small pool of idle connections.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::HeaderValue;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::conn::Conn;
use super::error::Cause;
use super::secret::Credential;
use super::wire::{Socket, Wire};
use super::{RequestKind, SetupError};
use crate::domain::origin::{Origin, Scheme};

/// A write takes an idle connection only if it went idle less than this ago. A peer that closes idle connections does
/// so after seconds; younger than this, the close that crosses the request on the wire practically does not exist.
pub const WRITE_REUSE_IDLE: Duration = Duration::from_millis(500);
/// Reads and status queries may be asked again, so a crossing close costs them nothing but a repeat. Most servers keep
/// a connection for at least this long.
pub const READ_REUSE_IDLE: Duration = Duration::from_secs(4);

/// What the configuration says about one base.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its name; stored requests refer to it.
    pub name: String,
    /// Where it is.
    pub origin: Origin,
    /// Allows a plain http origin on another machine.
    pub plain_http: bool,
    /// The identity of writes, and of reads and status queries without one of their own.
    pub credential: Option<Credential>,
    /// The identity of reads and status queries.
    pub read_credential: Option<Credential>,
    /// A PEM file with further certificate authorities, beside those of the system.
    pub ca: Option<PathBuf>,
    /// How many requests may be in flight at a time, and how many connections are kept idle.
    pub max_connections: usize,
}

/// A base, ready to be used.
pub(super) struct Peer {
    pub(super) base: Base,
    /// The `host` header.
    pub(super) authority: HeaderValue,
    /// The origin in its one spelling, as stored requests carry it.
    pub(super) origin: String,
    pub(super) permits: Semaphore,
    tls: Option<TlsConnector>,
    idle: Mutex<VecDeque<Conn>>,
}

impl Peer {
    pub(super) fn new(base: Base) -> Result<Peer, SetupError> {
        let tls = match base.origin.scheme {
            Scheme::Https => Some(connector(&base.name, base.ca.as_deref())?),
            Scheme::Http if base.plain_http || base.origin.is_loopback() => None,
            Scheme::Http => return Err(SetupError::PlainHttp { base: base.name }),
        };
        let authority = HeaderValue::from_str(&base.origin.authority())
            .map_err(|_| SetupError::Origin { base: base.name.clone() })?;
        let permits = Semaphore::new(base.max_connections.clamp(1, Semaphore::MAX_PERMITS));
        Ok(Peer {
            origin: base.origin.to_string(),
            authority,
            permits,
            tls,
            idle: Mutex::new(VecDeque::new()),
            base,
        })
    }

    /// The identity for this kind of request.
    pub(super) fn credential(&self, kind: RequestKind) -> Option<&Credential> {
        match kind {
            RequestKind::Write => self.base.credential.as_ref(),
            RequestKind::Read | RequestKind::Status => {
                self.base.read_credential.as_ref().or(self.base.credential.as_ref())
            }
        }
    }

    /// The idle connection that was used last, if it is young enough for this kind of request and still open.
    pub(super) fn take_idle(&self, kind: RequestKind) -> Option<Conn> {
        let max_idle = match kind {
            RequestKind::Write => WRITE_REUSE_IDLE,
            RequestKind::Read | RequestKind::Status => READ_REUSE_IDLE,
        };
        loop {
            let mut idle = self.lock();
            // The last one is the youngest; if it is too old, all are.
            if idle.back()?.idle_since.elapsed() >= max_idle {
                return None;
            }
            let conn = idle.pop_back()?;
            drop(idle);
            if conn.is_reusable() {
                return Some(conn);
            }
        }
    }

    /// Keeps a connection for later, and closes those that nobody will use any more.
    pub(super) fn give_back(&self, mut conn: Conn) {
        if !conn.is_idle() {
            return;
        }
        let now = Instant::now();
        conn.idle_since = now;
        let mut idle = self.lock();
        let bound = self.base.max_connections.max(1);
        while idle.front().is_some_and(|oldest| now.duration_since(oldest.idle_since) >= READ_REUSE_IDLE)
            || idle.len() >= bound
        {
            idle.pop_front();
        }
        idle.push_back(conn);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Conn>> {
        // Nothing can panic between the steps of a change, so a poisoned pool is whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes every idle connection older, instead of waiting.
    #[cfg(test)]
    pub(super) fn age_idle(&self, by: Duration) {
        for conn in self.lock().iter_mut() {
            conn.idle_since -= by;
        }
    }

    /// How many connections are idle.
    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.lock().len()
    }

    /// A fresh connection. Sends nothing of any request.
    pub(super) async fn connect(&self) -> Result<Conn, Cause> {
        let stream = self.dial().await?;
        stream.set_nodelay(true).map_err(|error| Cause::Connect(error.kind()))?;
        let socket = Socket::new(stream);
        let wire = match &self.tls {
            None => Wire::Plain(socket.clone()),
            Some(connector) => {
                let name = ServerName::try_from(self.base.origin.host.clone())
                    .map_err(|_| Cause::Tls("the host is no name that a certificate can carry".to_owned()))?;
                let stream = connector.connect(name, socket.clone()).await;
                Wire::Tls(Box::new(stream.map_err(|error| Cause::Tls(error.to_string()))?))
            }
        };
        Conn::open(wire, socket).await
    }

    async fn dial(&self) -> Result<TcpStream, Cause> {
        let origin = &self.base.origin;
        let local_only = origin.scheme == Scheme::Http && !self.base.plain_http;
        if let Ok(address) = origin.host.parse::<IpAddr>() {
            let stream = TcpStream::connect(SocketAddr::new(address, origin.port)).await;
            return stream.map_err(|error| Cause::Connect(error.kind()));
        }
        let found = tokio::net::lookup_host((origin.host.as_str(), origin.port)).await;
        let mut failure = Cause::Dns(std::io::ErrorKind::NotFound);
        for address in found.map_err(|error| Cause::Dns(error.kind()))? {
            if local_only && !address.ip().is_loopback() {
                failure = Cause::NotLoopback;
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = Cause::Connect(error.kind()),
            }
        }
        Err(failure)
    }
}

/// TLS with verification, always: the roots of the system and the base's own.
fn connector(base: &str, ca: Option<&Path>) -> Result<TlsConnector, SetupError> {
    let mut roots = RootCertStore::empty();
    // A root that this library does not read is not trusted; that others are missing shows in the handshake.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca {
        let unusable = || SetupError::Ca { base: base.to_owned(), path: path.to_owned() };
        let before = roots.len();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|_| unusable())? {
            roots.add(certificate.map_err(|_| unusable())?).map_err(|_| unusable())?;
        }
        if roots.len() == before {
            return Err(unusable());
        }
    }
    if roots.is_empty() {
        return Err(SetupError::NoRoots { base: base.to_owned() });
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| SetupError::Tls { base: base.to_owned() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

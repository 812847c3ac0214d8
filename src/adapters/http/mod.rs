//! The HTTP adapter. It owns the way of one stored request to its base and of the whole answer back, and it says what
//! happened to the world. Who may call it: the composition root, for the engine's attempts, reads and status queries.
//! What it never does: retry, follow a redirect, send a request again that may have left, take an address from data,
//! store or show a credential.

mod base;
mod conn;
mod error;
mod request;
mod secret;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use tokio::time::{Instant, timeout_at};

pub use base::{Base, READ_REUSE_IDLE, WRITE_REUSE_IDLE};
pub use error::{Cause, SendError};
pub use hyper::header::HeaderName;
pub use secret::{Credential, CredentialRef, Secret};

use base::Peer;
use conn::Conn;

use crate::domain::origin::Origin;
use crate::domain::request::RenderedRequest;

/// The largest head of an answer. Services send less than 2 KiB; proxies in front of them stop at 8 to 64 KiB.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// What a request is for. It decides which identity it carries and which connection it may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// A read or preview.
    Read,
    /// An attempt of an operation.
    Write,
    /// A look-up of an unknown outcome.
    Status,
}

/// A place inside [`HttpAdapter::send`], for fail points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// The connection stands, and not a byte of the request has left.
    BeforeFirstByte,
    /// The head of the answer is here, its body not yet.
    AnswerHeadSeen,
    /// The answer is complete.
    AnswerRead,
}

/// Called at each [`Point`]. It may end the process; a wait in it holds up a thread of the runtime, so only tests wait.
pub type Hooks = Arc<dyn Fn(Point) + Send + Sync>;

/// Limits of one request.
#[derive(Clone)]
pub struct SendOptions {
    /// From now to the complete answer, waiting for a connection included.
    pub deadline: Duration,
    /// The largest body of an answer, in bytes.
    pub max_response_bytes: usize,
    /// What it is for.
    pub kind: RequestKind,
    /// Fail points.
    pub hooks: Option<Hooks>,
}

impl SendOptions {
    fn reached(&self, point: Point) {
        if let Some(hooks) = &self.hooks {
            hooks(point);
        }
    }
}

/// A complete answer, whatever its status: redirects and errors are answers.
#[derive(Clone, PartialEq, Eq)]
pub struct RawAnswer {
    /// 200 to 999.
    pub status: u16,
    /// Names in lower case, values as ISO 8859-1, in the order of arrival; equal names one after the other.
    pub headers: Vec<(String, String)>,
    /// The body, without transfer coding. A content coding is left as it is.
    pub body: Vec<u8>,
}

impl fmt::Debug for RawAnswer {
    /// Without the data of the answer, which may be personal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawAnswer")
            .field("status", &self.status)
            .field("headers", &self.headers.len())
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

/// Why the adapter cannot start with these bases.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// A plain origin on another machine.
    #[error(
        "base {base:?}: plain http to another machine shows everything to the network; use https, or say plain_http = true"
    )]
    PlainHttp {
        /// Its name.
        base: String,
    },
    /// An origin that no header can carry.
    #[error("base {base:?}: the origin cannot be used")]
    Origin {
        /// Its name.
        base: String,
    },
    /// Two bases with one name.
    #[error("base {base:?} is configured twice")]
    Duplicate {
        /// The name.
        base: String,
    },
    /// The CA file.
    #[error("base {base:?}: no certificate could be read from {}", path.display())]
    Ca {
        /// Its name.
        base: String,
        /// The file.
        path: PathBuf,
    },
    /// The system has no certificate authorities and the base names none.
    #[error(
        "base {base:?}: this system has no certificate authorities; install them, or name a file with ca"
    )]
    NoRoots {
        /// Its name.
        base: String,
    },
    /// The TLS library refused its own defaults.
    #[error("base {base:?}: TLS cannot be set up")]
    Tls {
        /// Its name.
        base: String,
    },
}

/// Sends stored requests to configured bases.
pub struct HttpAdapter {
    peers: HashMap<String, Peer>,
}

impl HttpAdapter {
    /// With these bases. Certificates are read here, credentials only when a request needs them.
    pub fn new(bases: Vec<Base>) -> Result<HttpAdapter, SetupError> {
        let mut peers = HashMap::with_capacity(bases.len());
        for base in bases {
            let name = base.name.clone();
            if peers.insert(name.clone(), Peer::new(base)?).is_some() {
                return Err(SetupError::Duplicate { base: name });
            }
        }
        Ok(HttpAdapter { peers })
    }

    /// Performs one request. When this returns anything but a complete answer, or is dropped, the connection that it
    /// used has been closed.
    pub async fn send(
        &self,
        request: &RenderedRequest,
        options: SendOptions,
    ) -> Result<RawAnswer, SendError> {
        let now = Instant::now();
        // A deadline beyond what the clock can say is none that anybody waits for.
        let deadline = now.checked_add(options.deadline).unwrap_or(now + Duration::from_secs(86_400));
        let nothing = |cause| SendError::NothingSent { cause };
        let peer = self.peer(request).map_err(nothing)?;
        let permit = timeout_at(deadline, peer.permits.acquire()).await;
        // The semaphore is never closed; if it were, nothing has been sent.
        let _permit = permit.ok().and_then(Result::ok).ok_or(nothing(Cause::TimedOut))?;
        // Local refusals come before anybody is disturbed.
        let build = || request::build(request, &peer.authority, peer.credential(options.kind));
        let mut built = build().map_err(nothing)?;
        let mut announce = true;
        if let Some(conn) = peer.take_idle(options.kind) {
            match exchange(peer, conn, built, &options, deadline, announce).await {
                // It was of no use any more, and not a byte was taken: the fresh one is the first try.
                Err(SendError::NothingSent { cause }) if cause != Cause::TimedOut => {}
                done => return done,
            }
            built = build().map_err(nothing)?;
            announce = false;
        }
        let conn = match timeout_at(deadline, peer.connect()).await {
            Ok(opened) => opened.map_err(nothing)?,
            Err(_) => return Err(nothing(Cause::TimedOut)),
        };
        exchange(peer, conn, built, &options, deadline, announce).await
    }

    /// The base of a stored request, if it still is where the request was approved for.
    fn peer(&self, request: &RenderedRequest) -> Result<&Peer, Cause> {
        let Some(peer) = self.peers.get(&request.base) else {
            return Err(Cause::UnknownBase { base: request.base.clone() });
        };
        if peer.origin != request.origin && request.origin.parse::<Origin>().as_ref() != Ok(&peer.base.origin)
        {
            return Err(Cause::OriginMismatch {
                base: request.base.clone(),
                stored: request.origin.clone(),
                configured: peer.origin.clone(),
            });
        }
        Ok(peer)
    }
}

/// One request on one connection. Afterwards the connection is either back in the pool or closed.
async fn exchange(
    peer: &Peer,
    mut conn: Conn,
    request: Request<Full<Bytes>>,
    options: &SendOptions,
    deadline: Instant,
    announce: bool,
) -> Result<RawAnswer, SendError> {
    if announce {
        options.reached(Point::BeforeFirstByte);
    }
    // A zero deadline would still let the request be polled, and so sent, once.
    if deadline <= Instant::now() {
        return Err(SendError::NothingSent { cause: Cause::TimedOut });
    }
    let mut answered = None;
    let done = timeout_at(deadline, conn.exchange(request, options, &mut answered)).await;
    let cause = match done {
        Ok(Ok(answer)) => {
            peer.give_back(conn);
            return Ok(answer);
        }
        Ok(Err(cause)) => cause,
        Err(_) => Cause::TimedOut,
    };
    let sent = conn.sent();
    // Closed before anybody is told: nothing more can leave.
    drop(conn);
    if sent == 0 && answered.is_none() {
        Err(SendError::NothingSent { cause })
    } else {
        Err(SendError::MayHaveArrived { cause, answered })
    }
}

//! What happened to the world when a request did not end with a complete answer. The two cases of [`SendError`] are
//! told apart by counted bytes, never by the text or the kind of an error.

use std::io;

/// A request that did not end with a complete answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// Proof: not one byte of the request was handed to the kernel (or to TLS). The effect is `none`.
    #[error("nothing was sent: {cause}")]
    NothingSent {
        /// Why.
        cause: Cause,
    },
    /// Some of the request may have arrived. Whether it had an effect is unknown.
    #[error("the request may have arrived: {cause}")]
    MayHaveArrived {
        /// What went wrong.
        cause: Cause,
        /// The status of an answer whose head was seen, although it was not complete. It proves no outcome.
        answered: Option<u16>,
    },
}

/// Why. No cause carries a value of a header, a path, a body or a credential.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Cause {
    /// The stored request names a base that is not configured.
    #[error("the base {base:?} is not configured")]
    UnknownBase {
        /// Its name, as stored.
        base: String,
    },
    /// The stored request is for another origin than the base has now.
    #[error(
        "the stored request is for {stored}, but the base {base:?} is {configured} now; propose it again"
    )]
    OriginMismatch {
        /// The base.
        base: String,
        /// The origin in the stored request.
        stored: String,
        /// The origin in the configuration.
        configured: String,
    },
    /// Method, path, header or body that may not leave this machine.
    #[error("the {part} of the request is refused: {why}")]
    Refused {
        /// `method`, `path` or `header NAME`.
        part: String,
        /// The rule.
        why: &'static str,
    },
    /// The credential could not be resolved.
    #[error("the credential {reference} cannot be used: {why}")]
    Credential {
        /// The reference, never the value.
        reference: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The host has no address.
    #[error("the host name does not resolve ({0:?})")]
    Dns(io::ErrorKind),
    /// A plain origin resolved to another machine.
    #[error("a plain http origin must be on this machine, but its host name resolves to another one")]
    NotLoopback,
    /// No connection.
    #[error("no connection ({0:?})")]
    Connect(io::ErrorKind),
    /// The handshake failed: certificate, version, name.
    #[error("TLS handshake: {0}")]
    Tls(String),
    /// The deadline passed.
    #[error("the deadline passed")]
    TimedOut,
    /// The peer reset the connection.
    #[error("the peer reset the connection")]
    Reset,
    /// The peer closed the connection before the answer was complete.
    #[error("the peer closed the connection before the answer was complete")]
    Closed,
    /// The answer is larger than the contract allows.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// Bytes.
        limit: usize,
    },
    /// The head of the answer is larger than [`super::MAX_HEAD_BYTES`].
    #[error("the head of the answer is too large")]
    HeadTooLarge,
    /// Not HTTP/1.1.
    #[error("the answer is not well-formed HTTP/1.1")]
    Malformed,
    /// The answer's end is only marked by the end of the connection: nobody can tell it from a truncated one.
    #[error(
        "the answer has neither a length nor chunks, so that its end cannot be told from a lost connection"
    )]
    Unframed,
    /// Any other error of the connection.
    #[error("the connection failed ({0:?})")]
    Io(io::ErrorKind),
}

impl Cause {
    /// The cause behind an error of the HTTP library. Only for people: the effect never depends on it.
    pub(super) fn of(error: &hyper::Error) -> Cause {
        if error.is_parse_too_large() {
            return Cause::HeadTooLarge;
        }
        if error.is_parse() {
            return Cause::Malformed;
        }
        if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
            return Cause::Closed;
        }
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            if let Some(io) = inner.downcast_ref::<io::Error>() {
                return Cause::of_io(io.kind());
            }
            source = inner.source();
        }
        Cause::Malformed
    }

    fn of_io(kind: io::ErrorKind) -> Cause {
        match kind {
            io::ErrorKind::ConnectionReset => Cause::Reset,
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => Cause::Closed,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Cause::Malformed,
            other => Cause::Io(other),
        }
    }
}

//! An answer before it is sent, and the other thing that can happen to a request: its connection ends.

use hyper::{
    HeaderMap, StatusCode,
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use serde_json::Value;

use super::body::AnswerBody;

/// A whole answer with a JSON body.
pub(crate) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// What goes to the connection: as `Answer`, but the body may be a broken one.
pub(super) struct Reply {
    pub(super) answer: Answer,
    /// Sent instead of the answer's body.
    pub(super) body: Option<AnswerBody>,
}

/// The connection ends without a byte of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sever {
    /// An orderly end (FIN).
    Close,
    /// A reset (RST).
    Reset,
}

impl std::fmt::Display for Sever {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Close => "connection closed without an answer",
            Self::Reset => "connection reset without an answer",
        })
    }
}

impl std::error::Error for Sever {}

impl Answer {
    /// A JSON answer; a status that is none becomes 500.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, body.to_string().into_bytes())
    }

    /// A JSON answer from bytes that are rendered already, right or wrong.
    pub(super) fn bytes(status: u16, body: Vec<u8>) -> Self {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
            body,
        }
    }

    /// The same with one more header; a value that no header can carry is left out.
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, body: None }
    }
}

//! The daemon's socket from the other side: one request, one connection, one answer. Who may call it: the commands.
//! What it never does: repeat a request, open the store, or look for a credential; it sends the token that it is given.

mod error;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use crate::domain::problem::Problem;
pub(crate) use error::ClientError;

/// How long an answer may take beyond the `?wait=` that was asked for: a group commit on a slow disk, with room.
const PATIENCE: Duration = Duration::from_secs(15);
/// The largest answer that is read: a full page of operations with large arguments stays far below.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// The header that says under which of its names an account speaks.
const AS_HEADER: &str = "writd-as";
/// The header of keys.
const KEY_HEADER: &str = "idempotency-key";

/// How the daemon is reached.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    socket: PathBuf,
    as_name: Option<String>,
    token: Option<Bearer>,
}

/// A token that is sent with every request; its debug form does not show it.
#[derive(Clone)]
pub(crate) struct Bearer(header::HeaderValue);

impl Bearer {
    /// A word that can stand in a header.
    pub(crate) fn new(token: &str) -> Option<Bearer> {
        let word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let mut value = header::HeaderValue::try_from(format!("Bearer {token}")).ok().filter(|_| word)?;
        value.set_sensitive(true);
        Some(Bearer(value))
    }
}

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bearer(…)")
    }
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    body: Option<Vec<u8>>,
    key: Option<String>,
    wait: Duration,
}

impl Ask {
    /// Asks for something.
    pub(crate) fn get(path: impl Into<String>) -> Ask {
        Ask { method: Method::GET, path: path.into(), body: None, key: None, wait: Duration::ZERO }
    }

    /// Wants something.
    pub(crate) fn post<T: Serialize>(path: impl Into<String>, body: &T) -> Ask {
        // Request types have string keys and finite numbers only.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Ask { method: Method::POST, path: path.into(), body: Some(body), key: None, wait: Duration::ZERO }
    }

    /// With a key, under which a repeat finds the first answer.
    pub(crate) fn key(mut self, key: &str) -> Ask {
        self.key = Some(key.to_owned());
        self
    }

    /// With `?wait=`, held back until something has happened.
    pub(crate) fn wait(mut self, wait: Option<Duration>) -> Ask {
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            let separator = if self.path.contains('?') { '&' } else { '?' };
            self.path.push(separator);
            self.path.push_str(&format!("wait={}ms", wait.as_millis()));
            self.wait = wait;
        }
        self
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn reads(&self) -> bool {
        self.method == Method::GET
    }
}

impl Client {
    /// A client of this socket, speaking under this name of the account.
    pub(crate) fn new(socket: PathBuf, as_name: Option<String>) -> Client {
        Client { socket, as_name, token: None }
    }

    /// The same, bringing a token.
    pub(crate) fn with_token(self, token: Bearer) -> Client {
        Client { token: Some(token), ..self }
    }

    /// Sends it once and reads the wanted answer.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ClientError> {
        let (status, body) = self.exchange(&ask).await?;
        serde_json::from_slice(&body).map_err(|error| ClientError::Foreign {
            request: ask.name(),
            status: status.as_u16(),
            cause: error.to_string(),
            read: ask.reads(),
        })
    }

    /// Sends it once; the body of a good answer as it is.
    async fn exchange(&self, ask: &Ask) -> Result<(StatusCode, Bytes), ClientError> {
        let stream = UnixStream::connect(&self.socket).await.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                ClientError::NotRunning(self.socket.clone())
            }
            _ => ClientError::NoWayIn { socket: self.socket.clone(), error },
        })?;
        let after = ask.wait + PATIENCE;
        let timed = tokio::time::timeout(after, self.over(stream, ask)).await;
        let (status, problem, body) =
            timed.map_err(|_| ClientError::TimedOut { request: ask.name(), after, read: ask.reads() })??;
        if status.is_success() {
            return Ok((status, body));
        }
        let foreign = |cause: String| ClientError::Foreign {
            request: ask.name(),
            status: status.as_u16(),
            cause,
            read: ask.reads(),
        };
        if !problem {
            return Err(foreign(format!("no problem details but: {}", error::shown(&body))));
        }
        let problem: Problem = serde_json::from_slice(&body).map_err(|error| foreign(error.to_string()))?;
        Err(ClientError::Refused(Box::new(problem)))
    }

    async fn over(&self, stream: UnixStream, ask: &Ask) -> Result<(StatusCode, bool, Bytes), ClientError> {
        let lost = |cause: String| ClientError::Lost { request: ask.name(), cause, read: ask.reads() };
        let request = self.request(ask)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| lost(error.to_string()))?;
        let driver = tokio::spawn(connection);
        let answer = async {
            let response = sender.send_request(request).await.map_err(|error| lost(error.to_string()))?;
            read(response).await.map_err(lost)
        };
        let answer = answer.await;
        driver.abort();
        answer
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, ClientError> {
        // The host is required by HTTP/1.1 and means nothing on a socket of files.
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(&ask.path)
            .header(header::HOST, "writd")
            .header(header::ACCEPT, "application/json");
        if ask.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(name) = &self.as_name {
            request = request.header(AS_HEADER, name);
        }
        if let Some(Bearer(token)) = &self.token {
            request = request.header(header::AUTHORIZATION, token);
        }
        if let Some(key) = &ask.key {
            request = request.header(KEY_HEADER, key);
        }
        let body = ask.body.clone().map(Bytes::from).unwrap_or_default();
        request.body(Full::new(body)).map_err(|error| ClientError::NoWayIn {
            socket: self.socket.clone(),
            error: io::Error::new(io::ErrorKind::InvalidInput, error),
        })
    }
}

/// Status, whether it is a problem, and the whole body.
async fn read(response: Response<hyper::body::Incoming>) -> Result<(StatusCode, bool, Bytes), String> {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let problem = kind.is_some_and(|kind| kind.as_bytes().starts_with(Problem::MEDIA_TYPE.as_bytes()));
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            format!("it is larger than {MAX_ANSWER} bytes")
        } else {
            error.to_string()
        }
    })?;
    Ok((status, problem, body.to_bytes()))
}

/// A text as the value of a query parameter.
pub(crate) fn in_query(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            shown.push(char::from(byte));
        } else {
            shown.push_str(&format!("%{byte:02X}"));
        }
    }
    shown
}

//! A plain HTTP/1.1 client over one `TcpStream` per request: it sends once, never retries, never follows a
//! redirect, and reports the end of a connection for what it was.

use std::{
    io::{self, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// A test that hangs longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; panics with the body if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// What a request came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(Answer),
    /// Closed in good order without a byte.
    Closed,
    /// Reset.
    Reset,
    /// The answer ended before the length that it promised.
    Cut(Answer),
}

impl Outcome {
    /// The answer; panics if there was none.
    pub(crate) fn answer(self) -> Answer {
        match self {
            Self::Answered(answer) => answer,
            other => panic!("expected an answer, got {other:?}"),
        }
    }
}

/// Opens a connection and sends one request, so that the caller can look at what comes, or go away.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut bytes = request.into_bytes();
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)?;
    Ok(stream)
}

/// Reads to the end of the connection and says what it came to.
///
/// # Errors
/// Nothing came for too long, or bytes that are no HTTP.
pub(crate) fn receive(mut stream: impl io::Read) -> io::Result<Outcome> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) if bytes.is_empty() => return Ok(Outcome::Closed),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(Outcome::Reset),
        Err(error) => return Err(error),
    }
    let no_http = || io::Error::new(io::ErrorKind::InvalidData, "the answer is no HTTP/1.1");
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(no_http)?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| no_http())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let answer = Answer { status: status.ok_or_else(no_http)?, headers, body: bytes[end + 4..].to_vec() };
    let promised: Option<usize> = answer.header("content-length").and_then(|length| length.parse().ok());
    match promised {
        Some(length) if length != answer.body.len() => Ok(Outcome::Cut(answer)),
        _ => Ok(Outcome::Answered(answer)),
    }
}

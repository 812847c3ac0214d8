//! From the stored request to the one that leaves: nothing is changed, and what the wire would not carry exactly as it
//! was stored is refused before a byte leaves.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Uri};

use super::error::Cause;
use super::secret::Credential;
use crate::domain::request::RenderedRequest;

/// Headers that describe this hop: they are the edge's business, and in data they would be a second request hidden in
/// the first, or another protocol.
const HOP_HEADERS: [&str; 10] = [
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The request as it leaves.
pub(super) fn build(
    stored: &RenderedRequest,
    authority: &HeaderValue,
    credential: Option<&Credential>,
) -> Result<Request<Full<Bytes>>, Cause> {
    let body = stored.body.as_deref().unwrap_or_default();
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
    *request.method_mut() = method(&stored.method)?;
    *request.uri_mut() = uri(&stored.path)?;
    let headers = request.headers_mut();
    headers.reserve(stored.headers.len() + 2);
    headers.insert(HOST, authority.clone());
    for (name, value) in &stored.headers {
        append(headers, name, value, authority, body.len(), credential)?;
    }
    if let Some(credential) = credential {
        headers.insert(credential.header_name(), credential.header_value()?);
    }
    Ok(request)
}

fn refuse(part: &str, why: &'static str) -> Cause {
    Cause::Refused { part: part.to_owned(), why }
}

fn method(text: &str) -> Result<Method, Cause> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(refuse("method", "it is not in upper-case letters"));
    }
    if matches!(text, "CONNECT" | "TRACE") {
        return Err(refuse("method", "it is not for services"));
    }
    Method::from_bytes(text.as_bytes()).map_err(|_| refuse("method", "it is not a method"))
}

fn uri(path: &str) -> Result<Uri, Cause> {
    if !path.starts_with('/') {
        return Err(refuse("path", "it does not start with /"));
    }
    // The URI parser drops a fragment silently, and some servers read a backslash as a slash.
    if !path.bytes().all(|b| (0x21..=0x7e).contains(&b) && !matches!(b, b'#' | b'\\')) {
        return Err(refuse("path", "it has characters that must be percent-encoded"));
    }
    let parsed = PathAndQuery::try_from(path).map_err(|_| refuse("path", "it is not a path and query"))?;
    if parsed.as_str() != path {
        return Err(refuse("path", "it would not be sent as it was stored"));
    }
    Ok(Uri::from(parsed))
}

fn append(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
    authority: &HeaderValue,
    body: usize,
    credential: Option<&Credential>,
) -> Result<(), Cause> {
    let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
        return Err(refuse("header", "its name has characters that no header name has"));
    };
    // HeaderValue refuses control characters, and so CR, LF and NUL; a non-ASCII text would be ambiguous at the peer.
    let plain = value.bytes().all(|b| matches!(b, 0x20..=0x7e | b'\t'));
    let Some(value) = HeaderValue::from_str(value).ok().filter(|_| plain) else {
        return Err(refuse(&format!("header {header}"), "its value has control or non-ASCII characters"));
    };
    if HOP_HEADERS.contains(&header.as_str()) {
        return Err(refuse(&format!("header {header}"), "it belongs to the connection, not to the request"));
    }
    if header == AUTHORIZATION || credential.is_some_and(|credential| credential.header_name() == header) {
        return Err(refuse(&format!("header {header}"), "it carries the credential, which is never stored"));
    }
    if header == HOST {
        return if value == authority { Ok(()) } else { Err(refuse("header host", "it is another host")) };
    }
    if header == CONTENT_LENGTH {
        let equal = value.to_str().ok().and_then(|text| text.parse().ok()) == Some(body);
        return if equal {
            Ok(())
        } else {
            Err(refuse("header content-length", "it is not the length of the body"))
        };
    }
    headers.append(header, value);
    Ok(())
}

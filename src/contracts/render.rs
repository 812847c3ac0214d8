//! Rendering of HTTP requests: the exact bytes that are shown, approved and sent. Arguments can fill a segment, a query
//! value, a header value or a body; they can never leave their place.

use std::fmt::Write as _;

use serde_json::Value;

use super::canonical;
use super::contract::Contract;
use super::model::{HttpSpec, Recovery, StatusProtocol};
use super::preview::Target;
use super::template::{Binding, Scope, Template, TemplateError};
use crate::domain::request::RenderedRequest;

/// Longest path with query: more does not pass the servers in use.
const MAX_PATH: usize = 4096;
/// Longest header value.
const MAX_HEADER: usize = 1024;
/// How often a value is decoded before it is judged: proxies and services decode once each.
const MAX_DECODINGS: usize = 3;

/// Why no request could be rendered. Never holds a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RenderError {
    /// A template has no value.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A value that must not stand in a path.
    #[error("the path at {place} {reason}")]
    Path {
        /// JSON pointer of the template in its contract.
        place: String,
        /// What is wrong with the value.
        reason: &'static str,
    },
    /// A value that must not stand in a header.
    #[error("the header `{header}` {reason}")]
    Header {
        /// The header's name.
        header: String,
        /// What is wrong with the value.
        reason: &'static str,
    },
    /// A number in the body that would change on the way.
    #[error("the body holds a number that JSON cannot carry exactly")]
    InexactBody,
    /// Something that a preview tool must answer is not there, or not what it must be.
    #[error("`{member}` of the preview tool's answer is missing, or cannot be read")]
    Quote {
        /// Which member.
        member: &'static str,
    },
    /// The contract is a read.
    #[error("this tool is not a write")]
    NotAWrite,
    /// The contract is a write.
    #[error("this tool is not a read")]
    NotARead,
    /// The recovery tier has no status request.
    #[error("this tool has no status request")]
    NoStatusRequest,
}

/// Who acts in a read.
#[derive(Clone, Copy, Debug)]
pub struct Actor<'a> {
    /// Scheme, host and port of the base, from the configuration.
    pub origin: &'a str,
    /// The run.
    pub run: &'a str,
    /// The principal that asks.
    pub requester: &'a str,
    /// The person behind it.
    pub on_behalf_of: Option<&'a str>,
}

/// Everything that the request of a write can name.
#[derive(Clone, Copy, Debug)]
pub struct WriteContext<'a> {
    /// Scheme, host and port of the base, from the configuration.
    pub origin: &'a str,
    /// The canonical arguments.
    pub args: &'a Value,
    /// What the preview answered.
    pub before: &'a Value,
    /// The target.
    pub target: &'a Target,
    /// The operation.
    pub operation: &'a str,
    /// The run.
    pub run: &'a str,
    /// The principal that asks.
    pub requester: &'a str,
    /// The person behind it.
    pub on_behalf_of: Option<&'a str>,
    /// The downstream key.
    pub key: &'a str,
}

/// Everything that a status request can name.
#[derive(Clone, Copy, Debug)]
pub struct StatusContext<'a> {
    /// Scheme, host and port of the base, from the configuration.
    pub origin: &'a str,
    /// The downstream key.
    pub key: &'a str,
    /// The operation.
    pub operation: &'a str,
    /// The run.
    pub run: &'a str,
    /// The canonical arguments.
    pub args: &'a Value,
}

fn text_or_null(text: Option<&str>) -> Binding<'_> {
    text.map_or(Binding::Null, Binding::Text)
}

impl Contract {
    /// The request of a read.
    ///
    /// # Errors
    /// Not a read, a template without a value, or a value that must not stand where it would.
    pub fn render_read(&self, args: &Value, actor: &Actor<'_>) -> Result<RenderedRequest, RenderError> {
        if self.write.is_some() {
            return Err(RenderError::NotARead);
        }
        let scope = Scope::of([
            ("args", Binding::Value(args)),
            ("run", Binding::Text(actor.run)),
            ("requester", Binding::Text(actor.requester)),
            ("on_behalf_of", text_or_null(actor.on_behalf_of)),
        ]);
        let mut request = render(&self.http, &self.http.base, actor.origin, &scope)?;
        self.actor_headers(&mut request, None, actor.run, actor.requester, actor.on_behalf_of)?;
        Ok(request)
    }

    /// The request of a write, with key and actor headers; everything but the credential.
    ///
    /// # Errors
    /// Not a write, a template without a value, or a value that must not stand where it would.
    pub fn render_write(&self, of: &WriteContext<'_>) -> Result<RenderedRequest, RenderError> {
        let parts = self.as_write()?;
        let target = Binding::Members(vec![
            ("type", Binding::Text(&of.target.kind)),
            ("id", Binding::Text(&of.target.id)),
            ("scope", Binding::Text(&of.target.scope)),
            ("version", text_or_null(of.target.version.as_deref())),
        ]);
        let scope = Scope::of([
            ("args", Binding::Value(of.args)),
            ("preview", parts.preview.binding(of.before)),
            ("target", target),
            ("operation", Binding::Text(of.operation)),
            ("run", Binding::Text(of.run)),
            ("key", Binding::Text(of.key)),
            ("requester", Binding::Text(of.requester)),
            ("on_behalf_of", text_or_null(of.on_behalf_of)),
        ]);
        let mut request = render(&self.http, &self.http.base, of.origin, &scope)?;
        push_header(&mut request, &parts.idempotency.header, of.key)?;
        self.actor_headers(&mut request, Some(of.operation), of.run, of.requester, of.on_behalf_of)?;
        Ok(request)
    }

    /// The status request of a write whose outcome is unknown.
    ///
    /// # Errors
    /// No such request, a template without a value, or a value that must not stand where it would.
    pub fn render_status(&self, of: &StatusContext<'_>) -> Result<RenderedRequest, RenderError> {
        let protocol = self.status_protocol()?;
        let scope = Scope::of([
            ("key", Binding::Text(of.key)),
            ("operation", Binding::Text(of.operation)),
            ("run", Binding::Text(of.run)),
            ("args", Binding::Value(of.args)),
        ]);
        render(&protocol.request, &self.http.base, of.origin, &scope)
    }

    pub(super) fn status_protocol(&self) -> Result<&StatusProtocol, RenderError> {
        match &self.as_write()?.recovery {
            Recovery::StatusByKey(protocol) => Ok(protocol),
            Recovery::None => Err(RenderError::NoStatusRequest),
        }
    }

    fn actor_headers(
        &self,
        request: &mut RenderedRequest,
        operation: Option<&str>,
        run: &str,
        requester: &str,
        on_behalf_of: Option<&str>,
    ) -> Result<(), RenderError> {
        let headers = [
            (&self.actor.operation, operation),
            (&self.actor.run, Some(run)),
            (&self.actor.requester, Some(requester)),
            (&self.actor.on_behalf_of, on_behalf_of),
        ];
        for (name, value) in headers {
            if let (Some(name), Some(value)) = (name, value) {
                push_header(request, name, value)?;
            }
        }
        Ok(())
    }
}

fn render(
    spec: &HttpSpec,
    base: &str,
    origin: &str,
    scope: &Scope<'_>,
) -> Result<RenderedRequest, RenderError> {
    let mut request = RenderedRequest {
        base: base.to_owned(),
        origin: origin.to_owned(),
        method: spec.method.clone(),
        path: path(spec, scope)?,
        headers: Vec::with_capacity(spec.headers.len() + 6),
        body: None,
    };
    if let Some(body) = &spec.body {
        request.body = Some(body_bytes(body, scope)?);
        request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    for (name, value) in &spec.headers {
        if let Some(value) = value.render_optional(scope)? {
            push_header(&mut request, name, &value)?;
        }
    }
    Ok(request)
}

fn body_bytes(body: &Template, scope: &Scope<'_>) -> Result<Vec<u8>, RenderError> {
    canonical(body.render(scope)?.as_ref()).ok_or(RenderError::InexactBody)
}

fn path(spec: &HttpSpec, scope: &Scope<'_>) -> Result<String, RenderError> {
    let fail = |reason| RenderError::Path { place: format!("{}/path", spec.at), reason };
    let mut path = String::new();
    for segment in &spec.path {
        path.push('/');
        let start = path.len();
        let mut bad = None;
        let text = segment.render_with(scope, |out, value| {
            bad = bad.or(bad_segment(value));
            encode(out, value);
        })?;
        path.push_str(&text);
        // The whole segment counts too: `.${args.x}` could become a dot segment.
        let dots = matches!(&path[start..], "" | "." | "..").then_some("would be a dot segment");
        if let Some(reason) = bad.or(dots) {
            return Err(fail(reason));
        }
    }
    let mut separator = '?';
    for (name, value) in &spec.query {
        if let Some(value) = value.render_optional(scope)? {
            if has_controls(&value) {
                return Err(fail("has a control character in a query value"));
            }
            path.push(separator);
            separator = '&';
            encode(&mut path, name);
            path.push('=');
            encode(&mut path, &value);
        }
    }
    if path.len() > MAX_PATH { Err(fail("is too long")) } else { Ok(path) }
}

fn has_controls(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// Percent-decodes once; bytes that are not UTF-8 afterwards are kept as the replacement character.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    let mut changed = false;
    while i < bytes.len() {
        let pair = bytes.get(i + 1..i + 3).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        let digits = pair.filter(|_| bytes[i] == b'%').and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                out.push(byte);
                i += 3;
                changed = true;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    changed.then(|| String::from_utf8_lossy(&out).into_owned())
}

/// The value and what proxies and services could make of it.
fn readings(value: &str) -> impl Iterator<Item = String> {
    std::iter::successors(Some(value.to_owned()), |text| decode(text)).take(MAX_DECODINGS + 1)
}

fn bad_segment(value: &str) -> Option<&'static str> {
    if value.is_empty() {
        return Some("would have an empty segment");
    }
    for reading in readings(value) {
        if has_controls(&reading) {
            return Some("has a control character");
        }
        if reading.split(['/', '\\']).any(|piece| piece == "." || piece == "..") {
            return Some("would be a dot segment");
        }
    }
    None
}

/// Everything but the unreserved characters of RFC 3986 is percent-encoded.
fn encode(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

fn bad_header(value: &str) -> Option<&'static str> {
    if value.len() > MAX_HEADER {
        return Some("is too long");
    }
    if !value.is_ascii() {
        return Some("has a character that is not ASCII");
    }
    if value.starts_with(' ') || value.ends_with(' ') {
        return Some("starts or ends with a space");
    }
    readings(value).any(|reading| has_controls(&reading)).then_some("has a control character")
}

fn push_header(request: &mut RenderedRequest, name: &str, value: &str) -> Result<(), RenderError> {
    match bad_header(value) {
        Some(reason) => Err(RenderError::Header { header: name.to_owned(), reason }),
        None => {
            request.headers.push((name.to_owned(), value.to_owned()));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;

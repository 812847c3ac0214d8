//! The http adapter's part of a contract: method, path, query, headers, body, actor headers.

use serde_json::Value;

use super::super::finding::{FindingCode, Findings, child};
use super::super::model::{ActorHeaders, EffectClass, HttpSpec};
use super::super::read::{Fields, text_of};
use super::super::template::Text;
use super::super::units::{NotThis, Pointer};
use super::write::template;
use super::{NAMES_STATUS, names_of};

/// Headers that belong to the transport, to the credentials or to the adapter itself.
const RESERVED: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "authorization",
    "proxy-authorization",
    "proxy-connection",
    "cookie",
    "set-cookie",
    "range",
    "accept-encoding",
];
const METHODS: &[(&str, &str)] = &[
    ("GET", "GET"),
    ("HEAD", "HEAD"),
    ("POST", "POST"),
    ("PUT", "PUT"),
    ("PATCH", "PATCH"),
    ("DELETE", "DELETE"),
];
/// Statuses that mean success unless the contract says others.
const SUCCESS: [u16; 2] = [200, 201];

fn check_header_name(text: &str, at: &str, findings: &mut Findings) -> Option<String> {
    let name = text.to_ascii_lowercase();
    let is_token = !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c));
    if !is_token {
        let message = format!("`{text}` is not a header name");
        findings.add(FindingCode::BadHeader, at, message, "use letters, digits and `-`");
        return None;
    }
    if RESERVED.contains(&name.as_str()) {
        let message = format!("the header `{name}` is not for a contract to set");
        findings.add(FindingCode::BadHeader, at, message, "remove it: the adapter or the credentials set it");
        return None;
    }
    Some(name)
}

pub(super) fn header_name(
    fields: &mut Fields<'_>,
    name: &'static str,
    findings: &mut Findings,
) -> Option<String> {
    let text = fields.text(name, findings)?;
    check_header_name(&text, &fields.at(name), findings)
}

pub(super) fn actor(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<ActorHeaders> {
    let mut inner = fields.object("actor", findings)?;
    let headers = ActorHeaders {
        operation: header_name(&mut inner, "operation", findings),
        run: header_name(&mut inner, "run", findings),
        requester: header_name(&mut inner, "requester", findings),
        on_behalf_of: header_name(&mut inner, "on_behalf_of", findings),
    };
    inner.done(findings);
    Some(headers)
}

pub(super) fn adapter(
    fields: &mut Fields<'_>,
    class: Option<EffectClass>,
    findings: &mut Findings,
) -> Option<HttpSpec> {
    for name in ["exec", "mcp", "sql"] {
        if fields.get(name).is_some() {
            let message = format!("the adapter `{name}` is not executed yet");
            findings.add(FindingCode::NotExecutable, fields.at(name), message, "use `http`");
        }
    }
    let mut inner = fields.object("http", findings)?;
    let base = inner.parsed("base", findings, super::name);
    inner.need("base", FindingCode::MissingField, "a named base of `daemon.toml`", findings);
    let names = names_of(class);
    let body = template(&mut inner, "body", names, findings);
    let success = success(&mut inner, findings);
    let accepted = accepted(&mut inner, findings);
    let spec = request(&mut inner, names, findings);
    inner.done(findings);
    Some(HttpSpec { base: base?, body, success, accepted, ..spec? })
}

pub(super) fn status_request(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<HttpSpec> {
    let mut inner = fields.object("request", findings)?;
    let spec = request(&mut inner, NAMES_STATUS, findings);
    let at = inner.at("method");
    inner.done(findings);
    let spec = spec?;
    if spec.method != "GET" {
        let message = "a status request must not change anything";
        findings.add(FindingCode::BadValue, at, message, "use `method: GET`");
    }
    Some(spec)
}

fn request(inner: &mut Fields<'_>, names: &[&str], findings: &mut Findings) -> Option<HttpSpec> {
    let method = inner.one_of("method", METHODS, findings);
    let path = inner.text("path", findings).and_then(|text| path(&text, &inner.at("path"), names, findings));
    inner.need("method", FindingCode::MissingField, "the HTTP method", findings);
    inner.need("path", FindingCode::MissingField, "the path below the base", findings);
    let query = texts(inner, "query", names, findings);
    let at = inner.at("headers");
    let mut headers: Vec<(String, Text)> = Vec::new();
    for (name, value) in texts(inner, "headers", names, findings) {
        let place = child(&at, &name);
        if let Some(name) = check_header_name(&name, &place, findings) {
            let literal = value.skeleton();
            if literal.bytes().any(|c| !(0x20..0x7f).contains(&c)) || literal.trim() != literal {
                let message = "the header value has controls, non-ASCII characters or spaces around it";
                findings.add(FindingCode::BadHeader, place, message, "write visible ASCII");
            } else if headers.iter().any(|(known, _)| *known == name) {
                let message = format!("the header `{name}` stands twice");
                findings.add(FindingCode::BadHeader, place, message, "keep one of them");
            } else {
                headers.push((name, value));
            }
        }
    }
    headers.sort_by(|a, b| a.0.cmp(&b.0));
    Some(HttpSpec {
        base: String::new(),
        method: method?.to_owned(),
        path: path?,
        query,
        headers,
        body: None,
        success: SUCCESS.to_vec(),
        accepted: None,
        at: inner.pointer().to_owned(),
    })
}

fn texts(
    inner: &mut Fields<'_>,
    name: &'static str,
    names: &[&str],
    findings: &mut Findings,
) -> Vec<(String, Text)> {
    let at = inner.at(name);
    let mut out = Vec::new();
    for (key, value) in inner.entries(name, findings) {
        let place = child(&at, key);
        let text = text_of(value, &place, findings);
        let text = text.and_then(|text| Text::parse(&text, &place, names, findings));
        out.extend(text.map(|text| (key.to_owned(), text)));
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

fn path(text: &str, at: &str, names: &[&str], findings: &mut Findings) -> Option<Vec<Text>> {
    let mut segments = Text::parse(text, at, names, findings)?.split_on('/');
    let add = |findings: &mut Findings, message: &str, remedy: &str| {
        findings.add(FindingCode::BadPath, at, message, remedy);
    };
    if !segments.remove(0).skeleton().is_empty() || segments.is_empty() {
        add(findings, "the path does not start with `/`", "write the whole path below the base");
        return None;
    }
    for segment in &segments {
        let literal = segment.skeleton();
        if literal.is_empty() || literal == "." || literal == ".." {
            add(findings, "the path has an empty or a dot segment", "write each segment out");
            return None;
        }
        if !literal.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._~!&'()*+,;=:@".contains(&c)) {
            let remedy = "put the query into `query`; write other characters as an expression";
            add(findings, "the path has a character that needs encoding", remedy);
            return None;
        }
    }
    Some(segments)
}

fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|status| u16::try_from(status).ok()).filter(|status| (200..=299).contains(status))
}

fn success(inner: &mut Fields<'_>, findings: &mut Findings) -> Vec<u16> {
    let at = inner.at("success");
    let items = inner.items("success", findings);
    let declared: Vec<u16> = items.iter().filter_map(status).collect();
    if declared.len() != items.len() {
        findings.add(
            FindingCode::BadValue,
            at,
            "a success status is from 200 to 299",
            "write such as `[200]`",
        );
    }
    if declared.is_empty() { SUCCESS.to_vec() } else { declared }
}

fn accepted(inner: &mut Fields<'_>, findings: &mut Findings) -> Option<(u16, Pointer)> {
    let mut inner = inner.object("accepted", findings)?;
    let code = inner.count("status", 200..=299, findings);
    let remote = inner.parsed("remote", findings, |text| match text.parse::<Pointer>() {
        Ok(pointer) if !pointer.0.is_empty() => Ok(pointer),
        _ => Err(NotThis("a JSON pointer to the id of the remote operation")),
    });
    inner.need("status", FindingCode::MissingField, "which status means accepted", findings);
    inner.need("remote", FindingCode::MissingField, "where the answer names the remote operation", findings);
    inner.done(findings);
    Some((u16::try_from(code?).ok()?, remote?))
}

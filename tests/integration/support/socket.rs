//! A client of the daemon's socket that shares no code with the daemon: one connection per request, sent once, nothing
//! repeated. What it answers is the daemon's own JSON as a [`Value`].
//!
//! Every helper returns a [`Reply`]. `reply.expect("…")` is the plain way; [`code_of`] is for refusals; a crash loop
//! looks at [`Trouble::NoAnswer`], which says that nobody knows what the daemon did.
#![allow(dead_code, reason = "what one test file does not use, another does")]

use std::{
    fmt,
    io::{self, Write as _},
    net::SocketAddr,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    http::{self, Answer, Outcome},
    secrets,
};

/// A test that hangs longer than this has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// One long poll; the daemon cuts longer ones to its own bound.
const POLL: Duration = Duration::from_secs(5);
/// The write that the helpers propose.
pub(crate) const ADDRESS_CHANGE: &str = "commit_address_change.v2";

/// What a request came to: the JSON of a good answer, or the trouble.
pub(crate) type Reply = Result<Value, Trouble>;

/// Why there is no good answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Nothing was sent: nobody listens.
    NobodyThere(io::Error),
    /// Sent, and no whole answer came: the daemon may have done it.
    NoAnswer(String),
    /// The daemon says no: status and problem details.
    Refused(u16, Value),
}

impl Trouble {
    /// The code of a refusal; none if there was no answer.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(_, problem) => problem["code"].as_str(),
            Self::NobodyThere(_) | Self::NoAnswer(_) => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// The code of a refusal; panics on a good answer and where none came.
#[track_caller]
pub(crate) fn code_of(reply: &Reply) -> &str {
    match reply {
        Err(trouble) => trouble.code().unwrap_or_else(|| panic!("expected a refusal, got {trouble}")),
        Ok(answer) => panic!("expected a refusal, got {answer}"),
    }
}

/// The id in an answer (`op_…`, `run_…`).
#[track_caller]
pub(crate) fn id_of(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}

/// A key that no other call in this process gives.
pub(crate) fn fresh_key() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Speaks to one socket under one name. Cheap to clone and to hand to threads; survives restarts of the daemon.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    socket: PathBuf,
    name: Option<String>,
    token: Option<String>,
    network: Option<SocketAddr>,
}

impl Client {
    /// A client that says no name: the account's default one is meant.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self { socket, name: None, token: None, network: None }
    }

    /// The same with a token in place of a name.
    pub(crate) fn bearing(&self, token: &str) -> Self {
        secrets::remember(token);
        Self { name: None, token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same over the listener of the network.
    pub(crate) fn over(&self, network: SocketAddr) -> Self {
        Self { network: Some(network), ..self.clone() }
    }

    /// The same socket under another name.
    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self.clone() }
    }

    /// Sends any bytes once. The connection is closed after the answer.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Trouble> {
        let received = match self.network {
            None => http::receive(self.open(method, path, headers, body)?),
            Some(address) => {
                let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
                let bearer = bearer.as_deref().map(|bearer| ("authorization", bearer));
                let headers: Vec<_> = headers.iter().copied().chain(bearer).collect();
                http::receive(
                    http::send(address, method, path, &headers, body).map_err(Trouble::NobodyThere)?,
                )
            }
        };
        match received {
            Ok(Outcome::Answered(answer)) => Ok(answer),
            Ok(other) => Err(Trouble::NoAnswer(format!("{other:?}"))),
            Err(error) => Err(Trouble::NoAnswer(error.to_string())),
        }
    }

    /// Sends and does not wait: whoever drops the stream is the client that went away.
    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<UnixStream, Trouble> {
        let mut stream = UnixStream::connect(&self.socket).map_err(Trouble::NobodyThere)?;
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: writd\r\nconnection: close\r\n");
        if let Some(name) = &self.name {
            request.push_str(&format!("writd-as: {name}\r\n"));
        }
        if let Some(token) = &self.token {
            request.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        let sent = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .and_then(|()| stream.write_all(&bytes));
        sent.map_err(|error| Trouble::NoAnswer(error.to_string()))?;
        Ok(stream)
    }

    /// Asks.
    pub(crate) fn get(&self, path: &str) -> Reply {
        judge(self.send("GET", path, &[], b"")?)
    }

    /// Wants.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let headers = [("content-type", "application/json")];
        judge(self.send("POST", path, &headers, body.to_string().as_bytes())?)
    }

    /// Wants under a key: a repeat finds the first answer.
    pub(crate) fn post_keyed(&self, path: &str, key: &str, body: &Value) -> Reply {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        judge(self.send("POST", path, &headers, body.to_string().as_bytes())?)
    }

    /// Opens a run that may propose these tools, and address changes if there are none.
    pub(crate) fn open_run(&self, tools: &[&str]) -> Reply {
        let tools = if tools.is_empty() { &[ADDRESS_CHANGE][..] } else { tools };
        self.post_keyed("/v1/runs", &fresh_key(), &json!({"purpose": "a test", "tools": tools}))
    }

    /// Reads through a contract; the data is in `data`.
    pub(crate) fn call(&self, run: &str, tool: &str, arguments: &Value) -> Reply {
        self.post(&format!("/v1/runs/{run}/calls"), &json!({"tool": tool, "arguments": arguments}))
    }

    /// Proposes a write as it stands in `body` (`tool`, `arguments`, `based_on`, `purpose`, `supersedes`).
    pub(crate) fn propose(&self, run: &str, key: &str, body: &Value) -> Reply {
        secrets::remember_arguments(&body["arguments"]);
        self.post_keyed(&format!("/v1/runs/{run}/proposals"), key, body)
    }

    /// Proposes another address for a customer, based on the version that it has. `line1` tells writes apart.
    pub(crate) fn propose_address(&self, run: &str, key: &str, id: &str, version: u64, line1: &str) -> Reply {
        self.propose(run, key, &address_change(id, version, line1))
    }

    /// An operation, everything that is shown of it.
    pub(crate) fn operation(&self, id: &str) -> Reply {
        self.get(&format!("/v1/operations/{id}"))
    }

    /// Approves what is stored now: looks, and sends the digest that it saw.
    pub(crate) fn approve(&self, id: &str) -> Reply {
        let seen = self.operation(id)?;
        self.approve_digest(id, seen["proposal_sha256"].as_str().unwrap_or_default())
    }

    /// Approves exactly this digest.
    pub(crate) fn approve_digest(&self, id: &str, digest: &str) -> Reply {
        self.command(id, "approve", &json!({"digest": digest}))
    }

    /// `deny`, `revoke`, `commit`, `cancel`, `reconcile`, `resolve`, `abandon`, `compensate`.
    pub(crate) fn command(&self, id: &str, verb: &str, body: &Value) -> Reply {
        self.post(&format!("/v1/operations/{id}/{verb}"), body)
    }

    /// All events of an operation, oldest first.
    pub(crate) fn events(&self, id: &str) -> Result<Vec<Value>, Trouble> {
        self.pages(&format!("/v1/operations/{id}/events"))
    }

    /// All operations that this name may see, newest first; `query` is empty or such as `state=unknown`.
    pub(crate) fn operations(&self, query: &str) -> Result<Vec<Value>, Trouble> {
        let mark = if query.is_empty() { "" } else { "?" };
        self.pages(&format!("/v1/operations{mark}{query}"))
    }

    fn pages(&self, path: &str) -> Result<Vec<Value>, Trouble> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mark = if path.contains('?') { '&' } else { '?' };
            let page = match &cursor {
                Some(cursor) => self.get(&format!("{path}{mark}cursor={cursor}"))?,
                None => self.get(path)?,
            };
            items.extend(page["items"].as_array().into_iter().flatten().cloned());
            match page["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(items),
            }
        }
    }

    /// Waits until the operation is in one of these states, by long polls, and panics with what it is instead.
    #[track_caller]
    pub(crate) fn wait_state(&self, id: &str, states: &[&str]) -> Value {
        self.wait_until(id, &states.join(" or "), |seen| {
            seen["state"].as_str().is_some_and(|state| states.contains(&state))
        })
    }

    /// Waits until `wanted` is true of the operation; `what` is for the panic.
    #[track_caller]
    pub(crate) fn wait_until(&self, id: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        let mut seen = self.operation(id).expect("the operation is shown");
        while !wanted(&seen) {
            assert!(Instant::now() < until, "{id} was to be {what}, and is {seen:#}");
            let events = seen["events"].as_u64().expect("a count of events");
            let path = format!("/v1/operations/{id}?wait={}ms&after={events}", POLL.as_millis());
            seen = self.get(&path).expect("the operation is shown");
        }
        seen
    }
}

/// The body of a proposal of another address.
pub(crate) fn address_change(id: &str, version: u64, line1: &str) -> Value {
    json!({
        "tool": ADDRESS_CHANGE,
        "arguments": {"customer_id": id, "destination": address(line1)},
        "based_on": version,
        "purpose": "the customer has moved",
    })
}

/// An address that the sandbox takes.
pub(crate) fn address(line1: &str) -> Value {
    json!({"line1": line1, "postal_code": "111 34", "city": "Stockholm", "country": "SE"})
}

pub(crate) fn judge(answer: Answer) -> Reply {
    let value: Value = serde_json::from_slice(&answer.body)
        .map_err(|error| Trouble::NoAnswer(format!("{error}: {}", String::from_utf8_lossy(&answer.body))))?;
    // Every run has one: none of them may be in a log.
    if let Some(token) = value["token"].as_str() {
        secrets::remember(token);
    }
    if (200..300).contains(&answer.status) { Ok(value) } else { Err(Trouble::Refused(answer.status, value)) }
}

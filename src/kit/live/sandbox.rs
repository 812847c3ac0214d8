//! The sandbox behind a service, where there is one: its ledger, which decides over every answer, and its switchboard.
//! A service without these routes has none, and then counts cannot be had.

use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::json::{self, Limits};
use crate::domain::request::RenderedRequest;
use crate::ports::{Invoker, NoReply, Purpose, Reply};

/// A sandbox answers at once.
const DEADLINE: Duration = Duration::from_secs(10);
/// A ledger of many runs is long.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A sandbox, reached as its service is.
pub(in crate::kit) struct Sandbox<'p> {
    invoker: &'p dyn Invoker,
    base: String,
    origin: String,
}

/// What the look for a sandbox found.
pub(in crate::kit) enum Looked<'p> {
    /// One with a ledger.
    Found(Sandbox<'p>),
    /// A service that is none.
    None,
    /// Nobody is there.
    Unreachable(String),
}

/// Asks whether there is one.
pub(in crate::kit) async fn look<'p>(invoker: &'p dyn Invoker, base: &str, origin: &str) -> Looked<'p> {
    let sandbox = Sandbox { invoker, base: base.to_owned(), origin: origin.to_owned() };
    match sandbox.send("GET", "effects", None).await {
        Err(NoReply::NothingSent { cause }) => Looked::Unreachable(cause),
        Err(NoReply::MayHaveArrived { .. }) => Looked::None,
        Ok(reply) => match effects_of(&reply) {
            Some(effects) if effects["total"].is_u64() && effects["per_key"].is_object() => {
                Looked::Found(sandbox)
            }
            _ => Looked::None,
        },
    }
}

fn effects_of(reply: &Reply) -> Option<Value> {
    if reply.status != 200 {
        return None;
    }
    json::parse(&reply.body, Limits::bytes(MAX_BYTES)).ok()
}

impl Sandbox<'_> {
    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply, NoReply> {
        let request = RenderedRequest {
            base: self.base.clone(),
            origin: self.origin.clone(),
            method: method.to_owned(),
            path: format!("/_sandbox/{path}"),
            headers: Vec::new(),
            body: body.map(|body| body.to_string().into_bytes()),
        };
        // A connection of its own kind: what is asked of the ledger never waits behind a write.
        self.invoker.send(request, Purpose::Status, DEADLINE, MAX_BYTES).await
    }

    async fn effects(&self) -> Result<Value, String> {
        let reply = self.send("GET", "effects", None).await.map_err(|error| error.to_string())?;
        effects_of(&reply).ok_or_else(|| "the ledger cannot be read".to_owned())
    }

    /// Effects under a key.
    pub(in crate::kit) async fn effects_under(&self, key: &str) -> Result<u64, String> {
        Ok(self.effects().await?["per_key"][key].as_u64().unwrap_or(0))
    }

    /// Effects in all.
    pub(in crate::kit) async fn effects_in_all(&self) -> Result<u64, String> {
        self.effects().await?["total"].as_u64().ok_or_else(|| "the ledger has no total".to_owned())
    }

    /// Makes the service apply the next write under this key, and then close the connection.
    pub(super) async fn lose_the_answer(&self, key: &str) -> bool {
        let fault = json!({"fault": "apply_then_drop", "match": {"key": key}});
        self.set("POST", "faults", &fault).await.is_ok()
    }

    /// One request to its own routes that must succeed.
    pub(in crate::kit) async fn set(&self, method: &str, path: &str, body: &Value) -> Result<(), String> {
        let body = (!body.is_null()).then_some(body);
        let reply = self.send(method, path, body).await.map_err(|error| error.to_string())?;
        if (200..300).contains(&reply.status) {
            return Ok(());
        }
        Err(format!("the sandbox refuses {method} /_sandbox/{path} (status {})", reply.status))
    }
}

//! The sandbox as its own witness: what it received, what took effect, what it is told to do wrong.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// The sandbox, from outside.
#[derive(Clone, Debug)]
pub(crate) struct World {
    address: SocketAddr,
}

impl World {
    pub(super) fn new(address: SocketAddr) -> World {
        World { address }
    }

    /// Where the daemon writes to.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Tells it to do something wrong.
    pub(crate) async fn fault(&self, fault: &Value) -> Result<(), Failure> {
        self.json(Method::POST, "/_sandbox/faults", fault.to_string()).await.map(drop)
    }

    /// No more faults.
    pub(crate) async fn clear_faults(&self) -> Result<(), Failure> {
        self.json(Method::DELETE, "/_sandbox/faults", String::new()).await.map(drop)
    }

    /// Somebody else changes the customer.
    pub(crate) async fn bump(&self, customer: &str) -> Result<Value, Failure> {
        let answer = self.json(Method::POST, &format!("/_sandbox/bump/{customer}"), String::new()).await?;
        Ok(answer["version"].clone())
    }

    /// The customer as the service has it.
    pub(crate) async fn customer(&self, customer: &str) -> Result<Value, Failure> {
        self.json(Method::GET, &format!("/customers/{customer}"), String::new()).await
    }

    /// `{total, per_object, per_key, keys_with_more_than_one, other_changes}`
    pub(crate) async fn effects(&self) -> Result<Value, Failure> {
        self.json(Method::GET, "/_sandbox/effects", String::new()).await
    }

    /// Every record of the ledger, oldest first.
    pub(crate) async fn ledger(&self) -> Result<Vec<Value>, Failure> {
        let (_, body) = self.exchange(Method::GET, "/_sandbox/ledger", &[], String::new()).await?;
        let text = String::from_utf8_lossy(&body);
        text.lines()
            .map(|line| serde_json::from_str(line).map_err(|error| strange(&error.to_string())))
            .collect()
    }

    /// The writes that this operation sent, as they arrived.
    pub(crate) async fn writes_of(&self, id: OperationId) -> Result<Vec<Value>, Failure> {
        let id = id.to_string();
        let sent = |record: &Value| {
            record["type"] == "request"
                && record["method"] != "GET"
                && record["headers"]["x-operation-id"] == id.as_str()
        };
        Ok(self.ledger().await?.into_iter().filter(sent).collect())
    }

    /// What took effect for this operation.
    pub(crate) async fn effects_of(&self, id: OperationId) -> Result<Vec<Value>, Failure> {
        let id = id.to_string();
        let applied = |record: &Value| record["type"] == "effect" && record["operation_id"] == id.as_str();
        Ok(self.ledger().await?.into_iter().filter(applied).collect())
    }

    /// Sends a received write a second time, to a service that forgets the key: a real second effect. The control that
    /// shows that the checks can fail.
    pub(crate) async fn apply_twice(&self, id: OperationId) -> Result<(), Failure> {
        self.fault(&json!({"fault": "ignore_key"})).await?;
        let writes = self.writes_of(id).await?;
        let effects = self.effects_of(id).await?;
        let (Some(write), Some(effect)) = (writes.first(), effects.first()) else {
            return Err(Failure::internal("there is no effect to repeat"));
        };
        let customer = effect["object"].as_str().and_then(|object| object.strip_prefix("customer:"));
        let now = self.customer(customer.unwrap_or_default()).await?;
        let if_match = format!("\"{}\"", now["version"]);
        let id = id.to_string();
        let headers = [
            ("idempotency-key", effect["key"].as_str().unwrap_or_default()),
            ("if-match", if_match.as_str()),
            ("x-operation-id", id.as_str()),
        ];
        let body = write["body"].as_str().unwrap_or_default().to_owned();
        let path = write["path"].as_str().unwrap_or_default();
        let (status, _) = self.exchange(Method::PUT, path, &headers, body).await?;
        if status.is_success() { Ok(()) } else { Err(strange(status.as_str())) }
    }

    async fn json(&self, method: Method, path: &str, body: String) -> Result<Value, Failure> {
        let (status, body) = self.exchange(method, path, &[], body).await?;
        if !status.is_success() {
            return Err(strange(&format!("{path}: {status}")));
        }
        serde_json::from_slice(&body).map_err(|error| strange(&error.to_string()))
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let lost = |error: &dyn std::error::Error| strange(&error.to_string());
        let stream = TcpStream::connect(self.address).await.map_err(|error| lost(&error))?;
        let mut request =
            Request::builder().method(method).uri(path).header(header::HOST, self.address.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| lost(&error))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| lost(&error))?;
        let driver = tokio::spawn(connection);
        let answered = async {
            let response = sender.send_request(request).await.map_err(|error| lost(&error))?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| lost(&error))?;
            Ok((status, body.to_bytes()))
        };
        let answered = answered.await;
        driver.abort();
        answered
    }
}

fn strange(why: &str) -> Failure {
    Failure::internal(format!("the sandbox does not answer as it should: {why}"))
}

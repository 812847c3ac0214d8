//! The API over a real engine and store, with a service made for tests. Most tests speak to the routes directly; those
//! of the socket speak HTTP.

mod auth;
mod commands;
mod flow;
mod lists;
mod network;
mod policy;
mod refusals;
mod run_tokens;
mod sockets;
mod streams;
mod tokens;
mod twins;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use super::{Api, Identify, Peer, Service, Settings};
use crate::domain::principal::{Principal, PrincipalKind, Role};
use crate::engine::testing::{World, principal};

/// The account that holds every name but those of others.
pub(super) const OURS: u32 = 1000;
/// The account of mallory: the same tenant, an agent of its own.
pub(super) const MALLORY: u32 = 1001;
/// The account of eve: an operator of another tenant.
pub(super) const EVE: u32 = 2000;
/// An account that is no principal.
pub(super) const NOBODY: u32 = 4711;
/// More than any answer in these tests.
const ANSWER_BYTES: usize = 1 << 24;

fn names(uid: u32) -> Vec<Principal> {
    match uid {
        OURS => vec![
            principal("agent", PrincipalKind::Agent, &[Role::Agent]),
            principal("alice", PrincipalKind::User, &[Role::Approver]),
            principal("bob", PrincipalKind::User, &[Role::Approver]),
            principal("oscar", PrincipalKind::Operator, &[Role::Operator, Role::Auditor, Role::Admin]),
        ],
        MALLORY => vec![principal("mallory", PrincipalKind::Agent, &[Role::Agent])],
        EVE => {
            let mut eve = principal("eve", PrincipalKind::Operator, &[Role::Operator, Role::Approver]);
            eve.tenant = "other".to_owned();
            vec![eve]
        }
        _ => Vec::new(),
    }
}

pub(super) fn identify() -> Identify {
    Arc::new(|uid, name| {
        let own = names(uid);
        match (own.first(), name) {
            (None, _) => Err("this account is no principal".to_owned()),
            (Some(first), None) => Ok(first.clone()),
            (Some(_), Some(name)) => own
                .into_iter()
                .find(|p| p.name == name)
                .ok_or_else(|| "this account has no such name".to_owned()),
        }
    })
}

pub(super) fn settings() -> Settings {
    Settings {
        identify: identify(),
        max_request: 4096,
        max_wait: Duration::from_secs(20),
        page_default: 50,
        page_max: 100,
    }
}

/// An answer, read whole.
pub(super) struct Got {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
    pub(super) body: Value,
}

impl Got {
    /// The answer must be a problem with this code.
    #[track_caller]
    pub(super) fn problem(&self, status: u16, code: &str) -> &Value {
        assert_eq!((self.status.as_u16(), self.body["code"].as_str()), (status, Some(code)), "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], json!(status));
        assert!(self.body["instance"].is_string(), "{}", self.text);
        let length = self.headers.get("content-length").map(|length| length.to_str().unwrap().to_owned());
        assert!(length.is_none_or(|length| length == self.text.len().to_string()));
        &self.body
    }

    #[track_caller]
    pub(super) fn ok(&self, status: u16) -> &Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/json");
        &self.body
    }
}

pub(super) struct Tester {
    pub(super) world: World,
    pub(super) api: Api,
    pub(super) service: Service,
}

impl Tester {
    pub(super) fn start() -> Tester {
        let world = World::start();
        world.service.put("n1", 17, "old");
        world.service.put("n2", 3, "two");
        for uid in [OURS, MALLORY, EVE] {
            names(uid).into_iter().for_each(|principal| world.directory.know(principal));
        }
        let api = Api::new(settings());
        api.ready(world.handle.clone());
        let service = api.service();
        Tester { world, api, service }
    }

    pub(super) fn request(method: &str, path: &str, name: &str, body: Option<&str>) -> Request<Body> {
        let request = Request::builder().method(method).uri(path);
        let request = if name.is_empty() { request } else { request.header("Writd-As", name) };
        match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                request.body(Body::from(body.to_owned())).unwrap()
            }
            None => request.body(Body::empty()).unwrap(),
        }
    }

    pub(super) async fn send(&self, uid: u32, request: Request<Body>) -> Got {
        read(self.service.answer(Peer { uid }, request).await).await
    }

    pub(super) async fn get(&self, name: &str, path: &str) -> Got {
        self.send(OURS, Tester::request("GET", path, name, None)).await
    }

    pub(super) async fn post(&self, name: &str, path: &str, body: &Value) -> Got {
        self.send(OURS, Tester::request("POST", path, name, Some(&body.to_string()))).await
    }

    /// The same with a token in place of an account: whoever has none of its own, and no name.
    pub(super) fn bearing(token: &str, method: &str, path: &str, body: Option<&Value>) -> Request<Body> {
        let text = body.map(ToString::to_string);
        let mut request = Tester::request(method, path, "", text.as_deref());
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        request
    }

    /// Sends it with a token from an account that is nobody.
    pub(super) async fn bear(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Got {
        self.send(NOBODY, Tester::bearing(token, method, path, body)).await
    }

    /// Makes a token; answers with its secret and its id.
    pub(super) async fn token(&self, body: &Value) -> (String, String) {
        let got = self.post("oscar", "/v1/tokens", body).await;
        let made = got.ok(201);
        (text(made, "token"), text(made, "id"))
    }

    pub(super) async fn open_run(&self) -> String {
        let body = json!({"purpose": "tests", "tools": ["set_note.v1", "set_note_later.v1"]});
        let got = self.post("agent", "/v1/runs", &body).await;
        got.ok(201)["id"].as_str().unwrap().to_owned()
    }

    /// Proposes to change note n1; answers with id and digest.
    pub(super) async fn propose(&self, tool: &str) -> (String, String) {
        let run = self.open_run().await;
        let got = self.post("agent", &format!("/v1/runs/{run}/proposals"), &proposal(tool, "new")).await;
        let body = got.ok(201);
        (text(body, "id"), text(body, "proposal_sha256"))
    }

    /// Has a write executed whose answer is lost; answers with its id.
    pub(super) async fn unknown(&self) -> String {
        self.world.service.behave(crate::engine::testing::Behaviour::LosesAnswers);
        let (id, digest) = self.propose("set_note.v1").await;
        let path = format!("/v1/operations/{id}/approve?wait=20s");
        let got = self.post("alice", &path, &json!({"digest": digest})).await;
        assert_eq!(got.ok(200)["state"], "unknown", "{}", got.text);
        id
    }
}

pub(super) fn proposal(tool: &str, text: &str) -> Value {
    json!({"tool": tool, "arguments": {"id": "n1", "text": text}, "based_on": 17, "purpose": "because"})
}

#[track_caller]
pub(super) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}

pub(super) async fn read(response: Response) -> Got {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, ANSWER_BYTES).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Got { status: parts.status, headers: parts.headers, text, body }
}

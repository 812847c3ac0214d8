//! The client against peers that answer, refuse, fall silent and lie. Each peer says what it heard, and how often.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener as StdListener;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use super::*;
use crate::domain::Code;
use crate::domain::operation::Effect;

struct Peer {
    _dir: tempfile::TempDir,
    socket: PathBuf,
    done: tokio::sync::oneshot::Sender<()>,
    heard: tokio::task::JoinHandle<Vec<String>>,
}

impl Peer {
    /// Every request that came, also one that is still waiting to be heard.
    async fn heard(self) -> Vec<String> {
        self.done.send(()).unwrap();
        self.heard.await.unwrap()
    }
}

/// Answers each connection with these bytes and closes it.
fn peer(answer: impl Into<Vec<u8>>) -> Peer {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("writd.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let answer = answer.into();
    let (done, mut asked_all) = tokio::sync::oneshot::channel();
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        loop {
            let (mut stream, _) = tokio::select! {
                accepted = listener.accept() => accepted.unwrap(),
                _ = &mut asked_all => break,
            };
            heard.push(request(&mut stream).await);
            stream.write_all(&answer).await.unwrap();
        }
        // The client is done: a connection that it repeated stands in the queue by now.
        while let Ok((_, _)) = listener.as_fd().try_clone_to_owned().map(StdListener::from).unwrap().accept()
        {
            heard.push("repeated".to_owned());
        }
        heard
    });
    Peer { _dir: dir, socket, done, heard }
}

/// One request, as far as its `content-length` goes.
async fn request(stream: &mut tokio::net::UnixStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if read == 0 || body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return text;
        }
    }
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn ask(peer: &Peer, ask: Ask) -> Result<Value, ClientError> {
    Client::new(peer.socket.clone(), Some("alice".to_owned())).ask(ask).await
}

fn wish() -> Ask {
    Ask::post("/v1/x", &json!({"a": 1})).key("k-1").wait(Some(Duration::from_millis(1500)))
}

#[tokio::test]
async fn a_request_says_who_and_what_once() {
    let peer = peer(answer("200 OK", "application/json", r#"{"b":2}"#));
    assert_eq!(ask(&peer, wish()).await.unwrap(), json!({"b": 2}));
    let heard = peer.heard().await;
    let [heard] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(heard.starts_with("POST /v1/x?wait=1500ms HTTP/1.1\r\n"), "{heard}");
    for header in ["writd-as: alice", "idempotency-key: k-1", "content-type: application/json"] {
        assert!(heard.contains(&format!("\r\n{header}\r\n")), "{header}: {heard}");
    }
    assert!(heard.ends_with("\r\n\r\n{\"a\":1}"), "{heard}");
}

#[tokio::test]
async fn a_refusal_is_a_problem_with_everything_in_it() {
    let problem =
        Problem::new(Code::VersionConflict, "it is 18 now").current_version(18).pointer("/based_on");
    let text = serde_json::to_string(&problem).unwrap();
    let peer = peer(answer("409 Conflict", Problem::MEDIA_TYPE, &text));
    let Err(ClientError::Refused(refused)) = ask(&peer, wish()).await else { panic!() };
    assert_eq!(*refused, problem);
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_nothing_is_repeated() {
    let half = answer("200 OK", "application/json", r#"{"b":2}"#);
    let half = half[..half.len() - 3].to_owned();
    for broken in [String::new(), "HTTP/1.1 200".to_owned(), half, "SSH-2.0-x\r\n".to_owned()] {
        let peer = peer(broken.clone());
        let error = ask(&peer, wish()).await.unwrap_err();
        assert!(matches!(error, ClientError::Lost { .. }), "{broken:?}: {error:?}");
        assert_eq!((error.code(), error.effect()), (Code::OutcomeUnknown, Effect::Unknown));
        assert_eq!(peer.heard().await.len(), 1, "{broken:?}: asked more than once");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_understood_means_stop() {
    let mut later = serde_json::to_value(Problem::new(Code::Conflict, "x")).unwrap();
    later["code"] = json!("LATER");
    for (status, kind, body) in [
        ("200 OK", "text/html", "<html>"),
        ("502 Bad Gateway", "text/html", "<html>\u{1b}[2J"),
        ("409 Conflict", Problem::MEDIA_TYPE, later.to_string().as_str()),
        ("404 Not Found", "application/json", "{}"),
    ] {
        let peer = peer(answer(status, kind, body));
        let error = ask(&peer, wish()).await.unwrap_err();
        assert!(matches!(error, ClientError::Foreign { .. }), "{body}: {error:?}");
        assert_eq!(error.code(), Code::OutcomeUnknown);
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
        let read = ask(&peer, Ask::get("/v1/x")).await.unwrap_err();
        assert_eq!((read.code(), read.effect()), (Code::Unavailable, Effect::None));
    }
}

#[tokio::test]
async fn without_a_listener_nothing_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.sock");
    let stale = dir.path().join("stale.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    for socket in [missing, stale] {
        let error = Client::new(socket, None).ask::<Value>(Ask::get("/healthz")).await.unwrap_err();
        assert!(matches!(error, ClientError::NotRunning(_)), "{error:?}");
        assert_eq!((error.code(), error.effect()), (Code::Unavailable, Effect::None));
    }
    let error = Client::new(dir.path().join("x".repeat(200)), None).ask::<Value>(Ask::get("/healthz")).await;
    assert!(matches!(error, Err(ClientError::NoWayIn { .. })), "{error:?}");
}

#[test]
fn texts_stand_safely_in_a_query() {
    assert_eq!(in_query("op_1-2.3~"), "op_1-2.3~");
    assert_eq!(in_query("a/b&c=ü"), "a%2Fb%26c%3D%C3%BC");
}

//! The adapter against a raw peer: each test scripts what the peer does, byte by byte.

mod answers;
mod edge;
mod failures;
mod keep_alive;
mod speed;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Long enough for a loaded machine; tests that wait for a deadline use a short one.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
pub(super) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

pub(super) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

pub(super) fn base(origin: &str) -> Base {
    Base {
        name: "crm".to_owned(),
        origin: origin.parse().unwrap(),
        plain_http: false,
        credential: None,
        read_credential: None,
        ca: None,
        max_connections: 8,
    }
}

pub(super) fn adapter(address: SocketAddr) -> HttpAdapter {
    HttpAdapter::new(vec![base(&format!("http://{address}"))]).unwrap()
}

pub(super) fn put(address: SocketAddr) -> RenderedRequest {
    RenderedRequest {
        base: "crm".to_owned(),
        origin: format!("http://{address}"),
        method: "PUT".to_owned(),
        path: "/customers/C-1842/shipping-address?x=%2F".to_owned(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("idempotency-key".to_owned(), "op_1".to_owned()),
        ],
        body: Some(br#"{"city":"Bern"}"#.to_vec()),
    }
}

pub(super) fn options(kind: RequestKind) -> SendOptions {
    SendOptions { deadline: PATIENCE, max_response_bytes: 1024, kind, hooks: None }
}

/// Reads one request: the head and as many bytes of body as it declares. Empty at the end of the connection.
pub(super) async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return text,
            Ok(_) => {}
        }
    }
}

/// A peer that takes one connection, reads one request, writes `answer` and closes.
pub(super) async fn one_answer(answer: Vec<u8>, kind: RequestKind) -> Result<RawAnswer, SendError> {
    let (listener, address) = listen().await;
    let peer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(&answer).await.unwrap();
        stream.shutdown().await.unwrap();
        // Until the adapter has closed its end, so that no reset hides the answer.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    };
    let adapter = adapter(address);
    let request = put(address);
    // The connection may stay idle in the pool, so the peer is not waited for.
    tokio::select! {
        biased;
        answer = adapter.send(&request, options(kind)) => answer,
        never = async { peer.await; std::future::pending().await } => never,
    }
}

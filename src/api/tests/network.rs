//! The doors of the listener: what is refused before anybody looks at what it wants.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Got, Tester, proposal, read};
use crate::api::network::{Network, NetworkError, NetworkSettings, Rules};

const HOST: &str = "127.0.0.1:7400";

fn rules() -> Arc<Rules> {
    Rules::new(&[HOST, "writd.example"], &["https://console.example"])
}

async fn ask(t: &Tester, mut request: Request<Body>, headers: &[(&'static str, &str)]) -> Got {
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_str(value).unwrap());
    }
    read(t.service.answer_network(&rules(), request).await).await
}

#[tokio::test]
async fn only_a_token_opens_and_the_account_counts_for_nothing() {
    let t = Tester::start();
    let (token, _) = t.token(&json!({"principal": "agent"})).await;
    let good = Tester::bearing(&token, "GET", "/v1/operations", None);
    ask(&t, good, &[("host", HOST)]).await.ok(200);
    let reference = ask(&t, Tester::bearing("x", "GET", "/v1/operations", None), &[("host", HOST)]).await;
    reference.problem(401, "UNAUTHENTICATED");
    assert_eq!(reference.headers["www-authenticate"], "Bearer");
    for name in ["", "agent", "nobody"] {
        let without = ask(&t, Tester::request("GET", "/v1/operations", name, None), &[("host", HOST)]).await;
        assert_eq!(without.text, reference.text, "{name}");
    }
}

#[tokio::test]
async fn a_foreign_host_or_page_is_refused_before_the_token_is_looked_at() {
    let t = Tester::start();
    let (token, _) = t.token(&json!({"principal": "agent"})).await;
    let request = || Tester::bearing(&token, "GET", "/v1/operations", None);
    for host in [HOST, "writd.example", "WRITD.example"] {
        ask(&t, request(), &[("host", host)]).await.ok(200);
    }
    let hosts: [&[(&str, &str)]; 6] = [
        &[],
        &[("host", "evil.example")],
        &[("host", "127.0.0.1")],
        &[("host", "127.0.0.1:7401")],
        &[("host", "writd.example.evil.example")],
        &[("host", HOST), ("host", HOST)],
    ];
    for headers in hosts {
        let got = ask(&t, request(), headers).await;
        got.problem(421, "INVALID_ARGUMENT");
    }
    let mut absolute = request();
    *absolute.uri_mut() = format!("http://{HOST}/v1/operations").parse().unwrap();
    ask(&t, absolute, &[("host", HOST)]).await.problem(421, "INVALID_ARGUMENT");
    for page in ["https://evil.example", "null", "", "http://console.example", "https://console.example:444"]
    {
        let got = ask(&t, request(), &[("host", HOST), ("origin", page)]).await;
        got.problem(403, "PERMISSION_DENIED");
    }
    let both = [("host", HOST), ("origin", "https://console.example"), ("origin", "https://evil.example")];
    ask(&t, request(), &both).await.problem(403, "PERMISSION_DENIED");
    ask(&t, request(), &both[..2]).await.ok(200);
    let chunked = [("host", HOST), ("transfer-encoding", "chunked")];
    ask(&t, request(), &chunked).await.problem(411, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn what_is_for_this_machine_is_not_there() {
    let t = Tester::start();
    let (token, _) = t.token(&json!({"principal": "oscar"})).await;
    let nowhere = ask(&t, Tester::bearing(&token, "GET", "/v1/nowhere", None), &[("host", HOST)]).await;
    let local = [
        ("GET", "/v1/tokens"),
        ("POST", "/v1/tokens"),
        ("POST", "/v1/tokens/tok_7zzzzzzzzzzzzzzzzzzzzzzzzz/revoke"),
        ("POST", "/v1/catalog/reload"),
        ("POST", "/v1/restore/accept"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
    ];
    for (method, path) in local {
        let got = ask(&t, Tester::bearing(&token, method, path, None), &[("host", HOST)]).await;
        got.problem(404, "NOT_FOUND");
        assert_eq!(got.body["detail"], nowhere.body["detail"], "{path} is not even suggested");
    }
}

#[tokio::test]
async fn an_id_of_somebody_else_is_answered_alike_at_both_doors() {
    let t = Tester::start();
    let mut answers = Vec::new();
    let (id, _) = t.propose("set_note.v1").await;
    let (mallory, _) = t.token(&json!({"principal": "mallory"})).await;
    for id in [id.as_str(), "op_7zzzzzzzzzzzzzzzzzzzzzzzzz", "x"] {
        let path = format!("/v1/operations/{id}/cancel");
        let body = json!({});
        let network = ask(&t, Tester::bearing(&mallory, "POST", &path, Some(&body)), &[("host", HOST)]).await;
        let socket = t.bear(&mallory, "POST", &path, Some(&body)).await;
        for got in [network, socket] {
            got.problem(404, "NOT_FOUND");
            answers.push(got.text.replace(&path, ""));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

/// A listener on a port of its own, and the answer to some bytes until it closes.
struct Listening {
    t: Tester,
    address: std::net::SocketAddr,
    token: String,
}

impl Listening {
    async fn start(max_connections: usize) -> Listening {
        Listening::start_with(max_connections, None).await
    }

    async fn start_with(max_connections: usize, tls: Option<(PathBuf, PathBuf)>) -> Listening {
        let t = Tester::start();
        let (token, _) = t.token(&json!({"principal": "agent"})).await;
        let settings = NetworkSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            tls,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_connections,
        };
        let network = Network::bind(settings).await.unwrap();
        let address = network.address().unwrap();
        let service = t.service.clone();
        tokio::spawn(async move { service.serve_network(network).await });
        Listening { t, address, token }
    }

    fn head(&self, first: &str, more: &str) -> String {
        let (address, token) = (self.address, &self.token);
        format!("{first} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{more}\r\n")
    }

    async fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The daemon may close before it has read everything.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut answer)).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test]
async fn one_connection_is_one_request_and_hidden_ones_are_never_read() {
    let l = Listening::start(8).await;
    let body = json!({"purpose": "tests", "tools": ["set_note.v1"]}).to_string();
    let hidden = l.head(
        "POST /v1/runs",
        &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()),
    ) + &body;
    let typed = "content-type: application/json\r\n";
    let shapes = [
        format!("{typed}content-length: 2\r\ncontent-length: 0\r\n"),
        format!("{typed}transfer-encoding: chunked\r\ncontent-length: 0\r\n"),
        format!("{typed}content-length: 0\r\ntransfer-encoding: chunked\r\n"),
        format!("{typed}transfer-encoding: identity, chunked\r\n"),
        format!("{typed}transfer-encoding: xchunked\r\ncontent-length: 4\r\n"),
        format!("{typed}content-length: +2\r\n"),
        format!("{typed}content-length: 2, 2\r\n"),
        format!("{typed}content-length : 2\r\n"),
        format!("{typed}x: y\r\n folded: z\r\n"),
    ];
    for shape in &shapes {
        let answer = l.send(&(l.head("POST /v1/runs", shape) + "0\r\n\r\n" + &hidden)).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{shape}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{shape}: {answer}");
    }
    let good = l.head("GET /v1/operations", "") + &hidden;
    let answer = l.send(&good).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "a second request on the connection is not read");
    let oscar = l.t.world.directory.principal_named("oscar");
    let (entries, _) = l.t.world.handle.journal(0, 1000, &oscar).unwrap();
    assert!(entries.iter().all(|entry| entry.name != "run_opened"), "no hidden request did anything");
    let run = l.send(&hidden).await;
    assert!(run.starts_with("HTTP/1.1 201"), "{run}");
}

#[tokio::test]
async fn heads_and_bodies_have_bounds() {
    let l = Listening::start(8).await;
    let long = l.head("GET /v1/operations", &format!("x: {}\r\n", "y".repeat(32 * 1024)));
    assert!(l.send(&long).await.starts_with("HTTP/1.1 431"), "too many bytes");
    let many: String = (0..100).map(|n| format!("x{n}: y\r\n")).collect();
    assert!(
        l.send(&l.head("GET /v1/operations", &many)).await.starts_with("HTTP/1.1 431"),
        "too many headers"
    );
    let large = format!("content-type: application/json\r\ncontent-length: {}\r\n", 1 << 30);
    assert!(l.send(&l.head("POST /v1/runs", &large)).await.starts_with("HTTP/1.1 413"));
    let body = proposal("set_note.v1", "x").to_string();
    let typed = format!("content-type: text/plain\r\ncontent-length: {}\r\n", body.len());
    assert!(l.send(&(l.head("POST /v1/runs", &typed) + &body)).await.starts_with("HTTP/1.1 415"));
}

#[tokio::test]
async fn more_connections_than_places_wait_for_their_turn() {
    let l = Listening::start(1).await;
    let first = TcpStream::connect(l.address).await.unwrap();
    let waiting = l.head("GET /v1/operations", "");
    let second = l.send(&waiting);
    tokio::pin!(second);
    tokio::select! {
        answer = &mut second => panic!("it was answered beside the first: {answer}"),
        () = tokio::time::sleep(Duration::from_millis(50)) => {}
    }
    drop(first);
    assert!(second.await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_listener_with_a_wrong_key_is_refused_without_its_content() {
    let files = tempfile::tempdir().unwrap();
    let (cert, key) = (files.path().join("c.pem"), files.path().join("k.pem"));
    std::fs::write(&cert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    std::fs::write(&key, "s3cr3t").unwrap();
    let settings = NetworkSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls: Some((cert, key)),
        hosts: Vec::new(),
        origins: Vec::new(),
        max_connections: 1,
    };
    let error = Network::bind(settings).await.unwrap_err();
    assert!(matches!(error, NetworkError::Tls { .. }));
    assert!(error.to_string().contains("http.tls_key") && !error.to_string().contains("s3cr3t"), "{error}");
}

#[tokio::test]
async fn over_tls_the_same_is_answered_and_plain_text_is_not() {
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};
    let data =
        |file: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(file);
    let l = Listening::start_with(8, Some((data("localhost.pem"), data("localhost.key")))).await;
    assert!(!l.send(&l.head("GET /v1/operations", "")).await.contains("HTTP/1.1 200"));
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(data("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let stream = TcpStream::connect(l.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = tokio_rustls::TlsConnector::from(config).connect(name, stream).await.unwrap();
    stream.write_all(l.head("GET /v1/operations", "").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

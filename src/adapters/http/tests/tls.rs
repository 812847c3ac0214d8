//! TLS is verified, and its handshake is no part of the request.

use std::path::Path;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(file)
}

/// A peer with the certificate of tests/data/tls, which is for the name localhost only.
fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(data("localhost.pem")).unwrap();
    let chain: Vec<_> = chain.collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(data("localhost.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// What comes of a write over TLS to `host`, whose peer answers `answers` requests and then closes without a word.
async fn secure(host: &str, ca: bool, answers: usize, requests: usize) -> Vec<Result<RawAnswer, SendError>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = acceptor().accept(stream).await else { return };
        let mut buffer = vec![0_u8; 8192];
        for _ in 0..answers {
            assert!(stream.read(&mut buffer).await.unwrap() > 0);
            stream.write_all(OK).await.unwrap();
            stream.flush().await.unwrap();
        }
        let _ = stream.read(&mut buffer).await;
    });
    let mut configured = base(&format!("https://{host}:{port}"));
    configured.ca = ca.then(|| data("ca.pem"));
    let adapter = HttpAdapter::new(vec![configured]).unwrap();
    let mut request = put("127.0.0.1:1".parse().unwrap());
    request.origin = format!("https://{host}:{port}");
    let mut results = Vec::new();
    for _ in 0..requests {
        results.push(adapter.send(&request, options(RequestKind::Write)).await);
    }
    drop(adapter);
    peer.await.unwrap();
    results
}

#[tokio::test]
async fn a_trusted_peer_answers_and_its_connection_is_used_again() {
    let results = secure("localhost", true, 2, 2).await;
    assert!(
        results.iter().all(|result| result.as_ref().is_ok_and(|answer| answer.status == 200)),
        "{results:?}"
    );
}

#[tokio::test]
async fn an_untrusted_peer_gets_nothing() {
    // Unknown authority; then a name that the certificate is not for.
    for result in [secure("localhost", false, 1, 1).await, secure("127.0.0.1", true, 1, 1).await] {
        assert!(matches!(result[0], Err(SendError::NothingSent { cause: Cause::Tls(_) })), "{result:?}");
    }
}

#[tokio::test]
async fn bytes_given_to_tls_may_have_arrived() {
    let results = secure("localhost", true, 1, 2).await;
    assert!(results[0].is_ok());
    assert!(matches!(results[1], Err(SendError::MayHaveArrived { answered: None, .. })), "{results:?}");
}

#[tokio::test]
async fn a_peer_that_speaks_no_tls_gets_nothing() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    });
    let adapter =
        HttpAdapter::new(vec![Base { ca: Some(data("ca.pem")), ..base(&format!("https://{address}")) }]);
    let mut request = put(address);
    request.origin = format!("https://{address}");
    let answer = adapter.unwrap().send(&request, options(RequestKind::Write)).await;
    assert!(matches!(answer, Err(SendError::NothingSent { cause: Cause::Tls(_) })), "{answer:?}");
}

//! Connections are used again where that is safe, and a failure on one is never a second request.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A peer that answers every request on every connection and counts the connections.
fn counting(listener: TcpListener) -> Arc<AtomicUsize> {
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                while !read_request(&mut stream).await.is_empty() {
                    stream.write_all(OK).await.unwrap();
                }
            });
        }
    });
    connections
}

/// Makes all idle connections as old as if they had been idle for `age`.
fn age(adapter: &HttpAdapter, by: Duration) {
    adapter.peers["crm"].age_idle(by);
}

#[tokio::test]
async fn young_connections_are_used_again_and_old_ones_for_reads_only() {
    let (listener, address) = listen().await;
    let connections = counting(listener);
    let adapter = adapter(address);
    let request = put(address);
    let send = async |kind| adapter.send(&request, options(kind)).await.unwrap();
    send(RequestKind::Write).await;
    send(RequestKind::Read).await;
    send(RequestKind::Status).await;
    age(&adapter, WRITE_REUSE_IDLE);
    send(RequestKind::Read).await;
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    age(&adapter, WRITE_REUSE_IDLE);
    send(RequestKind::Write).await;
    assert_eq!(connections.load(Ordering::SeqCst), 2, "a write took an old connection");
    age(&adapter, READ_REUSE_IDLE);
    send(RequestKind::Read).await;
    assert_eq!(connections.load(Ordering::SeqCst), 3);
    assert_eq!(adapter.peers["crm"].idle_count(), 1, "old connections are closed");
}

#[tokio::test]
async fn a_connection_closed_while_idle_costs_nothing() {
    for kind in [RequestKind::Write, RequestKind::Read] {
        for answer in [OK.to_vec(), [OK, b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad"].concat()] {
            let (listener, address) = listen().await;
            let garbage = answer.len() > OK.len();
            let (gone, closed) = tokio::sync::oneshot::channel();
            let peer = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                read_request(&mut stream).await;
                stream.write_all(&answer).await.unwrap();
                if !garbage {
                    stream.shutdown().await.unwrap();
                }
                gone.send(()).unwrap();
                let (mut fresh, _) = listener.accept().await.unwrap();
                let second = read_request(&mut fresh).await;
                fresh.write_all(OK).await.unwrap();
                (stream, fresh, second)
            });
            let adapter = adapter(address);
            assert_eq!(adapter.send(&put(address), options(kind)).await.unwrap().body, b"{}");
            closed.await.unwrap();
            let again = adapter.send(&put(address), options(kind)).await.unwrap();
            assert_eq!(again.body, b"{}", "what came unasked is not an answer");
            let (mut first, _fresh, second) = peer.await.unwrap();
            assert!(second.ends_with(r#"{"city":"Bern"}"#));
            let mut rest = Vec::new();
            let _ = first.read_to_end(&mut rest).await;
            assert!(rest.is_empty(), "a request went into a dead connection");
        }
    }
}

#[tokio::test]
async fn a_request_that_left_on_a_reused_connection_is_not_sent_again() {
    for kind in [RequestKind::Write, RequestKind::Read] {
        let (listener, address) = listen().await;
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
            // The second request is taken, and then the connection ends.
            assert!(!read_request(&mut stream).await.is_empty());
            drop(stream);
            tokio::time::timeout(Duration::from_millis(50), listener.accept()).await.is_ok()
        });
        let adapter = adapter(address);
        adapter.send(&put(address), options(kind)).await.unwrap();
        let answer = adapter.send(&put(address), options(kind)).await;
        assert_eq!(answer, Err(SendError::MayHaveArrived { cause: Cause::Closed, answered: None }));
        assert!(!peer.await.unwrap(), "a second connection was opened");
    }
}

#[tokio::test]
async fn a_connection_that_the_peer_ends_is_not_kept() {
    let (listener, address) = listen().await;
    let peer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        stream
    };
    let adapter = adapter(address);
    let request = put(address);
    let (answer, _stream) = tokio::join!(adapter.send(&request, options(RequestKind::Read)), peer);
    assert_eq!(answer.unwrap().status, 200);
    assert_eq!(adapter.peers["crm"].idle_count(), 0);
}

#[tokio::test]
async fn idle_connections_are_bounded() {
    let (listener, address) = listen().await;
    counting(listener);
    let mut small = base(&format!("http://{address}"));
    small.max_connections = 2;
    let adapter = HttpAdapter::new(vec![small]).unwrap();
    let request = put(address);
    let send = || adapter.send(&request, options(RequestKind::Write));
    let (a, b, c, d) = tokio::join!(send(), send(), send(), send());
    assert!([a, b, c, d].iter().all(Result::is_ok));
    assert!((1..=2).contains(&adapter.peers["crm"].idle_count()));
}

/// The runtime learns of a close only when it polls; between two requests without a pause it has not. The kernel knows.
#[tokio::test(flavor = "current_thread")]
async fn a_close_that_the_runtime_has_not_seen_is_seen() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (close, asked) = std::sync::mpsc::channel::<()>();
    let (done, closed) = std::sync::mpsc::channel::<()>();
    let peer = std::thread::spawn(move || {
        let mut buffer = [0_u8; 4096];
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut buffer).unwrap() > 0);
            stream.write_all(OK).unwrap();
            asked.recv().unwrap();
            drop(stream);
            done.send(()).unwrap();
        }
    });
    let adapter = adapter(address);
    let request = put(address);
    for _ in 0..2 {
        let answer = adapter.send(&request, options(RequestKind::Write)).await;
        assert_eq!(answer.map(|answer| answer.status), Ok(200));
        // Blocks the one thread of the runtime on purpose.
        close.send(()).unwrap();
        closed.recv().unwrap();
    }
    peer.join().unwrap();
}

//! What happened to the world, for each way in which a connection can fail.

use std::sync::Mutex;

use super::*;

fn short(kind: RequestKind) -> SendOptions {
    SendOptions { deadline: Duration::from_millis(150), ..options(kind) }
}

/// Waits until the adapter has closed its end.
async fn closed(mut stream: TcpStream) {
    let mut rest = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(end.is_ok(), "the adapter kept the connection");
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    let (listener, address) = listen().await;
    drop(listener);
    let answer = adapter(address).send(&put(address), options(RequestKind::Write)).await;
    let cause = Cause::Connect(std::io::ErrorKind::ConnectionRefused);
    assert_eq!(answer, Err(SendError::NothingSent { cause }));
}

#[tokio::test]
async fn a_name_without_address_sent_nothing() {
    let adapter = HttpAdapter::new(vec![base("https://no-such-host.invalid")]).unwrap();
    let mut request = put("127.0.0.1:1".parse().unwrap());
    request.origin = "https://no-such-host.invalid".to_owned();
    let answer = adapter.send(&request, options(RequestKind::Write)).await;
    assert!(matches!(answer, Err(SendError::NothingSent { cause: Cause::Dns(_) })), "{answer:?}");
}

#[tokio::test]
async fn a_deadline_before_the_first_byte_sent_nothing() {
    let (listener, address) = listen().await;
    let mut only = base(&format!("http://{address}"));
    only.max_connections = 1;
    let adapter = HttpAdapter::new(vec![only]).unwrap();
    let none = SendOptions { deadline: Duration::ZERO, ..options(RequestKind::Write) };
    let nothing = Err(SendError::NothingSent { cause: Cause::TimedOut });
    assert_eq!(adapter.send(&put(address), none).await, nothing);
    // A connection that was begun for it may still wait to be accepted.
    while tokio::time::timeout(Duration::from_millis(20), listener.accept()).await.is_ok() {}

    // The one connection is in use: waiting for it ends without a byte.
    let request = put(address);
    let first = adapter.send(&request, options(RequestKind::Write));
    let second = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        assert_eq!(adapter.send(&request, short(RequestKind::Write)).await, nothing);
        stream.write_all(OK).await.unwrap();
    };
    let (first, ()) = tokio::join!(first, second);
    assert_eq!(first.unwrap().status, 200);
}

#[tokio::test]
async fn silence_after_the_request_may_have_arrived_and_the_connection_is_gone() {
    for (head, answered) in [("", None), ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", Some(200))] {
        let (listener, address) = listen().await;
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(read_request(&mut stream).await.ends_with(r#"{"city":"Bern"}"#));
            stream.write_all(head.as_bytes()).await.unwrap();
            closed(stream).await;
        });
        let answer = adapter(address).send(&put(address), short(RequestKind::Write)).await;
        assert_eq!(answer, Err(SendError::MayHaveArrived { cause: Cause::TimedOut, answered }));
        peer.await.unwrap();
    }
}

#[tokio::test]
async fn a_reset_after_the_request_may_have_arrived() {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    let answer = adapter(address).send(&put(address), options(RequestKind::Write)).await;
    assert_eq!(answer, Err(SendError::MayHaveArrived { cause: Cause::Reset, answered: None }));
    peer.await.unwrap();
}

#[tokio::test]
async fn a_close_while_the_request_is_written_may_have_arrived() {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0_u8; 64];
        stream.read_exact(&mut first).await.unwrap();
    });
    let mut request = put(address);
    // More than the buffers of both kernels hold, so that the write cannot have ended.
    request.body = Some(vec![b'x'; 32 << 20]);
    let answer = adapter(address).send(&request, options(RequestKind::Write)).await;
    assert!(matches!(answer, Err(SendError::MayHaveArrived { answered: None, .. })), "{answer:?}");
    peer.await.unwrap();
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream
    });
    let adapter = adapter(address);
    let request = put(address);
    let stream = tokio::select! {
        answer = adapter.send(&request, options(RequestKind::Write)) => panic!("{answer:?}"),
        stream = peer => stream.unwrap(),
    };
    closed(stream).await;
}

#[tokio::test]
async fn the_points_are_reached_in_order() {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        stream
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let mut watched = options(RequestKind::Write);
    watched.hooks = Some(Arc::new(move |point| log.lock().unwrap().push(point)));
    adapter(address).send(&put(address), watched).await.unwrap();
    drop(peer.await.unwrap());
    assert_eq!(*seen.lock().unwrap(), [Point::BeforeFirstByte, Point::AnswerHeadSeen, Point::AnswerRead]);
}

#[tokio::test]
async fn the_first_point_comes_before_any_byte() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (reached, waiting) = std::sync::mpsc::channel::<()>();
    let (release, released) = std::sync::mpsc::channel::<()>();
    // On a thread of its own: the point blocks the runtime.
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0_u8; 4096];
        waiting.recv().unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let early = stream.peek(&mut buffer).map_err(|error| error.kind());
        release.send(()).unwrap();
        stream.set_read_timeout(None).unwrap();
        assert!(stream.read(&mut buffer).unwrap() > 0);
        stream.write_all(OK).unwrap();
        assert_eq!(early, Err(std::io::ErrorKind::WouldBlock), "bytes left before the point");
    });
    let released = Mutex::new(released);
    let mut watched = options(RequestKind::Write);
    watched.hooks = Some(Arc::new(move |point| {
        if point == Point::BeforeFirstByte {
            reached.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
        }
    }));
    assert_eq!(adapter(address).send(&put(address), watched).await.unwrap().status, 200);
    peer.join().unwrap();
}

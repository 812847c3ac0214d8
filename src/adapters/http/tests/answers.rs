//! Complete answers are answers, whatever they say; incomplete or malformed ones may have had an effect.

use super::*;

async fn write(answer: &[u8]) -> Result<RawAnswer, SendError> {
    one_answer(answer.to_vec(), RequestKind::Write).await
}

fn arrived(cause: Cause, answered: Option<u16>) -> Result<RawAnswer, SendError> {
    Err(SendError::MayHaveArrived { cause, answered })
}

#[tokio::test]
async fn a_complete_answer_comes_back_whole() {
    let answer = write(
        b"HTTP/1.1 409 Conflict\r\nX-Two: a\r\nX-Two: b\r\nname: \xe9\r\ncontent-length: 16\r\n\r\n{\"code\":\"STALE\"}",
    )
    .await
    .unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (409, br#"{"code":"STALE"}"#.as_slice()));
    let headers: Vec<_> = answer.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(headers, [("x-two", "a"), ("x-two", "b"), ("name", "é"), ("content-length", "16")]);
    assert!(!format!("{answer:?}").contains("STALE"), "data of answers is not for logs");
}

#[tokio::test]
async fn chunks_are_joined_and_no_content_is_complete() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    assert_eq!(write(chunked).await.unwrap().body, b"abcde");
    assert_eq!(write(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap().status, 204);
}

#[tokio::test]
async fn informational_answers_are_passed_over() {
    let mut bytes = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n".to_vec();
    bytes.extend_from_slice(OK);
    assert_eq!(write(&bytes).await.unwrap().status, 200);
    let switched =
        write(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n").await;
    assert_eq!(switched, arrived(Cause::Malformed, Some(101)));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_nobody_follows_it() {
    let (elsewhere, target) = listen().await;
    let redirect = format!("HTTP/1.1 307 R\r\nlocation: http://{target}/\r\ncontent-length: 0\r\n\r\n");
    for kind in [RequestKind::Read, RequestKind::Write, RequestKind::Status] {
        assert_eq!(one_answer(redirect.clone().into_bytes(), kind).await.unwrap().status, 307);
    }
    let visitor = tokio::time::timeout(Duration::from_millis(50), elsewhere.accept()).await;
    assert!(visitor.is_err(), "somebody followed the redirect");
}

#[tokio::test]
async fn truncated_answers_may_have_arrived() {
    let part = b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"status\":";
    assert_eq!(write(part).await, arrived(Cause::Closed, Some(200)));
    let chunk = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n";
    let SendError::MayHaveArrived { answered, .. } = write(chunk).await.unwrap_err() else { panic!() };
    assert_eq!(answered, Some(200));
    assert_eq!(write(b"HTTP/1.1 200 OK\r\ncontent-le").await, arrived(Cause::Closed, None));
    assert_eq!(write(b"").await, arrived(Cause::Closed, None));
}

#[tokio::test]
async fn an_answer_without_framing_is_enough_for_a_read_only() {
    let open = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}".to_vec();
    assert_eq!(one_answer(open.clone(), RequestKind::Read).await.unwrap().body, b"{}");
    for kind in [RequestKind::Write, RequestKind::Status] {
        assert_eq!(one_answer(open.clone(), kind).await, arrived(Cause::Unframed, Some(200)));
    }
}

#[tokio::test]
async fn garbage_may_have_arrived() {
    let wrong: [&[u8]; 4] = [
        b"\x16\x03\x01 this is not http\r\n\r\n",
        b"HTTP/1.1 2OO OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nbad header\r\ncontent-length: 2\r\n\r\n{}",
    ];
    for answer in wrong {
        assert_eq!(write(answer).await, arrived(Cause::Malformed, None), "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn too_large_answers_are_cut_off() {
    let limit = 1024;
    let declared = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", limit + 1);
    assert_eq!(write(declared.as_bytes()).await, arrived(Cause::TooLarge { limit }, Some(200)));
    let mut chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n400\r\n".to_vec();
    chunked.extend_from_slice(&vec![b'x'; limit]);
    let mut fits = chunked.clone();
    fits.extend_from_slice(b"\r\n0\r\n\r\n");
    assert_eq!(write(&fits).await.unwrap().body.len(), limit);
    chunked.extend_from_slice(b"\r\n1\r\ny\r\n0\r\n\r\n");
    assert_eq!(write(&chunked).await, arrived(Cause::TooLarge { limit }, Some(200)));
}

#[tokio::test]
async fn a_head_without_end_is_cut_off() {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        let line = format!("x: {}\r\n", "y".repeat(4000));
        let mut written = 0_usize;
        while stream.write_all(line.as_bytes()).await.is_ok() {
            written += line.len();
        }
        written
    });
    let answer = adapter(address).send(&put(address), options(RequestKind::Write)).await;
    let Err(SendError::MayHaveArrived { answered: None, cause }) = answer else { panic!("{answer:?}") };
    assert!(matches!(cause, Cause::HeadTooLarge | Cause::Malformed), "{cause:?}");
    assert!(peer.await.unwrap() > 0);
}

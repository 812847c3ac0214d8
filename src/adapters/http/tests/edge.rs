//! What may leave: exactly the stored request, to its own origin, with a credential that nobody ever sees.

use super::*;

const TOKEN: &str = "s3cr3t-t0ken-value";

/// What the peer received.
async fn received(base: impl FnOnce(&mut Base), kind: RequestKind) -> String {
    let (listener, address) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        request
    });
    let mut configured = super::base(&format!("http://{address}"));
    base(&mut configured);
    let adapter = HttpAdapter::new(vec![configured]).unwrap();
    adapter.send(&put(address), options(kind)).await.unwrap();
    peer.await.unwrap().replace(&address.to_string(), "HOST")
}

fn secret_file(content: &str) -> (tempfile::TempDir, CredentialRef) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("token");
    std::fs::write(&path, content).unwrap();
    (directory, CredentialRef::File(path))
}

/// A refusal before anything was sent; nobody listens at the origin.
async fn refused(change: impl FnOnce(&mut RenderedRequest, &mut Base)) -> Cause {
    let (listener, address) = listen().await;
    let mut request = put(address);
    let mut configured = base(&format!("http://{address}"));
    change(&mut request, &mut configured);
    let adapter = HttpAdapter::new(vec![configured]).unwrap();
    let answer = adapter.send(&request, options(RequestKind::Write)).await;
    let Err(SendError::NothingSent { cause }) = answer else { panic!("{answer:?}") };
    let visitor = tokio::time::timeout(Duration::from_millis(5), listener.accept()).await;
    assert!(visitor.is_err(), "a connection was opened for {cause}");
    cause
}

#[tokio::test]
async fn the_stored_request_leaves_as_it_is() {
    let sent = received(|_| (), RequestKind::Write).await;
    assert_eq!(
        sent,
        "PUT /customers/C-1842/shipping-address?x=%2F HTTP/1.1\r\nhost: HOST\r\n\
         content-type: application/json\r\nidempotency-key: op_1\r\ncontent-length: 15\r\n\r\n{\"city\":\"Bern\"}"
    );
}

#[tokio::test]
async fn reads_have_their_own_identity_where_one_is_configured() {
    let (_writes, write) = secret_file(&format!("{TOKEN}\n"));
    let (_reads, read) = secret_file("reader");
    let both = |base: &mut Base| {
        base.credential = Some(Credential { reference: write.clone(), header: None });
        let header = Some(HeaderName::from_static("x-api-key"));
        base.read_credential = Some(Credential { reference: read.clone(), header });
    };
    let sent = received(both, RequestKind::Write).await;
    assert!(sent.contains(&format!("authorization: Bearer {TOKEN}\r\n")) && !sent.contains("x-api-key"));
    for kind in [RequestKind::Read, RequestKind::Status] {
        let sent = received(both, kind).await;
        assert!(sent.contains("x-api-key: reader\r\n") && !sent.contains(TOKEN), "{sent}");
    }
    let only = |base: &mut Base| {
        base.credential = Some(Credential { reference: write.clone(), header: None });
    };
    assert!(received(only, RequestKind::Status).await.contains(TOKEN));
}

#[tokio::test]
async fn another_base_or_origin_is_refused() {
    let cause = refused(|request, _| request.base = "erp".to_owned()).await;
    assert_eq!(cause, Cause::UnknownBase { base: "erp".to_owned() });
    for origin in ["http://127.0.0.1:1", "https://127.0.0.1", "http://evil.example", "", "http://a@b"] {
        let cause = refused(|request, _| request.origin = origin.to_owned()).await;
        assert!(matches!(cause, Cause::OriginMismatch { .. }), "{origin}: {cause}");
    }
}

#[tokio::test]
async fn what_would_not_be_sent_as_stored_is_refused() {
    for path in ["", "x", "//a b", "/a\r\nx: y", "/a\0", "/ä", "/a#b", "/a\\..\\b", "http://evil/", "*"] {
        let cause = refused(|request, _| request.path = path.to_owned()).await;
        assert!(matches!(&cause, Cause::Refused { part, .. } if part == "path"), "{path:?}: {cause}");
    }
    for method in ["", "put", "CONNECT", "TRACE", "PUT /x HTTP/1.1\r\n"] {
        let cause = refused(|request, _| request.method = method.to_owned()).await;
        assert!(matches!(&cause, Cause::Refused { part, .. } if part == "method"), "{method:?}: {cause}");
    }
    let headers = [
        ("a b", "x"),
        ("a:", "x"),
        ("", "x"),
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\0"),
        ("x", "ä"),
        ("host", "evil.example"),
        ("content-length", "3"),
        ("transfer-encoding", "chunked"),
        ("connection", "upgrade"),
        ("authorization", "Bearer hunter2"),
        ("x-api-key", "hunter2"),
    ];
    let (_directory, reference) = secret_file(TOKEN);
    for (name, value) in headers {
        let credential =
            Credential { reference: reference.clone(), header: Some(HeaderName::from_static("x-api-key")) };
        let cause = refused(|request, base| {
            request.headers.push((name.to_owned(), value.to_owned()));
            base.credential = Some(credential);
        })
        .await;
        assert!(
            matches!(&cause, Cause::Refused { part, .. } if part.starts_with("header")),
            "{name}: {cause}"
        );
        assert!(value.len() < 4 || !cause.to_string().contains(value), "{cause} shows the value");
    }
}

#[tokio::test]
async fn a_credential_that_cannot_be_used_sends_nothing_and_shows_nothing() {
    let (_broken, broken) = secret_file(&format!("{TOKEN}\nsecond line"));
    let (_empty, empty) = secret_file("\n");
    let (_large, large) = secret_file(&TOKEN.repeat(2000));
    let missing = CredentialRef::File("/no/such/file".into());
    let unset = CredentialRef::Env("WRITD_NO_SUCH_VARIABLE".to_owned());
    for reference in [broken, empty, large, missing, unset] {
        let cause = refused(|_, base| {
            base.credential = Some(Credential { reference: reference.clone(), header: None });
        })
        .await;
        assert!(matches!(cause, Cause::Credential { .. }), "{cause}");
        let shown = format!("{cause} {cause:?} {:?}", SendError::NothingSent { cause: cause.clone() });
        assert!(shown.contains(&reference.to_string()) && !shown.contains(TOKEN), "{shown}");
    }
}

#[tokio::test]
async fn no_failure_shows_the_credential() {
    let (_directory, reference) = secret_file(TOKEN);
    // A peer that reflects what it got, as text that is no HTTP and as the body of an incomplete answer.
    for prefix in ["", "HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 9000\r\n\r\n", "HTTP/1.1 200 "] {
        let (listener, address) = listen().await;
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            assert!(request.contains(TOKEN));
            let _ = stream.write_all(format!("{prefix}{request}").as_bytes()).await;
        });
        let mut configured = base(&format!("http://{address}"));
        configured.credential = Some(Credential { reference: reference.clone(), header: None });
        let adapter = HttpAdapter::new(vec![configured]).unwrap();
        match adapter.send(&put(address), options(RequestKind::Write)).await {
            Err(error) => assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}"),
            // "HTTP/1.1 200 PUT /…" is well-formed: a reason phrase. Then the answer is data, and Debug hides it.
            Ok(answer) => assert!(!format!("{answer:?}").contains(TOKEN)),
        }
    }
    assert_eq!(format!("{:?}", Credential { reference, header: None }).matches(TOKEN).count(), 0);
}

#[test]
fn plain_http_stays_on_this_machine() {
    let remote = base("http://crm.example");
    let refused = HttpAdapter::new(vec![remote.clone()]).err();
    assert_eq!(refused, Some(SetupError::PlainHttp { base: "crm".to_owned() }));
    assert!(HttpAdapter::new(vec![Base { plain_http: true, ..remote }]).is_ok());
    let local = base("http://localhost:7401");
    let twice = HttpAdapter::new(vec![local.clone(), local]).err();
    assert_eq!(twice, Some(SetupError::Duplicate { base: "crm".to_owned() }));
    let mut wrong = base("https://crm.example");
    wrong.ca = Some("/no/such/ca.pem".into());
    assert!(matches!(HttpAdapter::new(vec![wrong]).err(), Some(SetupError::Ca { .. })));
}

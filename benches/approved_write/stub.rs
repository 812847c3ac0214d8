//! The downstream of the benchmark: answers at once, keeps nothing. In a process of its own, so that its CPU time is its
//! own.

use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use sha2::Digest;

pub(crate) struct Stub {
    child: Child,
    pub(crate) origin: String,
}

impl Stub {
    pub(crate) fn start() -> Stub {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("--stub")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Stub { child, origin: line.trim().to_owned() }
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("http://{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                let service = service_fn(answer);
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let customer = head.uri.path().split('/').nth(2).unwrap_or_default().to_owned();
    let text = if head.method == Method::GET {
        format!(
            r#"{{"customer_id":"{customer}","name":"N","email":"n@example.test","shipping_address":{{"line1":"Old Street 1","postal_code":"11111","city":"Town","country":"SE"}},"version":1,"internal_notes":""}}"#
        )
    } else {
        let header =
            |name: &str| head.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let digest: String = sha2::Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            r#"{{"customer_id":"{customer}","previous_version":1,"new_version":2,"changed_fields":["shipping_address"],"committed_at":"2026-01-01T00:00:00Z","receipt":{{"id":"rcp_1","operation_id":"{}","key":"{}","request_sha256":"{digest}","before":{{"shipping_address":{{"line1":"Old Street 1","postal_code":"11111","city":"Town","country":"SE"}}}}}}}}"#,
            header("x-operation-id"),
            header("idempotency-key"),
        )
    };
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(text)))
        .unwrap())
}

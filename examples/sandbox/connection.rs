//! One connection: HTTP/1.1 over a socket whose end we control. Owns the socket; what the answer is, it asks.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use http_body_util::{BodyExt as _, Limited};
use hyper::{Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{
    Service,
    answer::{Answer, Reply, Sever},
    body::AnswerBody,
    domain::Domain,
    perform,
    request::Request,
};

/// No request of this service is larger than a few hundred bytes; a megabyte is a mistake.
const MAX_BODY: usize = 1024 * 1024;

/// Serves a connection until either side ends it.
pub(super) async fn run<D: Domain>(service: Arc<Service<D>>, stream: TcpStream, connection: u64) {
    // Answers are one small packet each; waiting for more to send would only add latency.
    let _ = stream.set_nodelay(true);
    let reset = Arc::new(AtomicBool::new(false));
    let socket = Socket { stream, reset: Arc::clone(&reset) };
    let handler = service_fn(move |request: hyper::Request<Incoming>| {
        let (service, reset) = (Arc::clone(&service), Arc::clone(&reset));
        async move {
            let reply = receive(&service, connection, request).await;
            if matches!(reply, Err(Sever::Reset)) {
                reset.store(true, Ordering::Release);
            }
            reply.map(respond)
        }
    });
    // An error here is a client that went away or an end we asked for; the ledger has what matters.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), handler).await;
}

async fn receive<D: Domain>(
    service: &Arc<Service<D>>,
    connection: u64,
    request: hyper::Request<Incoming>,
) -> Result<Reply, Sever> {
    let (parts, body) = request.into_parts();
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => perform::answer(service, Request::new(connection, parts, body.to_bytes())).await,
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Ok(Answer::json(413, &serde_json::json!({"code": "BODY_TOO_LARGE"})).into())
        }
        // The client went away inside its own request: nobody is there to answer.
        Err(_) => Err(Sever::Close),
    }
}

fn respond(reply: Reply) -> Response<AnswerBody> {
    let Reply { answer, body } = reply;
    let mut response = Response::new(body.unwrap_or_else(|| AnswerBody::Whole(answer.body.into())));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}

/// A socket that is reset instead of closed when somebody asked for it before it is dropped.
struct Socket {
    stream: TcpStream,
    reset: Arc<AtomicBool>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Acquire) {
            // With SO_LINGER 0 the close that follows sends RST.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

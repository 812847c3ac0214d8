//! One connection. The future that uses a connection also drives it, so there is no task behind it that could still
//! write: when a [`Conn`] is dropped, the connection is closed and known to be gone.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Instant;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::TRANSFER_ENCODING;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::error::Cause;
use super::wire::{Counted, Meter, Socket, Wire};
use super::{MAX_HEAD_BYTES, Point, RawAnswer, RequestKind, SendOptions};

/// Far more headers than services send; a larger head is refused.
const MAX_HEADERS: usize = 128;
/// What is reserved for a body before it has been seen; a peer's `content-length` is only a claim.
const BODY_RESERVE: usize = 64 * 1024;

type Driver = Connection<TokioIo<Counted>, Full<Bytes>>;

/// An open connection to one base.
pub(super) struct Conn {
    sender: SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    /// The driver has ended; polling it again would be an error.
    ended: bool,
    meter: Meter,
    socket: Socket,
    /// When it went idle.
    pub(super) idle_since: Instant,
}

impl Conn {
    /// HTTP/1.1 over an established wire. Sends nothing.
    pub(super) async fn open(wire: Wire, socket: Socket) -> Result<Conn, Cause> {
        let meter = Meter::default();
        let io = TokioIo::new(Counted::new(wire, meter.clone()));
        let (sender, driver) = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD_BYTES)
            .handshake(io)
            .await
            .map_err(|error| Cause::of(&error))?;
        Ok(Conn { sender, driver: Box::pin(driver), ended: false, meter, socket, idle_since: Instant::now() })
    }

    /// Bytes of the current request that may have left.
    pub(super) fn sent(&self) -> u64 {
        self.meter.sent()
    }

    /// Whether it is idle and open, as far as it was driven.
    pub(super) fn is_idle(&self) -> bool {
        !self.ended && self.sender.is_ready()
    }

    /// Whether a new request may use it: idle, and nothing has arrived that nobody asked for, not even the end.
    pub(super) fn is_reusable(&self) -> bool {
        self.is_idle() && self.socket.is_silent()
    }

    /// Sends one request and reads the whole answer. `seen` is the status as soon as it is known, also when this
    /// future is dropped at the deadline.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        options: &SendOptions,
        seen: &mut Option<u16>,
    ) -> Result<RawAnswer, Cause> {
        self.meter.start();
        let head = self.sender.send_request(request);
        let head = drive(&mut self.driver, &mut self.ended, head).await.map_err(|error| Cause::of(&error))?;
        let status = head.status().as_u16();
        *seen = Some(status);
        options.reached(Point::AnswerHeadSeen);
        if status < 200 {
            // 101 is the only one that is passed on, and nobody asked for another protocol.
            return Err(Cause::Malformed);
        }
        let answer = self.read_answer(head, options).await?;
        self.settle().await;
        options.reached(Point::AnswerRead);
        Ok(answer)
    }

    /// Lets the driver go idle, or see what came after the answer: whatever it is, the connection is not used again.
    async fn settle(&mut self) {
        std::future::poll_fn(|cx| {
            if !self.ended && self.driver.as_mut().poll(cx).is_ready() {
                self.ended = true;
            }
            Poll::Ready(())
        })
        .await;
    }

    async fn read_answer(
        &mut self,
        head: Response<Incoming>,
        options: &SendOptions,
    ) -> Result<RawAnswer, Cause> {
        let limit = options.max_response_bytes;
        let (parts, mut body) = head.into_parts();
        let declared = body.size_hint().exact();
        let chunked = parts.headers.contains_key(TRANSFER_ENCODING);
        let framed = declared.is_some() || chunked || body.is_end_stream();
        if !framed && options.kind != RequestKind::Read {
            return Err(Cause::Unframed);
        }
        let expected = usize::try_from(declared.unwrap_or(0)).unwrap_or(usize::MAX);
        if expected > limit {
            return Err(Cause::TooLarge { limit });
        }
        let mut bytes = Vec::with_capacity(expected.min(BODY_RESERVE));
        while let Some(frame) = drive(&mut self.driver, &mut self.ended, body.frame()).await {
            // Trailers are not evidence and are left out.
            if let Ok(data) = frame.map_err(|error| Cause::of(&error))?.into_data() {
                if data.len() > limit - bytes.len() {
                    return Err(Cause::TooLarge { limit });
                }
                bytes.extend_from_slice(&data);
            }
        }
        let headers = parts.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.as_str().to_owned(), latin1(value.as_bytes()))).collect();
        Ok(RawAnswer { status: parts.status.as_u16(), headers, body: bytes })
    }
}

/// Header values are bytes; read as ISO 8859-1, as HTTP once said, nothing is lost.
fn latin1(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.to_owned(),
        _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Awaits `future` and drives the connection meanwhile.
async fn drive<F: Future>(driver: &mut Pin<Box<Driver>>, ended: &mut bool, future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(move |cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(output);
        }
        if !*ended && driver.as_mut().poll(cx).is_ready() {
            *ended = true;
        }
        // Driving may have completed it; its waker may or may not be this one, so it is asked at once.
        future.as_mut().poll(cx)
    })
    .await
}

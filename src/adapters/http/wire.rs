//! The bytes: a socket that can be asked whether its peer has spoken or left, TLS over it, and the count of the request
//! bytes that were accepted. The count is the proof behind `NothingSent`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A TCP connection, shared between the HTTP state machine and the pool's look at the kernel's receive buffer.
#[derive(Clone)]
pub(super) struct Socket(Arc<TcpStream>);

impl Socket {
    pub(super) fn new(stream: TcpStream) -> Socket {
        Socket(Arc::new(stream))
    }

    /// Whether nothing has arrived: neither bytes nor the end nor an error. Asks the kernel, not the runtime, whose
    /// readiness may be older.
    pub(super) fn is_silent(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let mut one = [0_u8; 1];
        matches!(
            recv(&*self.0, &mut one, RecvFlags::PEEK | RecvFlags::DONTWAIT),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR)
        )
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buf.initialize_unfilled()) {
                Ok(count) => {
                    buf.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write_vectored(bufs) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(rustix::net::shutdown(&*self.0, rustix::net::Shutdown::Write).map_err(Into::into))
    }
}

/// Plain or TLS.
pub(super) enum Wire {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// How many bytes of the current request may have left.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// A new request begins.
    pub(super) fn start(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Bytes accepted since [`Meter::start`]. One task drives the connection, so no ordering is needed.
    pub(super) fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A wire whose accepted bytes are counted. The TLS handshake happened before, so only the request's bytes count.
pub(super) struct Counted {
    wire: Wire,
    meter: Meter,
}

impl Counted {
    pub(super) fn new(wire: Wire, meter: Meter) -> Counted {
        Counted { wire, meter }
    }

    fn count(&self, offered: usize, result: &Poll<io::Result<usize>>) {
        match result {
            Poll::Ready(Ok(accepted)) => self.meter.add(*accepted),
            // TLS may have encrypted and sent part of it before it failed; the kernel's own refusal took nothing.
            Poll::Ready(Err(_)) => match self.wire {
                Wire::Tls(_) => self.meter.add(offered),
                Wire::Plain(_) => {}
            },
            Poll::Pending => {}
        }
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = match &mut self.wire {
            Wire::Plain(socket) => Pin::new(socket).poll_write(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        };
        self.count(buf.len(), &result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = match &mut self.wire {
            Wire::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Wire::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        };
        self.count(bufs.iter().map(|buf| buf.len()).sum(), &result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        match &self.wire {
            Wire::Plain(socket) => socket.is_write_vectored(),
            Wire::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

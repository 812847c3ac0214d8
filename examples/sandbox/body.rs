//! Bodies of answers: whole ones, ones that end too early, and ones too large to be kept in memory.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::answer::Sever;

/// Large enough to be quick, small enough that a reader which stops early stops us.
const CHUNK: usize = 64 * 1024;
static FILLING: [u8; CHUNK] = [b'x'; CHUNK];

/// The body of an answer.
pub(super) enum AnswerBody {
    /// All of it.
    Whole(Bytes),
    /// Some bytes, then the connection ends. The answer's header promises more.
    Partial { bytes: Bytes, flushed: bool },
    /// `{"padding":"xxx…"}` of so many bytes.
    Huge { open: bool, filling: u64, close: bool },
}

const OPENING: &[u8] = b"{\"padding\":\"";
const CLOSING: &[u8] = b"\"}";

impl AnswerBody {
    /// A valid JSON object of `bytes` bytes (at least the empty one with a padding).
    pub(super) fn huge(bytes: u64) -> Self {
        let frame = (OPENING.len() + CLOSING.len()) as u64;
        Self::Huge { open: true, filling: bytes.saturating_sub(frame), close: true }
    }

    /// These bytes, and then the end of the connection.
    pub(super) fn partial(bytes: Vec<u8>) -> Self {
        Self::Partial { bytes: bytes.into(), flushed: false }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Sever;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Sever>>> {
        let bytes = match &mut *self {
            Self::Whole(bytes) => std::mem::take(bytes),
            Self::Partial { bytes, flushed } => {
                if bytes.is_empty() {
                    if *flushed {
                        return Poll::Ready(Some(Err(Sever::Close)));
                    }
                    // Once around, so that the server writes out what it has before it learns of the end.
                    *flushed = true;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                std::mem::take(bytes)
            }
            Self::Huge { open: open @ true, .. } => {
                *open = false;
                Bytes::from_static(OPENING)
            }
            Self::Huge { filling, .. } if *filling > 0 => {
                let length = usize::try_from(*filling).unwrap_or(CHUNK).min(CHUNK);
                *filling -= length as u64;
                Bytes::from_static(&FILLING[..length])
            }
            Self::Huge { close, .. } => match std::mem::take(close) {
                true => Bytes::from_static(CLOSING),
                false => Bytes::new(),
            },
        };
        match bytes.is_empty() {
            true => Poll::Ready(None),
            false => Poll::Ready(Some(Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Partial { .. } => false,
            Self::Huge { close, .. } => !close,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Partial { .. } => SizeHint::default(),
            Self::Huge { open, filling, close } => {
                let opening = if *open { OPENING.len() as u64 } else { 0 };
                let closing = if *close { CLOSING.len() as u64 } else { 0 };
                SizeHint::with_exact(opening + filling + closing)
            }
        }
    }
}

//! Following the journal for one reader: first the store from its place on, then the live stream; whenever the live
//! stream has a gap, the store again. Only what was published, and of that only what the reader may see.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use hyper::body::{Bytes, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::caller::Caller;
use super::wire::{EventView, Eyes};
use crate::domain::journal::Entry;
use crate::domain::problem::Problem;
use crate::engine::{fact_of, no_good_token};

/// Between two signs of life; proxies and clients usually give up after 30 to 60 s of silence.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Journal entries read from the store at a time.
const BATCH: usize = 256;
/// Frames that wait for a slow reader; then the store waits for it.
const FRAMES: usize = 16;

/// The body of the stream.
struct Frames(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|frame| frame.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Follows the journal after a place until the reader or the daemon goes.
pub(super) fn follow(caller: Caller, after: u64) -> Body {
    let (sender, receiver) = mpsc::channel(FRAMES);
    tokio::spawn(async move {
        let stopping = caller.api().stopping().clone();
        let reader = Reader { caller, sender: sender.clone(), place: after };
        tokio::select! {
            () = stopping.cancelled() => {}
            () = sender.closed() => {}
            () = reader.run() => {}
        }
    });
    Body::new(Frames(receiver))
}

/// The reader has gone.
struct Gone;

struct Reader {
    caller: Caller,
    sender: mpsc::Sender<Bytes>,
    place: u64,
}

impl Reader {
    async fn run(mut self) {
        // Subscribed before the store is read, so that nothing falls between the two.
        let mut live = self.caller.engine().published().stream();
        let mut alive = tokio::time::interval(KEEP_ALIVE);
        alive.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        if self.catch_up().await.is_err() {
            return;
        }
        loop {
            let result = tokio::select! {
                entry = live.recv() => match entry {
                    Ok(entry) if entry.seq <= self.place => Ok(()),
                    Ok(entry) if entry.seq == self.place + 1 => self.pass(&entry).await,
                    Ok(_) | Err(RecvError::Lagged(_)) => self.catch_up().await,
                    Err(RecvError::Closed) => Err(Gone),
                },
                // The place stands in the sign of life, so that a resumed reader does not search again from far behind.
                _ = alive.tick() => self.sign_of_life().await,
            };
            if result.is_err() {
                return;
            }
        }
    }

    /// A token may have been revoked, or its time be over, since the stream began.
    async fn still_known(&mut self) -> Result<(), Gone> {
        if self.caller.is_still_known() {
            return Ok(());
        }
        self.fail(&no_good_token()).await
    }

    /// From the store up to what is published.
    async fn catch_up(&mut self) -> Result<(), Gone> {
        loop {
            let read = self.caller.engine().journal(self.place, BATCH, self.caller.principal());
            let (entries, place) = match read {
                Ok(read) => read,
                Err(problem) => return self.fail(&problem).await,
            };
            for entry in &entries {
                self.show(entry).await?;
            }
            if place == self.place {
                return Ok(());
            }
            self.place = place;
            // A long history must not keep others from their turn.
            tokio::task::yield_now().await;
        }
    }

    async fn pass(&mut self, entry: &Entry) -> Result<(), Gone> {
        if self.caller.engine().sees(entry, self.caller.principal()) {
            self.show(entry).await?;
        }
        self.place = entry.seq;
        Ok(())
    }

    async fn show(&mut self, entry: &Entry) -> Result<(), Gone> {
        self.still_known().await?;
        let fact = match fact_of(entry) {
            Ok(fact) => fact,
            Err(problem) => return self.fail(&problem).await,
        };
        let (sees, redact) = (|id| self.caller.sees(id), |id, receipt| self.caller.redacted(id, receipt));
        let view = EventView::of(
            entry,
            fact.as_ref(),
            Eyes { sees: &sees, redact: &redact, parts: self.caller.sees_parts() },
        );
        // Ids, names, numbers and JSON values: this cannot fail.
        let data = serde_json::to_string(&view).unwrap_or_default();
        self.send(format!("id: {}\nevent: {}\ndata: {data}\n\n", view.seq, view.name)).await
    }

    async fn sign_of_life(&mut self) -> Result<(), Gone> {
        self.still_known().await?;
        self.send(format!(": keep-alive\nid: {}\n\n", self.place)).await
    }

    /// The last thing that a reader hears: where and why it ends here.
    async fn fail(&mut self, problem: &Problem) -> Result<(), Gone> {
        let data = serde_json::to_string(problem).unwrap_or_default();
        self.send(format!("event: problem\ndata: {data}\n\n")).await?;
        Err(Gone)
    }

    async fn send(&mut self, frame: String) -> Result<(), Gone> {
        self.sender.send(Bytes::from(frame)).await.map_err(|_| Gone)
    }
}

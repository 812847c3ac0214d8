//! Background tasks. Each is activated by a timer or a signal, takes no input, reads what is open anew, acts
//! idempotently, never runs beside itself, and leaves failures for its next activation.

mod status;
mod watch;

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::Handle;

/// The cadence of status queries, from `[reconcile]` in `daemon.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Cadence {
    /// First interval between two queries of one operation.
    pub interval: Duration,
    /// The longest one, after doubling.
    pub max_interval: Duration,
    /// The interval after escalation.
    pub slow_interval: Duration,
    /// Spread each interval by up to half of itself.
    pub jitter: bool,
    /// Queries at a time.
    pub concurrency: usize,
}

/// Starts all background tasks; they end with the token.
pub fn start(handle: Handle, cadence: Cadence, tracker: &TaskTracker, stop: CancellationToken) {
    tracker.spawn(status::run(handle, cadence, stop));
}

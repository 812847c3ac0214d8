//! Wakes a commit that sled has forgotten.
//!
//! When a background write of sled fails (disk full), one of its two code paths stores the error without waking those
//! who wait for that write in `flush()`: they would wait for ever. Any other `flush()` sees the error and wakes them,
//! so a thread looks for a stored error four times a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a failed commit may sleep. Only ever waited for after an error.
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(db: ::sled::Db) -> std::io::Result<Watch> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("store-watch".to_owned()).spawn(move || {
            while !stopped.load(Ordering::Acquire) {
                std::thread::park_timeout(LOOK_EVERY);
                if db.context.global_error().is_err() {
                    let _ = super::fault::caught(|| Ok(db.flush()?));
                }
            }
        })?;
        Ok(Watch { stop, thread: Some(thread) })
    }
}

impl Drop for Watch {
    /// Ends the thread: it holds sled open.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

//! The service's own clock: wall time, as a real service has it, and as far ahead of it as a test has put it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
pub(super) fn wall_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// RFC 3339 in UTC with milliseconds where there are any.
pub(crate) fn rfc3339(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(String::new, |time| time.to_string())
}

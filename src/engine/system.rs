//! The real clock and the real source of ids.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::domain::ids::{AttemptId, CallId, OperationId, RunId, TokenId};
use crate::domain::{Millis, Time};
use crate::ports::{Clock, IdSource};

/// A wall clock that is behind by more than this was ahead before: the earlier time is the wrong one.
const BELIEVED_BEHIND: Millis = Millis::secs(24 * 3600);

/// The machine's wall clock, which never goes slower than time itself: a clock that is put back would make approvals
/// live longer. From one start to the next the last recorded time is the floor.
#[derive(Debug, Default)]
pub struct SystemClock {
    last: Mutex<Option<(Time, Instant)>>,
}

/// What the machine says.
#[must_use]
pub fn wall() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The time now, after `last` was the time `passed` ago.
fn forward(wall: Time, last: Time, passed: Duration) -> Time {
    let passed = Millis(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX));
    let at_least = last.plus(passed);
    if wall >= at_least || at_least.since(wall) > BELIEVED_BEHIND { wall } else { at_least }
}

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, instant) = (wall(), Instant::now());
        let now = last.map_or(wall, |(last, at)| forward(wall, last, instant.saturating_duration_since(at)));
        *last = Some((now, instant));
        now
    }

    fn not_before(&self, time: Time) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = forward(wall(), time, Duration::ZERO);
        *last = Some((now, Instant::now()));
    }
}

/// UUIDv7 from the machine's random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn run(&self) -> RunId {
        RunId::from_u128(Uuid::now_v7().as_u128())
    }

    fn operation(&self) -> OperationId {
        OperationId::from_u128(Uuid::now_v7().as_u128())
    }

    fn attempt(&self) -> AttemptId {
        AttemptId::from_u128(Uuid::now_v7().as_u128())
    }

    fn call(&self) -> CallId {
        CallId::from_u128(Uuid::now_v7().as_u128())
    }

    fn token(&self) -> TokenId {
        TokenId::from_u128(Uuid::now_v7().as_u128())
    }

    fn secret(&self) -> Result<[u8; 32], String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn salt(&self) -> [u8; 16] {
        let mut salt = *Uuid::new_v4().as_bytes();
        // The version and variant bits of a UUID are fixed; what they leave is mixed so that no bit of a salt is.
        salt[6] ^= salt[15].rotate_left(3);
        salt[8] ^= salt[0].rotate_left(5);
        salt
    }

    fn jitter(&self) -> u32 {
        fastrand::u32(0..=1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_the_clock_is_put_back() {
        let noon = Time::from_millis(1_784_419_200_000);
        let at = |ms: i64| Time::from_millis(noon.as_millis() + ms);
        let second = Duration::from_secs(1);
        assert_eq!(forward(at(1_000), noon, second), at(1_000));
        assert_eq!(forward(at(90_000), noon, second), at(90_000), "a clock that is put forward is believed");
        assert_eq!(forward(at(-3_000_000), noon, second), at(1_000));
        assert_eq!(forward(at(-90_000_000), noon, second), at(-90_000_000), "it was days ahead before");
    }

    #[test]
    fn the_last_recorded_time_is_the_floor_of_the_next_start() {
        let clock = SystemClock::default();
        let later = wall().plus(Millis::secs(3_000));
        clock.not_before(later);
        assert!(clock.now() >= later);
        let clock = SystemClock::default();
        clock.not_before(wall().plus(Millis::secs(1_000_000)));
        assert!(clock.now() < wall().plus(Millis::secs(1)), "a time of another week is not believed");
    }
}

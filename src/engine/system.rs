//! The real clock and the real source of ids.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::domain::Time;
use crate::domain::ids::{AttemptId, CallId, OperationId, RunId};
use crate::ports::{Clock, IdSource};

/// The machine's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
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

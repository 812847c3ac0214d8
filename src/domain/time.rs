//! Wall time and durations as the domain sees them: whole milliseconds, UTC. Reading a clock is not its business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in wall time: milliseconds since 1970-01-01T00:00:00Z. RFC 3339 in everything that people read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

/// A span in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Time {
    /// The last instant that RFC 3339 can write with four digits of year; later ones are clamped to it.
    pub const MAX: Time = Time(253_402_300_799_999);

    /// From milliseconds since the epoch; clamped to what RFC 3339 can write.
    #[must_use]
    pub fn from_millis(ms: i64) -> Time {
        Time(ms.clamp(0, Time::MAX.0))
    }

    /// The day in UTC, such as `2026-07-19`.
    #[must_use]
    pub fn date(self) -> String {
        self.to_string().chars().take("2026-07-19".len()).collect()
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This instant plus a span, clamped at [`Time::MAX`].
    #[must_use]
    pub fn plus(self, span: Millis) -> Time {
        Time::from_millis(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    /// This much earlier; never before the representable past.
    #[must_use]
    pub fn minus(self, span: Millis) -> Time {
        Time::from_millis(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero if it is not after.
    #[must_use]
    pub fn since(self, earlier: Time) -> Millis {
        Millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Millis {
    /// From seconds.
    #[must_use]
    pub const fn secs(seconds: u64) -> Millis {
        Millis(seconds * 1000)
    }

    /// As the standard library's type.
    #[must_use]
    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(stamp) => write!(f, "{stamp:.3}"),
            Err(_) => write!(f, "{} ms after the epoch", self.0),
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Time, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|stamp| Time::from_millis(stamp.as_millisecond()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        if deserializer.is_human_readable() {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            text.parse().map_err(serde::de::Error::custom)
        } else {
            i64::deserialize(deserializer).map(Time::from_millis)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_rfc_3339_with_milliseconds_and_round_trips() {
        let time = Time::from_millis(1_784_419_200_042);
        assert_eq!(time.to_string(), "2026-07-19T00:00:00.042Z");
        assert_eq!(time.date(), "2026-07-19");
        assert_eq!("2026-07-19T02:00:00.042+02:00".parse::<Time>().unwrap(), time);
    }

    #[test]
    fn sums_are_clamped_and_differences_never_negative() {
        assert_eq!(Time::MAX.plus(Millis(1)), Time::MAX);
        assert_eq!(Time::from_millis(5).since(Time::from_millis(9)), Millis(0));
    }
}

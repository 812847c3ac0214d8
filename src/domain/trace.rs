//! W3C trace context: one trace from the client to the service. A run is one trace: that of the request that opened it,
//! or one of its own. It identifies nothing and nobody, decides nothing, and is part of no digest.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ids::RunId;

/// The header, in both directions.
pub const TRACEPARENT: &str = "traceparent";

/// 16 bytes that are not all zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

impl TraceId {
    /// The trace of a run whose opener brought none.
    #[must_use]
    pub const fn of_run(run: RunId) -> TraceId {
        TraceId(run.to_bytes())
    }

    /// The trace of a `traceparent` header. One that is not as the recommendation wants it is no trace; of versions to
    /// come the known part is read.
    #[must_use]
    pub fn parse(header: &str) -> Option<TraceId> {
        let (version, rest) = header.split_at_checked(2)?;
        hex::<1>(version).filter(|version| version[0] != 0xff)?;
        let rest = rest.strip_prefix('-')?;
        let (trace, rest) = rest.split_at_checked(32)?;
        let (span, rest) = rest.strip_prefix('-')?.split_at_checked(16)?;
        let (flags, rest) = rest.strip_prefix('-')?.split_at_checked(2)?;
        let ends = rest.is_empty() || (version != "00" && rest.starts_with('-'));
        let (trace, span) = (hex::<16>(trace)?, hex::<8>(span)?);
        hex::<1>(flags)?;
        (ends && trace != [0; 16] && span != [0; 8]).then_some(TraceId(trace))
    }

    /// The header that goes on to a service, with a span of its own. The first bit of the flags says "sampled": the
    /// service may keep it.
    #[must_use]
    pub fn traceparent(self, random: [u8; 16]) -> String {
        let mut span = [0; 8];
        span.copy_from_slice(&random[..8]);
        if span == [0; 8] {
            span[7] = 1;
        }
        format!("00-{self}-{}-01", Hex(&span))
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Lower-case digits only.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Some(bytes)
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for TraceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TraceId, D::Error> {
        if deserializer.is_human_readable() {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            let bytes = hex::<16>(&text).ok_or_else(|| serde::de::Error::custom("expected 32 hex digits"))?;
            Ok(TraceId(bytes))
        } else {
            <[u8; 16]>::deserialize(deserializer).map(TraceId)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_the_recommendation_wants_is_read_and_written() {
        let trace = TraceId::parse(GOOD).unwrap();
        assert_eq!(trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        let later = GOOD.replacen("00-", "cc-", 1) + "-what-the-future-will-be-like";
        assert_eq!(TraceId::parse(&later), Some(trace));
        for random in [[7; 16], [0; 16]] {
            let out = trace.traceparent(random);
            assert_eq!(TraceId::parse(&out), Some(trace), "{out}");
            assert!(!out.contains("00f067aa0ba902b7"), "a span of its own");
        }
        let json = serde_json::to_string(&trace).unwrap();
        assert_eq!(serde_json::from_str::<TraceId>(&json).unwrap(), trace);
    }

    #[test]
    fn anything_else_is_no_trace() {
        for bad in [
            "",
            "00",
            &GOOD[..GOOD.len() - 1],
            &GOOD.to_uppercase(),
            &format!("{GOOD}-more"),
            &format!("{GOOD}x"),
            &GOOD.replacen("00-", "ff-", 1),
            &GOOD.replacen('-', "_", 1),
            &GOOD.replacen("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32), 1),
            &GOOD.replacen("00f067aa0ba902b7", &"0".repeat(16), 1),
            &GOOD.replacen("4b", "ü", 1),
        ] {
            assert_eq!(TraceId::parse(bad), None, "{bad}");
        }
    }
}

//! Values and times as people read them. Everything from outside passes through here before it is shown.

use crate::domain::json::display::{escape_visible, is_nfc_suspect};
use crate::domain::{Millis, Time};

/// A text from outside, with everything invisible shown.
pub(crate) fn safe(text: &str) -> String {
    escape_visible(text)
}

/// A stored JSON value. A string is shown as its characters between quotes, and what cannot be seen as its number;
/// everything else as its canonical text. Absent, null and empty look different.
pub(crate) fn json(value: Option<&serde_json::Value>) -> String {
    match value {
        None => "(absent)".to_owned(),
        // A quote inside is marked, so that it does not look like the end.
        Some(serde_json::Value::String(text)) => format!("\"{}\"", safe(text).replace('"', "\\\"")),
        Some(other) => safe(&canonical(other)),
    }
}

/// A text without quotes where it is the whole of a line; everything else as JSON.
pub(crate) fn bare(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text)
            if !text.is_empty() && !text.contains("  ") && text.trim() == text =>
        {
            safe(text)
        }
        other => json(Some(other)),
    }
}

/// The canonical text, which is what was hashed.
pub(crate) fn canonical(value: &serde_json::Value) -> String {
    crate::domain::json::Canonical::of(value)
        .map_or_else(|_| value.to_string(), |canonical| canonical.as_str().to_owned())
}

/// What a reader has to know about a value beyond its look.
pub(crate) fn remark(value: Option<&serde_json::Value>) -> Option<&'static str> {
    let suspect = match value {
        Some(serde_json::Value::String(text)) => is_nfc_suspect(text),
        Some(other) => is_nfc_suspect(&canonical(other)),
        None => false,
    };
    suspect.then_some("not in Unicode form NFC: it may look like another text")
}

/// A span of time in at most two units: `14m 30s`, `2h 5m`, `3d 4h`. Parts of a second count as nothing.
pub(crate) fn span(span: Millis) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let mut seconds = span.0 / 1000;
    let mut parts = Vec::new();
    for (size, name) in UNITS {
        if seconds >= size && parts.len() < 2 {
            parts.push(format!("{}{name}", seconds / size));
        } else if !parts.is_empty() {
            break;
        }
        seconds %= size;
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

/// A point in time, to the second.
pub(crate) fn time(time: Time) -> String {
    let text = time.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_null_and_empty_are_three_things() {
        let shown =
            [None, Some(serde_json::Value::Null), Some("".into()), Some("null".into()), Some(5.into())]
                .map(|value| json(value.as_ref()));
        assert_eq!(shown, ["(absent)", "null", "\"\"", "\"null\"", "5"]);
        assert_eq!(json(Some(&"a\" -> \"b".into())), r#""a\" -> \"b""#);
        assert_eq!(json(Some(&"a\\".into())), r#""a\\""#);
    }

    #[test]
    fn spans_have_two_units() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (870, "14m 30s"),
            (7_500, "2h 5m"),
            (3_605, "1h"),
            (360_000, "4d 4h"),
        ] {
            assert_eq!(span(Millis::secs(seconds)), shown);
        }
    }

    #[test]
    fn times_are_shown_to_the_second() {
        assert_eq!(time(Time::from_millis(1_784_419_200_042)), "2026-07-19T00:00:00Z");
    }
}

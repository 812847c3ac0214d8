//! The small words of the format: durations, sizes, rates, versions, tool references, JSON pointers. Pure parsing.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::domain::Millis;

/// Longest tool name: it becomes an MCP tool name, a metric label and a URL segment.
const MAX_NAME: usize = 64;
/// Longest duration that the format takes: beyond a year somebody mistyped.
const MAX_DURATION_MS: u64 = 400 * 24 * 3600 * 1000;

/// The text does not have the wanted form; the message says which form that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct NotThis(pub &'static str);

/// `major.minor` of a contract.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// A breaking change is a new major.
    pub major: u32,
    /// Anything else is a new minor.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn plain_number(text: &str) -> Option<u32> {
    let canonical = text == "0" || (!text.starts_with('0') && text.bytes().all(|c| c.is_ascii_digit()));
    if canonical { text.parse().ok() } else { None }
}

impl FromStr for Version {
    type Err = NotThis;

    fn from_str(text: &str) -> Result<Version, NotThis> {
        let wanted = NotThis("a version `major.minor`, such as `2.1`");
        let (major, minor) = text.split_once('.').ok_or(wanted)?;
        match (plain_number(major), plain_number(minor)) {
            (Some(major), Some(minor)) => Ok(Version { major, minor }),
            _ => Err(wanted),
        }
    }
}

/// A tool as others name it: `get_customer.v1`. The newest minor of that major is meant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ToolRef {
    /// The name.
    pub name: String,
    /// The major version.
    pub major: u32,
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.v{}", self.name, self.major)
    }
}

impl FromStr for ToolRef {
    type Err = NotThis;

    fn from_str(text: &str) -> Result<ToolRef, NotThis> {
        let wanted = NotThis("a tool with its major version, such as `get_customer.v1`");
        let (name, major) = text.rsplit_once(".v").ok_or(wanted)?;
        let major = plain_number(major).ok_or(wanted)?;
        if !is_name(name) {
            return Err(wanted);
        }
        Ok(ToolRef { name: name.to_owned(), major })
    }
}

/// Whether the text is a snake_case name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('_')
        && !text.contains("__")
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

/// `90s`, `15m`, `24h`.
pub(super) fn duration(text: &str) -> Result<Millis, NotThis> {
    let wanted = NotThis("a duration such as `90s`, `15m` or `24h`, at most 400 days");
    let span = humantime::parse_duration(text).map_err(|_| wanted)?;
    match u64::try_from(span.as_millis()) {
        Ok(ms) if ms <= MAX_DURATION_MS && span == std::time::Duration::from_millis(ms) => Ok(Millis(ms)),
        _ => Err(wanted),
    }
}

/// `16KiB`, `1MiB`, `512B`.
pub(super) fn size(text: &str) -> Result<u64, NotThis> {
    let wanted = NotThis("a size such as `512B`, `16KiB` or `1MiB`");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or(wanted)?;
    let unit = match text[digits..].trim_start() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return Err(wanted),
    };
    let count: u64 = text[..digits].parse().map_err(|_| wanted)?;
    count.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or(wanted)
}

/// So many in so long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// How many.
    pub count: u32,
    /// In which span.
    pub per: Millis,
}

/// `50/s`, `600/m`, `10/h`.
pub(super) fn rate(text: &str) -> Result<Rate, NotThis> {
    let wanted = NotThis("a rate such as `50/s`, `600/m` or `10/h`");
    let (count, unit) = text.split_once('/').ok_or(wanted)?;
    let per = match unit {
        "s" => Millis::secs(1),
        "m" => Millis::secs(60),
        "h" => Millis::secs(3600),
        _ => return Err(wanted),
    };
    let count = plain_number(count).filter(|count| *count > 0).ok_or(wanted)?;
    Ok(Rate { count, per })
}

/// A JSON pointer (RFC 6901), split into its unescaped members. `*` stands for every item of an array where the
/// format says so (redaction).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer(pub(super) Vec<String>);

impl FromStr for Pointer {
    type Err = NotThis;

    fn from_str(text: &str) -> Result<Pointer, NotThis> {
        let wanted = NotThis("a JSON pointer such as `/receipt/operation_id`");
        if text.is_empty() {
            return Ok(Pointer(Vec::new()));
        }
        let rest = text.strip_prefix('/').ok_or(wanted)?;
        rest.split('/').map(unescape).collect::<Option<Vec<_>>>().map(Pointer).ok_or(wanted)
    }
}

fn unescape(member: &str) -> Option<String> {
    let bare = member.replace("~0", "").replace("~1", "");
    (!bare.contains('~')).then(|| member.replace("~1", "/").replace("~0", "~"))
}

impl Pointer {
    /// What it points at.
    pub(super) fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, member| match value {
            Value::Object(members) => members.get(member),
            Value::Array(items) => items.get(member.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|member| write!(f, "/{}", member.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_exactly_or_refused() {
        assert_eq!(duration("90s"), Ok(Millis(90_000)));
        assert_eq!(size("16KiB"), Ok(16 * 1024));
        assert_eq!(rate("50/s"), Ok(Rate { count: 50, per: Millis(1000) }));
        assert_eq!("2.10".parse(), Ok(Version { major: 2, minor: 10 }));
        assert_eq!("get_customer.v1".parse(), Ok(ToolRef { name: "get_customer".into(), major: 1 }));
        for wrong in ["", "5", "1ns", "2000years", "-1s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "16", "16KB", "0B", "99999999999999999MiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["2", "2.1.0", "02.1", "2.x", "+2.1"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
        for wrong in ["get_customer", "Get.v1", "get.v01", ".v1", "a__b.v1"] {
            assert!(wrong.parse::<ToolRef>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn pointers_follow_rfc_6901() {
        let value = serde_json::json!({"a/b": {"m~n": [7]}});
        assert_eq!("/a~1b/m~0n/0".parse::<Pointer>().unwrap().of(&value), Some(&Value::from(7)));
        assert_eq!("".parse::<Pointer>().unwrap().of(&value), Some(&value));
        assert!("a".parse::<Pointer>().is_err());
        assert!("/~2".parse::<Pointer>().is_err());
    }
}

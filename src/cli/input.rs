//! What people hand in: JSON from a file, the standard input or the command line, read as strictly as the daemon does;
//! durations; digests.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::failure::Failure;
use crate::domain::Digest;
use crate::domain::json::{self, Limits};
use crate::domain::problem::Problem;

/// The fewest leading digits of a digest that may stand for it: 48 bits, which nobody finds by chance among the
/// operations of one daemon, and which are compared with the whole one before anything is sent.
pub(crate) const MIN_DIGITS: usize = 12;

/// JSON from a file, from the standard input (`-`), or as it stands on the command line.
pub(crate) fn json_from(argument: &str, option: &str) -> Result<Value, Failure> {
    let start = argument.trim_start();
    let (place, bytes) = if argument == "-" {
        ("the standard input".to_owned(), read_bounded(std::io::stdin().lock(), Path::new("-"))?)
    } else if start.starts_with('{') || start.starts_with('[') {
        (option.to_owned(), argument.as_bytes().to_vec())
    } else {
        let path = Path::new(argument);
        let file =
            std::fs::File::open(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
        (argument.to_owned(), read_bounded(file, path)?)
    };
    parse(&bytes, &place)
}

/// A JSON value as it stands on the command line.
pub(crate) fn json_value(argument: &str, option: &str) -> Result<Value, Failure> {
    parse(argument.as_bytes(), option)
}

fn parse(bytes: &[u8], place: &str) -> Result<Value, Failure> {
    json::parse(bytes, Limits::default()).map_err(|error| {
        let mut problem = Problem::from(&error);
        problem.detail = format!("{place}: {}", problem.detail);
        Failure::Problem(Box::new(problem))
    })
}

/// One byte more than the limit is enough to know.
fn read_bounded(source: impl std::io::Read, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(json::MAX_BYTES).unwrap_or(u64::MAX);
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::File { path: path.to_owned(), error })?;
    Ok(bytes)
}

/// A duration such as `30s` or `2m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it as 30s or 2m"))
}

/// A digest, or enough of its leading digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DigestPrefix(String);

impl DigestPrefix {
    /// Whether it stands for this digest.
    pub(crate) fn matches(&self, digest: Digest) -> bool {
        digest.to_string().starts_with(&self.0)
    }
}

impl std::str::FromStr for DigestPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<DigestPrefix, String> {
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !hex || text.len() < MIN_DIGITS || text.len() > 64 {
            return Err(format!(
                "a digest is 64 lower-case hex digits, or at least its first {MIN_DIGITS}, as `op show` prints them"
            ));
        }
        Ok(DigestPrefix(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_named_by_twelve_digits_or_more() {
        let digest = Digest::of(b"{}");
        let full = digest.to_string();
        for length in [12, 13, 64] {
            assert!(full[..length].parse::<DigestPrefix>().unwrap().matches(digest));
        }
        for wrong in ["", &full[..11], &full.to_uppercase(), "44136fa355b3 ", &format!("{full}0")] {
            assert!(wrong.parse::<DigestPrefix>().is_err(), "{wrong}");
        }
        assert!(!"44136fa355b4".parse::<DigestPrefix>().unwrap().matches(digest));
    }

    #[test]
    fn json_is_read_strictly_and_the_place_is_named() {
        assert_eq!(json_from(r#" {"a":1}"#, "--args").unwrap(), serde_json::json!({"a": 1}));
        let Err(Failure::Problem(problem)) = json_from(r#"{"a":1,"a":2}"#, "--args") else { panic!() };
        assert_eq!(problem.pointer.as_deref(), Some("/a"));
        assert!(problem.detail.starts_with("--args: "), "{}", problem.detail);
        assert!(matches!(json_from("no/such/file", "--args"), Err(Failure::File { .. })));
    }
}

//! Texts that mean something: sizes, durations, modes, references. Each parser answers with what it expects and never
//! with what it got.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SecretRef;
use crate::domain::origin::Origin;

/// No clock of the product is meant to run for longer; also keeps every sum of times in range.
const MAX_DURATION: Duration = Duration::from_secs(10 * 366 * 86_400);
/// As in DNS labels: names occur in paths, headers and logs.
const MAX_NAME: usize = 63;

pub(super) fn duration(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "expected a duration of 1ms to ten years, such as \"90s\", \"15m\" or \"24h\"";
    let parsed = humantime::parse_duration(text).map_err(|_| EXPECTED)?;
    if parsed < Duration::from_millis(1) || parsed > MAX_DURATION {
        return Err(EXPECTED);
    }
    Ok(parsed)
}

pub(super) fn size(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a size above zero, such as \"64KiB\", \"64MiB\" or \"2GiB\"";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(EXPECTED),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(EXPECTED);
    }
    let number: u64 = digits.parse().map_err(|_| EXPECTED)?;
    number.checked_mul(factor).filter(|bytes| *bytes > 0).ok_or(EXPECTED)
}

pub(super) fn mode(text: &str) -> Result<u32, &'static str> {
    const EXPECTED: &str =
        "expected octal permissions as text, such as \"0600\" or \"0660\", that others cannot use";
    let octal = text.len() == 4 && text.starts_with('0') && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
    let mode = u32::from_str_radix(text, 8).ok().filter(|_| octal).ok_or(EXPECTED)?;
    // Without the owner's own read and write nobody can connect; with the others' bits, everybody can.
    if mode & 0o600 != 0o600 || mode & 0o007 != 0 { Err(EXPECTED) } else { Ok(mode) }
}

pub(super) fn name(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str =
        "expected 1 to 63 lower-case letters, digits, '.', '_' or '-', starting with a letter or digit";
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let rest = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
    if first && rest && text.len() <= MAX_NAME { Ok(text.to_owned()) } else { Err(EXPECTED) }
}

pub(super) fn tool_pattern(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str =
        "expected the name of a tool with its major version, such as \"set_price.v2\" or \"set_*\"";
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '*');
    if text.is_empty() || text.len() > 128 || !text.chars().all(fits) {
        return Err(EXPECTED);
    }
    Ok(text.to_owned())
}

pub(super) fn path(root: &Path, text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() || text.contains('\0') {
        return Err("expected a path");
    }
    Ok(root.join(text))
}

pub(super) fn secret(root: &Path, text: &str) -> Result<SecretRef, &'static str> {
    const EXPECTED: &str =
        "expected \"env:NAME\" or \"file:PATH\"; the secret itself never stands in this file";
    if let Some(name) = text.strip_prefix("env:") {
        let clean = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let fits = clean && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        return if fits { Ok(SecretRef::Env(name.to_owned())) } else { Err(EXPECTED) };
    }
    let file = text.strip_prefix("file:").ok_or(EXPECTED)?;
    Ok(SecretRef::File(path(root, file).map_err(|_| EXPECTED)?))
}

/// Host and, where it is not the scheme's own, port: as clients write it into `host`.
pub(super) fn authority(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str =
        "expected a host, or host and port, such as \"writd.example\" or \"127.0.0.1:7400\"";
    let origin: Origin = format!("http://{text}").parse().map_err(|_| EXPECTED)?;
    Ok(origin.authority())
}

pub(super) fn header(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str = "expected the name of a header, such as \"x-api-key\"";
    let clean = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    // These describe the connection; a credential in them would change the request itself.
    let taken = ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "expect"];
    let lower = text.to_ascii_lowercase();
    if clean && !text.is_empty() && !taken.contains(&lower.as_str()) { Ok(lower) } else { Err(EXPECTED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_modes() {
        let sizes = [("64KiB", 65_536), ("1", 1), ("7B", 7), ("2GiB", 2 << 30)];
        assert!(sizes.iter().all(|(text, bytes)| size(text) == Ok(*bytes)));
        for wrong in ["", "KiB", "64KB", "64 KiB", "-1", "0", "0MiB", "1.5MiB", "99999999999TiB", "+1", "1ä"]
        {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!((mode("0600"), mode("0660")), (Ok(0o600), Ok(0o660)));
        for wrong in ["600", "0666", "0060", "0o600", "0800", "", "06000", "0606"] {
            assert!(mode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_names_and_references() {
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for wrong in ["", "10", "0s", "11y", "-1s", "1ns"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "Alice", "a b", "-a", "a/b", &"a".repeat(64)] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
        let root = Path::new("/etc/writd");
        assert_eq!(secret(root, "env:CRM_TOKEN"), Ok(SecretRef::Env("CRM_TOKEN".to_owned())));
        assert_eq!(secret(root, "file:crm"), Ok(SecretRef::File("/etc/writd/crm".into())));
        for wrong in ["s3cr3t", "env:", "env:A B", "env:1A", "file:", "ENV:A"] {
            assert!(secret(root, wrong).is_err(), "{wrong}");
        }
    }
}

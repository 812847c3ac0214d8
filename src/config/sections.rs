//! The sections: every scalar key with its type and default.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::raw::{Given, Reader, Refusal, Section, wrong_type};
use super::unknown::suggest;
use super::{
    Approval, Daemon, Engine, Http, Limits, Log, LogFormat, LogLevel, Reconcile, Store, Tokens, values,
};
use crate::domain::origin::{Origin, OriginError};

const MIB: u64 = 1 << 20;
const HOUR: Duration = Duration::from_secs(3600);

type Parsed<T> = Result<T, Refusal>;

/// A text that a parser understands.
pub(super) fn text<T>(
    parse: impl FnOnce(&str) -> Result<T, &'static str>,
) -> impl FnOnce(Given<'_>) -> Parsed<T> {
    |given| {
        let text = match &given {
            Given::Toml(DeValue::String(text)) => text.as_ref(),
            Given::Toml(_) => return Err(wrong_type("a text in quotes")),
            Given::Variable(text) => text,
        };
        parse(text).map_err(invalid)
    }
}

pub(super) fn invalid(message: &str) -> Refusal {
    Refusal { code: "INVALID_VALUE", message: message.to_owned(), help: None }
}

/// A whole number in a range.
pub(super) fn number(range: RangeInclusive<usize>) -> impl FnOnce(Given<'_>) -> Parsed<usize> {
    move |given| {
        let parsed = match &given {
            Given::Toml(DeValue::Integer(number)) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok()
            }
            Given::Toml(_) => return Err(wrong_type("a whole number")),
            Given::Variable(text) => text.parse().ok(),
        };
        let number = parsed.and_then(|number| usize::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            invalid(&format!("expected a whole number from {} to {}", range.start(), range.end()))
        })
    }
}

/// `true` or `false`.
pub(super) fn flag(given: Given<'_>) -> Parsed<bool> {
    match given {
        Given::Toml(DeValue::Boolean(value)) => Ok(*value),
        Given::Variable("true") => Ok(true),
        Given::Variable("false") => Ok(false),
        Given::Toml(_) | Given::Variable(_) => Err(wrong_type("true or false")),
    }
}

/// One of some words.
pub(super) fn choice<T: Copy>(words: &[(&'static str, T)]) -> impl FnOnce(Given<'_>) -> Parsed<T> {
    move |given| {
        let text = match &given {
            Given::Toml(DeValue::String(text)) => text.as_ref(),
            Given::Toml(_) => return Err(wrong_type("a text in quotes")),
            Given::Variable(text) => text,
        };
        one_of(words, text)
    }
}

/// The meaning of a word, or which words there are.
pub(super) fn one_of<T: Copy>(words: &[(&'static str, T)], text: &str) -> Parsed<T> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let names: BTreeSet<&str> = words.iter().map(|(word, _)| *word).collect();
    let all: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let message = format!("expected one of {}", all.join(", "));
    Err(Refusal { code: "INVALID_VALUE", message, help: suggest(text, &names) })
}

impl Section<'_, '_> {
    fn duration(&mut self, key: &'static str, default: Duration) -> Duration {
        self.get(key, text(values::duration)).unwrap_or(default)
    }

    fn size(&mut self, key: &'static str, default: u64) -> u64 {
        self.get(key, text(values::size)).unwrap_or(default)
    }

    fn number(&mut self, key: &'static str, range: RangeInclusive<usize>, default: usize) -> usize {
        self.get(key, number(range)).unwrap_or(default)
    }

    fn path(&mut self, key: &'static str, root: &Path, default: &str) -> PathBuf {
        self.get(key, text(|text| values::path(root, text))).unwrap_or_else(|| root.join(default))
    }
}

pub(super) fn daemon<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>, root: &Path) -> Daemon {
    let mut s = reader.section(document, "daemon");
    let group =
        |text: &str| if text.is_empty() { Err("expected the name of a group") } else { Ok(text.to_owned()) };
    Daemon {
        state_dir: s.path("state_dir", root, "state"),
        socket: s.path("socket", root, "state/writd.sock"),
        socket_mode: s.get("socket_mode", text(values::mode)).unwrap_or(0o600),
        socket_group: s.get("socket_group", text(group)),
        contracts: s.path("contracts", root, "workflows"),
        grace: s.duration("grace", Duration::from_secs(10)),
    }
}

/// The store keeps 8 MiB of the file system free; less than twice that would give nothing back when it is needed.
fn reserve(text: &str) -> Result<u64, &'static str> {
    match values::size(text)? {
        bytes if bytes < 16 * MIB => Err("expected at least 16MiB: less does not help when the disk is full"),
        bytes => Ok(bytes),
    }
}

pub(super) fn store<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Store {
    let mut s = reader.section(document, "store");
    Store {
        engine: s.get("engine", choice(&[("sled", Engine::Sled)])).unwrap_or(Engine::Sled),
        cache: s.size("cache", 64 * MIB),
        reserve: s.get("reserve", text(reserve)).unwrap_or(32 * MIB),
        group_max: s.number("group_max", 1..=65_536, 1024),
    }
}

pub(super) fn http<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>, root: &Path) -> Http {
    let mut s = reader.section(document, "http");
    let address = |text: &str| {
        text.parse()
            .map_err(|_| "expected an address and a port, such as \"127.0.0.1:7400\" or \"[::1]:7400\"")
    };
    let host = |text: &str| values::authority(text).map_err(invalid);
    Http {
        listen: s.get("listen", text(address)),
        tls_cert: s.get("tls_cert", text(|text| values::path(root, text))),
        tls_key: s.get("tls_key", text(|text| values::path(root, text))),
        behind_proxy: s.get("behind_proxy", flag).unwrap_or(false),
        hosts: s.get("hosts", |given| texts(&given, host)).unwrap_or_default(),
        origins: s.get("origins", |given| texts(&given, origin)).unwrap_or_default(),
        max_connections: s.number("max_connections", 1..=65_536, 128),
    }
}

pub(super) fn tokens<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Tokens {
    let mut s = reader.section(document, "tokens");
    Tokens {
        default_expiry: s.duration("default_expiry", 30 * 24 * HOUR),
        max_expiry: s.duration("max_expiry", 90 * 24 * HOUR),
    }
}

/// A list of texts; in the environment, with commas between them.
fn texts<T>(given: &Given<'_>, read: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
    match given {
        Given::Variable(text) => {
            text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(read).collect()
        }
        Given::Toml(DeValue::Array(values)) => values
            .iter()
            .map(|value| read(value.get_ref().as_str().ok_or_else(|| wrong_type("a list of texts"))?))
            .collect(),
        Given::Toml(_) => Err(wrong_type("a list of texts")),
    }
}

fn origin(text: &str) -> Parsed<Origin> {
    text.parse().map_err(|error: OriginError| invalid(&error.to_string()))
}

pub(super) fn limits<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Limits {
    let mut s = reader.section(document, "limits");
    Limits {
        max_request: s.size("max_request", 64 * 1024),
        max_wait: s.duration("max_wait", Duration::from_secs(30)),
        max_concurrent_attempts: s.number("max_concurrent_attempts", 1..=65_536, 256),
        idempotency_retention: s.duration("idempotency_retention", 168 * HOUR),
        page_default: s.number("page_default", 1..=10_000, 50),
        page_max: s.number("page_max", 1..=10_000, 500),
    }
}

pub(super) fn reconcile<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Reconcile {
    let mut s = reader.section(document, "reconcile");
    Reconcile {
        interval: s.duration("interval", Duration::from_secs(2)),
        max_interval: s.duration("max_interval", Duration::from_secs(60)),
        jitter: s.get("jitter", flag).unwrap_or(true),
        escalate_after: s.duration("escalate_after", Duration::from_secs(900)),
        slow_interval: s.duration("slow_interval", Duration::from_secs(600)),
        concurrency: s.number("concurrency", 1..=1024, 10),
    }
}

pub(super) fn approval<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Approval {
    let mut s = reader.section(document, "approval");
    Approval {
        decide_within_max: s.duration("decide_within_max", 24 * HOUR),
        execute_within_max: s.duration("execute_within_max", HOUR),
        allow_same_uid: s.get("allow_same_uid", flag).unwrap_or(true),
    }
}

pub(super) fn log<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Log {
    let mut s = reader.section(document, "log");
    let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
    let levels = [
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];
    Log {
        format: s.get("format", choice(&formats)).unwrap_or(LogFormat::Text),
        level: s.get("level", choice(&levels)).unwrap_or(LogLevel::Info),
    }
}

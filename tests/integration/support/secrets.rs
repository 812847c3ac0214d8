//! What no log may hold: the values of arguments that any test has sent, the credentials of the sandboxes, and every token
//! that a daemon has made. Every
//! daemon's log is held against them when its test is over.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

/// Arguments that the shipped contracts name as safe to log.
const SAFE: [&str; 8] =
    ["customer_id", "asset_id", "hotel_id", "case_id", "draft_id", "order_id", "template", "language"];

/// Shorter values occur in logs by chance.
const LONG_ENOUGH: usize = 8;

static SENT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remembers a value that must stay out of every log.
pub(crate) fn remember(secret: &str) {
    if secret.len() >= LONG_ENOUGH {
        SENT.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.to_owned());
    }
}

/// Remembers the texts among these arguments.
pub(crate) fn remember_arguments(arguments: &Value) {
    match arguments {
        Value::String(text) => remember(text),
        Value::Array(elements) => elements.iter().for_each(remember_arguments),
        Value::Object(members) => {
            members.iter().filter(|(name, _)| !SAFE.contains(&name.as_str())).for_each(|(_, member)| {
                remember_arguments(member);
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The lines of a log that hold something of it.
pub(crate) fn leaks(log: &str) -> Vec<String> {
    let sent = SENT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // What a contract itself says is no argument, though a word of it may have been sent.
    let of_contract = |line: &str| line.contains(".tool.yaml:") || line.contains("\"message\":\"contract ");
    let leaks = |line: &&str| !of_contract(line) && sent.iter().any(|secret| line.contains(secret.as_str()));
    log.lines().filter(leaks).map(str::to_owned).collect()
}

#[test]
fn what_was_sent_is_found_in_a_log() {
    remember_arguments(
        &serde_json::json!({"destination": {"line1": "Planted Street 1"}, "customer_id": "C-planted-1"}),
    );
    let log = "a line\nof C-planted-1\nto Planted Street 1 it went\n";
    assert_eq!(leaks(log), ["to Planted Street 1 it went"]);
}

//! What an answer says about the world. Ambiguous is the default: success needs a declared status, a body that passes
//! the output schema and evidence that it is about this very call; failure needs a line of the error table.

use serde_json::Value;

use super::codes;
use super::contract::Contract;
use super::model::ErrorEntry;
use super::receipt::{Expect, Receipt, text_at};
use crate::domain::operation::Effect;
use crate::domain::{Millis, json};

/// Longest pause that a service can ask for; more is not a pause but an outage.
const MAX_RETRY_AFTER_S: u64 = 24 * 3600;
/// Parts of a partial effect that are kept.
const MAX_PARTS: usize = 100;

/// The body of an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum AnswerBody {
    /// Strict JSON.
    Json(Value),
    /// No body.
    Empty,
    /// Not JSON, too large, cut off; the reason.
    Unreadable(String),
}

/// An HTTP answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: AnswerBody,
}

/// One part of a partial effect.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct PartEffect {
    /// Its name.
    pub name: String,
    /// What happened to it.
    pub state: Effect,
    /// Its proof.
    pub receipt: Option<Value>,
}

/// What the answer to a write says.
#[derive(Clone, PartialEq, Debug)]
pub enum Classified {
    /// It happened, and this proves it.
    Receipt(Box<Receipt>),
    /// A declared terminal error.
    Failed {
        /// The code of the dictionary.
        code: String,
        /// What the world looks like.
        effect: Effect,
        /// The current version of the target, where the table says where it stands.
        current_version: Option<String>,
    },
    /// A declared partial result.
    Partial {
        /// The code of the dictionary.
        code: String,
        /// What happened to each part.
        effects: Vec<PartEffect>,
    },
    /// It runs remotely.
    Accepted {
        /// The id of the remote operation.
        remote: String,
    },
    /// Declared: nothing happened, and it may be sent again.
    NoEffectRetryable {
        /// The code of the dictionary.
        code: String,
        /// When, if the answer says so.
        retry_after: Option<Millis>,
    },
    /// Nobody knows.
    Ambiguous {
        /// Why; never holds a value.
        cause: String,
    },
}

/// What the answer to a read says.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadOutcome {
    /// Data that passed the output schema.
    Output(Value),
    /// An error, declared or not.
    Failed {
        /// The code of the dictionary; `OUTPUT_INVALID` or `UNAVAILABLE` for what is not declared.
        code: String,
        /// When to come back, if the answer says so.
        retry_after: Option<Millis>,
        /// What was wrong; never holds a value.
        detail: String,
    },
}

impl Answer {
    /// An answer as it came, its body parsed strictly; what cannot be read is said to be unreadable, never guessed.
    #[must_use]
    pub fn read(status: u16, headers: Vec<(String, String)>, body: &[u8], max_bytes: usize) -> Answer {
        let body = if body.is_empty() {
            AnswerBody::Empty
        } else {
            match json::parse(body, json::Limits::bytes(max_bytes)) {
                Ok(value) => AnswerBody::Json(value),
                Err(error) => AnswerBody::Unreadable(error.kind.explain().0.to_owned()),
            }
        };
        Answer { status, headers, body }
    }

    /// Its body, if it is JSON.
    #[must_use]
    pub fn into_json(self) -> Option<Value> {
        match self.body {
            AnswerBody::Json(value) => Some(value),
            AnswerBody::Empty | AnswerBody::Unreadable(_) => None,
        }
    }

    pub(super) fn json(&self) -> Option<&Value> {
        match &self.body {
            AnswerBody::Json(value) => Some(value),
            AnswerBody::Empty | AnswerBody::Unreadable(_) => None,
        }
    }

    fn retry_after(&self) -> Option<Millis> {
        let value = self.header("retry-after")?;
        let seconds = match value.parse() {
            Ok(seconds) => seconds,
            // A date is one by the service's own clock, which the same answer tells.
            Err(_) => seconds_between(self.header("date")?, value)?,
        };
        Some(Millis::secs(seconds.min(MAX_RETRY_AFTER_S)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }
}

/// Whole seconds from one HTTP date to another; none if the other is before it.
fn seconds_between(from: &str, to: &str) -> Option<u64> {
    let parse = |date: &str| jiff::fmt::rfc2822::parse(date).ok();
    let between = parse(to)?.timestamp().as_second() - parse(from)?.timestamp().as_second();
    Some(u64::try_from(between).unwrap_or(0))
}

impl ErrorEntry {
    pub(super) fn describes(&self, body: Option<&Value>) -> bool {
        self.body.iter().all(|(pointer, wanted)| body.and_then(|body| pointer.of(body)) == Some(wanted))
    }
}

fn ambiguous(cause: impl Into<String>) -> Classified {
    Classified::Ambiguous { cause: cause.into() }
}

impl Contract {
    /// What the answer to a write says about the world.
    #[must_use]
    pub fn classify(&self, answer: &Answer, expect: &Expect<'_>) -> Classified {
        if let Some((status, remote)) = &self.http.accepted
            && *status == answer.status
        {
            let remote = answer.json().and_then(|body| text_at(Some(remote), body));
            return match remote {
                Some(remote) => Classified::Accepted { remote },
                None => ambiguous("accepted without the id of a remote operation"),
            };
        }
        if self.http.success.contains(&answer.status) {
            return match self.receipt_of(answer, expect) {
                Ok(receipt) => Classified::Receipt(Box::new(receipt)),
                Err(cause) => ambiguous(cause),
            };
        }
        match self.entry_for(answer) {
            Some(entry) => declared(entry, answer),
            None => {
                ambiguous(format!("the contract does not declare this answer (status {})", answer.status))
            }
        }
    }

    fn receipt_of(&self, answer: &Answer, expect: &Expect<'_>) -> Result<Receipt, String> {
        match &answer.body {
            AnswerBody::Json(body) => self.receipt_in(body, expect),
            AnswerBody::Empty => Err("a success without a body proves nothing".to_owned()),
            AnswerBody::Unreadable(reason) => Err(format!("the body of the success is unreadable: {reason}")),
        }
    }

    /// The line of the error table that declares this answer.
    #[must_use]
    pub fn declared_error(&self, answer: &Answer) -> Option<&ErrorEntry> {
        self.entry_for(answer)
    }

    fn entry_for(&self, answer: &Answer) -> Option<&ErrorEntry> {
        self.errors.iter().find(|entry| entry.status == answer.status && entry.describes(answer.json()))
    }

    /// What the answer to a read says.
    #[must_use]
    pub fn classify_read(&self, answer: &Answer) -> ReadOutcome {
        let fail = |code: &str, detail: String| ReadOutcome::Failed {
            code: code.to_owned(),
            retry_after: answer.retry_after(),
            detail,
        };
        if self.http.success.contains(&answer.status) {
            return match &answer.body {
                AnswerBody::Json(body) => match self.output.validate(body) {
                    Ok(()) => ReadOutcome::Output(body.clone()),
                    Err(violations) => {
                        let first = violations.first().map_or("", |violation| violation.message.as_str());
                        fail("OUTPUT_INVALID", format!("the answer does not pass the output schema: {first}"))
                    }
                },
                AnswerBody::Empty => fail("OUTPUT_INVALID", "the answer has no body".to_owned()),
                AnswerBody::Unreadable(reason) => fail("OUTPUT_INVALID", reason.clone()),
            };
        }
        match self.entry_for(answer) {
            Some(entry) => fail(&entry.code, format!("the service answered {}", answer.status)),
            None => fail("UNAVAILABLE", format!("the contract does not declare status {}", answer.status)),
        }
    }
}

fn declared(entry: &ErrorEntry, answer: &Answer) -> Classified {
    let code = entry.code.clone();
    match entry.effect {
        Effect::Unknown => ambiguous(format!("declared as unknown: {code}")),
        Effect::Partial => match parts(entry, answer.json()) {
            Some(effects) => Classified::Partial { code, effects },
            None => ambiguous("a partial result without its parts"),
        },
        Effect::None if codes::is_retryable(&code) => Classified::NoEffectRetryable {
            code,
            retry_after: if entry.retry_after { answer.retry_after() } else { None },
        },
        Effect::None | Effect::Applied => Classified::Failed {
            code,
            effect: entry.effect,
            current_version: answer.json().and_then(|body| text_at(entry.current_version.as_ref(), body)),
        },
    }
}

fn parts(entry: &ErrorEntry, body: Option<&Value>) -> Option<Vec<PartEffect>> {
    let items = entry.effects.as_ref()?.of(body?)?.as_array()?;
    if items.is_empty() || items.len() > MAX_PARTS {
        return None;
    }
    items
        .iter()
        .map(|item| {
            let state = match item.get("state")?.as_str()? {
                "none" => Effect::None,
                "applied" => Effect::Applied,
                "partial" => Effect::Partial,
                "unknown" => Effect::Unknown,
                _ => return None,
            };
            let name = item.get("name")?.as_str()?.to_owned();
            Some(PartEffect { name, state, receipt: item.get("receipt").cloned() })
        })
        .collect()
}

#[cfg(test)]
mod tests;

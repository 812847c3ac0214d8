//! What an answer says about the world. Ambiguous is the default: success needs a declared status, a body that passes
//! the output schema and evidence that it is about this very call; failure needs a line of the error table.

use serde_json::Value;

use super::codes;
use super::contract::Contract;
use super::model::{DraftSpec, ErrorEntry, Evidence, ReceiptSpec, VersionCheck};
use super::preview::version_text;
use super::units::Pointer;
use crate::domain::operation::Effect;
use crate::domain::{Digest, Millis, Time, json};

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

/// What an answer must be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expect<'a> {
    /// The downstream key.
    pub key: &'a str,
    /// The operation.
    pub operation: &'a str,
    /// SHA-256 of the body bytes that were sent.
    pub body_sha256: Digest,
    /// The version of the target that was approved; `None` if it is not known or does not count.
    pub version: Option<&'a str>,
}

/// Proof that the effect happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    /// The answer, which passed the output schema.
    pub data: Value,
    /// The receipt's id at the service.
    pub id: Option<String>,
    /// The version that was replaced.
    pub previous_version: Option<String>,
    /// The version after.
    pub new_version: Option<String>,
    /// When a draft ends by itself.
    pub expires_at: Option<String>,
    /// The fields that the service says it changed.
    pub changed_fields: Option<Vec<String>>,
    /// When, as the service says.
    pub committed_at: Option<String>,
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

fn text_at(pointer: Option<&Pointer>, body: &Value) -> Option<String> {
    version_text(pointer?.of(body)?)
}

impl Evidence {
    /// Whether an answer is about this call. The error says what does not fit, without values.
    pub(super) fn check(&self, body: &Value, expect: &Expect<'_>) -> Result<(), String> {
        let digest = expect.body_sha256.to_string();
        let wanted = [
            ("key", &self.key, expect.key),
            ("operation id", &self.operation_id, expect.operation),
            ("request digest", &self.request_sha256, digest.as_str()),
        ];
        for (name, pointer, wanted) in wanted {
            let Some(pointer) = pointer else { continue };
            match pointer.of(body).and_then(Value::as_str) {
                None => return Err(format!("the answer names no {name} at {pointer}")),
                Some(found) if found != wanted => {
                    return Err(format!("the answer is about another {name}"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

impl ReceiptSpec {
    pub(super) fn read(&self, body: &Value) -> Receipt {
        let fields =
            self.changed_fields.as_ref().and_then(|pointer| pointer.of(body)).and_then(Value::as_array);
        Receipt {
            data: body.clone(),
            id: text_at(self.id.as_ref(), body),
            previous_version: text_at(self.previous_version.as_ref(), body),
            new_version: text_at(self.new_version.as_ref(), body),
            changed_fields: fields
                .map(|fields| fields.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            committed_at: text_at(self.committed_at.as_ref(), body),
            expires_at: None,
        }
    }
}

/// More than a draft's ttl by this much is another promise than the contract's.
const ENDS_LATER: i64 = 60_000;

/// A draft that does not say when it ends, or ends later than promised, is not what was to be made.
fn ends(draft: &DraftSpec, receipt: &Receipt) -> Result<(), String> {
    let time = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Time>().ok());
    let Some(end) = time(&receipt.expires_at) else {
        return Err(format!("the answer does not say at {} when the draft ends", draft.expires_at));
    };
    let Some(made) = time(&receipt.committed_at) else { return Ok(()) };
    let lasts = end.as_millis().saturating_sub(made.as_millis());
    let ttl = i64::try_from(draft.ttl.0).unwrap_or(i64::MAX);
    match lasts {
        ..=0 => Err("the draft has ended before it was made".to_owned()),
        _ if lasts > ttl.saturating_add(ENDS_LATER) => {
            Err("the draft ends later than the contract promises".to_owned())
        }
        _ => Ok(()),
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

    /// A receipt that passes the output schema, is about this call and does not contradict what was approved.
    pub(super) fn receipt_in(&self, body: &Value, expect: &Expect<'_>) -> Result<Receipt, String> {
        let parts = self.write.as_ref().ok_or("this tool is not a write")?;
        if let Err(violations) = self.output.validate(body) {
            let first = violations.first().map_or_else(String::new, |violation| {
                let place = if violation.pointer.is_empty() { "(root)" } else { violation.pointer.as_str() };
                format!(" at {place}: {}", violation.message)
            });
            return Err(format!("the answer does not pass the output schema{first}"));
        }
        parts.receipt.evidence.check(body, expect)?;
        let receipt = self.read_receipt(body);
        if let Some(draft) = &parts.draft {
            ends(draft, &receipt)?;
        }
        if parts.target.check == VersionCheck::IfMatch
            && let (Some(approved), Some(replaced)) = (expect.version, &receipt.previous_version)
            && approved != replaced
        {
            return Err("the receipt says that another version was replaced than the approved one".to_owned());
        }
        Ok(receipt)
    }

    /// What stands in a receipt, in the places that the contract names.
    #[must_use]
    pub fn read_receipt(&self, body: &Value) -> Receipt {
        let Some(parts) = &self.write else { return ReceiptSpec::default().read(body) };
        let expires_at = parts.draft.as_ref().and_then(|draft| text_at(Some(&draft.expires_at), body));
        Receipt { expires_at, ..parts.receipt.read(body) }
    }

    /// A receipt that somebody brings by hand, held to the same rules as one in an answer.
    ///
    /// # Errors
    /// What does not fit, without values.
    pub fn admit_receipt(&self, body: &Value, expect: &Expect<'_>) -> Result<Receipt, String> {
        self.receipt_in(body, expect)
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

//! What proves an effect: a receipt that passes the output schema, is about this very call and does not contradict what
//! was approved. Pure.

use serde_json::Value;

use super::contract::Contract;
use super::model::{DraftSpec, Evidence, ReceiptSpec, VersionCheck};
use super::preview::version_text;
use super::units::Pointer;
use crate::domain::{Digest, Time};

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

pub(super) fn text_at(pointer: Option<&Pointer>, body: &Value) -> Option<String> {
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

impl Contract {
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Millis;

    #[test]
    fn a_draft_says_when_it_ends_and_keeps_its_promise() {
        let draft = DraftSpec { ttl: Millis::secs(24 * 3600), expires_at: "/expires_at".parse().unwrap() };
        let told = |made: Option<&str>, end: Option<&str>| {
            let mut receipt = ReceiptSpec::default().read(&json!({}));
            receipt.committed_at = made.map(str::to_owned);
            receipt.expires_at = end.map(str::to_owned);
            ends(&draft, &receipt)
        };
        let made = Some("2026-07-19T00:00:00Z");
        told(made, Some("2026-07-20T00:00:00Z")).unwrap();
        told(made, Some("2026-07-19T01:00:00+00:00")).unwrap();
        told(None, Some("2026-07-20T00:00:00Z")).unwrap();
        for end in [
            None,
            Some(""),
            Some("tomorrow"),
            made,
            Some("2026-07-18T00:00:00Z"),
            Some("2026-07-21T00:00:00Z"),
        ] {
            told(made, end).unwrap_err();
        }
    }
}

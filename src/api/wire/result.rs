//! What a write came to: the evidence, apart from all words. Everything in it that a service said is untrusted.

use serde::{Deserialize, Serialize};

use super::operation::Receipts;
use super::parts::EffectView;
use crate::domain::ids::AttemptId;
use crate::domain::operation::{Effect, Operation, RawAnswer, State, version_value};
use crate::domain::trace::TraceId;
use crate::domain::{Digest, Time};
use crate::ports::ReceiptFacts;

/// The resource that was written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResourceView {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
}

/// What a write came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResultView {
    /// It succeeded, and that is proven.
    pub ok: bool,
    /// Where it stands.
    pub status: State,
    /// What the world looks like.
    pub effect_applied: Effect,
    /// The parts of a partial effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectView>,
    /// What was written.
    pub resource: ResourceView,
    /// The version that was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_version: Option<serde_json::Value>,
    /// The version after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_version: Option<serde_json::Value>,
    /// What the service says it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_fields: Option<Vec<String>>,
    /// When, as the service says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
    /// When a draft ends by itself, as the service says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The receipt's id at the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// SHA-256 of the request that was sent.
    pub request_sha256: Digest,
    /// The trace that it belongs to.
    pub trace_id: TraceId,
    /// How sensitive the service's data is, in the words of the contract.
    pub classification: String,
    /// Always true: what a service says is data, never instructions.
    pub untrusted: bool,
}

impl ResultView {
    /// What is shown of an operation that has ended after an attempt; none of the others.
    #[must_use]
    pub fn of(
        operation: &Operation,
        facts: &ReceiptFacts,
        data_class: &str,
        receipts: Receipts<'_>,
    ) -> Option<ResultView> {
        let outcome = operation.outcome.as_ref().filter(|_| !operation.attempts.is_empty())?;
        let proposal = &operation.proposal;
        let version = |text: Option<&String>| text.map(|text| version_value(text));
        Some(ResultView {
            ok: operation.state == State::Succeeded,
            status: operation.state,
            effect_applied: operation.effect,
            effects: outcome.effects.iter().map(|part| EffectView::of(part, receipts)).collect(),
            resource: ResourceView { kind: proposal.target.kind.clone(), id: proposal.target.id.clone() },
            previous_version: version(facts.previous_version.as_ref()),
            new_version: version(facts.new_version.as_ref().or(outcome.new_version.as_ref())),
            changed_fields: facts.changed_fields.clone(),
            committed_at: facts.committed_at.clone(),
            expires_at: facts.expires_at.clone(),
            receipt: facts.id.clone(),
            request_sha256: proposal.request_sha256,
            trace_id: proposal.trace,
            classification: data_class.to_owned(),
            untrusted: true,
        })
    }
}

/// An answer that claimed success and was not fit to be a receipt. Untrusted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RawAnswerView {
    /// The attempt that it answered.
    pub attempt: AttemptId,
    /// When it came.
    pub at: Time,
    /// Its status.
    pub status: u16,
    /// How many bytes it had.
    pub size: u64,
    /// SHA-256 of all of it.
    pub sha256: Digest,
    /// What was kept of it, as text; what is not UTF-8 is replaced.
    pub text: String,
    /// Not all of it is shown: it was too long, is not text, or may not be kept whole.
    pub cut: bool,
}

impl From<&RawAnswer> for RawAnswerView {
    fn from(raw: &RawAnswer) -> RawAnswerView {
        RawAnswerView {
            attempt: raw.attempt,
            at: raw.at,
            status: raw.status,
            size: raw.size,
            sha256: raw.sha256,
            text: String::from_utf8_lossy(&raw.bytes).into_owned(),
            cut: Digest::of(&raw.bytes) != raw.sha256 || std::str::from_utf8(&raw.bytes).is_err(),
        }
    }
}

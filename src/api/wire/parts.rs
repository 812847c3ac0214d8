//! The parts of an operation's view.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operation::Receipts;
use super::{is_false, json_of_option};
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::operation::evidence::NamedEffect;
use crate::domain::operation::record::{Attempt, AttemptResult, Decision, Doubt, Late, Outcome, Waiting};
use crate::domain::operation::{
    Actor, Change, Effect, Evidence, Readback, StatusSummary, Target, Verdict, Wait,
};
use crate::domain::{Code, Digest, Time};

/// The resource that is written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetView {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id at the service.
    pub id: String,
    /// What is locked while the write is open.
    pub scope: String,
    /// The version that the write applies to; left out for a create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Value>,
}

impl From<&Target> for TargetView {
    fn from(target: &Target) -> TargetView {
        TargetView {
            kind: target.kind.clone(),
            id: target.id.clone(),
            scope: target.scope.clone(),
            version: json_of_option(target.version.as_ref()),
        }
    }
}

/// The two clocks. What remains is counted in the daemon's time, so that a client's clock does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClocksView {
    /// Decisions are taken before this.
    pub decide_by: Time,
    /// While it is proposed: milliseconds that remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide_remaining_ms: Option<u64>,
    /// What its preview promised holds until then: it is neither decided nor executed later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
    /// It is executed before this; known once it is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_by: Option<Time>,
    /// While it is approved: milliseconds that remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_remaining_ms: Option<u64>,
    /// From the first counted approval to `execute_by`, in milliseconds.
    pub execute_within_ms: u64,
}

/// Why an approved operation waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WaitView {
    /// `target_busy`, `backoff`, `limit`, `budget`, `paused` or `version_unavailable`.
    pub reason: String,
    /// In words.
    pub detail: String,
    /// The write that holds the target; only for who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<OperationId>,
    /// When it is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl WaitView {
    pub(super) fn of(waiting: &Waiting, blocker: impl Fn(OperationId) -> Option<OperationId>) -> WaitView {
        let (reason, blocker) = match &waiting.wait {
            Wait::TargetBusy(met) => ("target_busy", blocker(*met)),
            Wait::Backoff => ("backoff", None),
            Wait::Limit => ("limit", None),
            Wait::Paused(_) => ("paused", None),
            Wait::VersionUnavailable => ("version_unavailable", None),
            Wait::Budget(_) => ("budget", None),
        };
        let detail = match (&waiting.wait, blocker) {
            (Wait::TargetBusy(_), None) => "the target is busy with another write".to_owned(),
            (Wait::TargetBusy(_), Some(blocker)) => Wait::TargetBusy(blocker).to_string(),
            (wait, _) => wait.to_string(),
        };
        WaitView { reason: reason.to_owned(), detail, blocker, until: waiting.until }
    }
}

/// What is known while an outcome is unknown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DoubtView {
    /// Since when.
    pub since: Time,
    /// Its age in milliseconds.
    pub age_ms: u64,
    /// How the outcome was lost.
    pub cause: String,
    /// An operator is needed since then; nothing is sent any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Time>,
    /// The last status answer that said something new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<String>,
    /// When it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status_at: Option<Time>,
    /// Status answers that said something new.
    pub status_answers: u32,
}

impl DoubtView {
    pub(super) fn of(doubt: &Doubt, now: Time) -> DoubtView {
        DoubtView {
            since: doubt.since,
            age_ms: now.since(doubt.since).0,
            cause: doubt.cause.to_string(),
            paused: doubt.paused,
            last_status: doubt.status.as_ref().map(|(_, status)| status.to_string()),
            last_status_at: doubt.status.as_ref().map(|(at, _)| *at),
            status_answers: doubt.answers,
        }
    }
}

/// How it ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OutcomeView {
    /// The error's code; left out on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// In the service's or an operator's words; untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The evidence that it happened. Left out in lists, and where an operator's word is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
    /// The target's new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_version: Option<Value>,
    /// The target's version on a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_version: Option<Value>,
    /// Where the proof came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The parts of a partial effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectView>,
    /// What an independent read saw after the success: `agrees`, the places that differ, or why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readback: Option<Readback>,
}

impl OutcomeView {
    pub(super) fn of(outcome: &Outcome, receipts: Receipts<'_>) -> OutcomeView {
        OutcomeView {
            code: outcome.code,
            detail: outcome.detail.clone(),
            receipt: receipts.whole(outcome.receipt.as_ref()),
            new_version: json_of_option(outcome.new_version.as_ref()),
            current_version: json_of_option(outcome.current_version.as_ref()),
            evidence: outcome.evidence,
            effects: outcome.effects.iter().map(|part| EffectView::of(part, receipts)).collect(),
            readback: outcome.readback.clone(),
        }
    }
}

/// One part of a partial effect.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EffectView {
    /// Which.
    pub name: String,
    /// What became of it.
    pub state: Effect,
    /// Its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
}

impl EffectView {
    pub(super) fn of(part: &NamedEffect, receipts: Receipts<'_>) -> EffectView {
        let receipt = receipts.part(part.receipt.as_ref());
        EffectView { name: part.name.clone(), state: part.state, receipt }
    }
}

/// One changed field.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChangeView {
    /// JSON pointer of the field.
    pub pointer: String,
    /// Before; left out where there was nothing.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// After; left out where there will be nothing.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// A member that is there is a value, also when the value is null: null and absent are two things.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl ChangeView {
    /// Where two proposals would leave different values: what the old one said, and what the new one says.
    #[must_use]
    pub fn between(old: &[Change], new: &[Change]) -> Vec<ChangeView> {
        let after = |changes: &[Change], field: &str| {
            changes.iter().find(|change| change.field == field).and_then(|change| change.after.clone())
        };
        let mut fields: Vec<&str> = old.iter().chain(new).map(|change| change.field.as_str()).collect();
        fields.sort_unstable();
        fields.dedup();
        let differs = fields.into_iter().map(|field| (field, after(old, field), after(new, field)));
        differs
            .filter(|(_, was, is)| was != is)
            .map(|(field, was, is)| ChangeView {
                pointer: field.to_owned(),
                before: json_of_option(was.as_ref()),
                after: json_of_option(is.as_ref()),
            })
            .collect()
    }
}

impl From<&Change> for ChangeView {
    fn from(change: &Change) -> ChangeView {
        ChangeView {
            pointer: change.field.clone(),
            before: json_of_option(change.before.as_ref()),
            after: json_of_option(change.after.as_ref()),
        }
    }
}

/// What an approver said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DecisionView {
    /// Who, with the assurance of the moment.
    pub by: Actor,
    /// When.
    pub at: Time,
    /// What.
    pub verdict: Verdict,
    /// The digest that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// In their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Taken back, void after an import, or too late: it does not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub void: bool,
}

impl From<&Decision> for DecisionView {
    fn from(decision: &Decision) -> DecisionView {
        DecisionView {
            by: decision.by.clone(),
            at: decision.at,
            verdict: decision.verdict,
            digest: decision.digest,
            note: decision.note.clone(),
            void: decision.void,
        }
    }
}

/// One execution try.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttemptView {
    /// Its id.
    pub id: AttemptId,
    /// When the intent was stored.
    pub started: Time,
    /// When its outcome counts as lost.
    pub deadline: Time,
    /// When its outcome was known, or known to be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// `running`, `no_effect`, `lost` or `final`.
    pub result: String,
    /// The code of a proof that nothing happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// How its outcome was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl From<&Attempt> for AttemptView {
    fn from(attempt: &Attempt) -> AttemptView {
        let (result, code, cause) = match &attempt.result {
            AttemptResult::Running => ("running", None, None),
            AttemptResult::NoEffect(code) => ("no_effect", Some(*code), None),
            AttemptResult::Lost(loss) => ("lost", None, Some(loss.to_string())),
            AttemptResult::Final => ("final", None, None),
        };
        AttemptView {
            id: attempt.id,
            started: attempt.started,
            deadline: attempt.deadline,
            ended: attempt.ended,
            result: result.to_owned(),
            code,
            cause,
        }
    }
}

/// An answer after the end: evidence that flips no state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LateView {
    /// When.
    pub at: Time,
    /// What it said, in words.
    pub answer: String,
    /// The receipt, where it brought one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
}

impl LateView {
    pub(super) fn of(late: &Late, receipts: Receipts<'_>) -> LateView {
        let receipt = match &late.answer {
            StatusSummary::Succeeded(receipt) => receipts.whole(Some(receipt)),
            StatusSummary::Failed(_)
            | StatusSummary::InProgress
            | StatusSummary::NotFound
            | StatusSummary::NotFoundProven
            | StatusSummary::Inconclusive(_) => None,
        };
        LateView { at: late.at, answer: late.answer.to_string(), receipt }
    }
}

//! Work orders: what stands in one, what it may be, and the priority, which the service derives itself. What a caller
//! says about urgency is kept as a claim and moves nothing.

use serde::{Deserialize, Serialize};

use super::directory::Criticality;

/// Long enough for what a technician must know, short enough to be read on a phone.
const MAX_SUMMARY: usize = 500;
/// How long every version of a draft lives; then it has ended by itself.
pub(super) const DRAFT_TTL_MS: u64 = 24 * 3600 * 1000;

/// What is seen at the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Symptom {
    NoAirflow,
    Noise,
    Vibration,
    Leak,
    WrongTemperature,
    DoorFault,
    NotWorking,
}

/// What a caller says about urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Urgency {
    Low,
    Normal,
    High,
    Emergency,
}

/// What the service says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Priority {
    P1,
    P2,
    P3,
}

/// Where a work order is. A draft that is too old counts as expired without a change of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Draft,
    Submitted,
    Cancelled,
}

/// Why an order is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    Duplicate,
    AlreadyFixed,
    WrongAsset,
    NotNeeded,
    Compensation,
}

/// What a draft says and an update replaces. Unknown members are refused: a misspelt one would be lost without a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    pub(super) symptom: Symptom,
    pub(super) summary: String,
    pub(super) urgency_claim: Urgency,
    pub(super) sop_id: String,
}

/// A work order as the service holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkOrder {
    pub(super) id: String,
    pub(super) hotel: String,
    pub(super) asset: String,
    pub(super) case_id: String,
    pub(super) state: State,
    pub(super) version: u64,
    pub(super) content: Content,
    pub(super) priority: Priority,
    /// A draft's end; a submitted order has none.
    pub(super) expires_at_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cancelled_for: Option<Reason>,
}

impl Content {
    /// The error is a sentence about the first thing wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.summary.trim().is_empty() || self.summary.chars().count() > MAX_SUMMARY {
            return Err(format!("summary must have 1 to {MAX_SUMMARY} characters"));
        }
        Ok(())
    }
}

impl WorkOrder {
    /// Whether it is a draft whose time is over.
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.state == State::Draft && self.expires_at_ms.is_some_and(|end| now_ms >= end)
    }

    /// Its state in words.
    pub(super) fn state_name(&self, now_ms: u64) -> &'static str {
        match self.state {
            State::Draft if self.is_expired(now_ms) => "expired",
            State::Draft => "draft",
            State::Submitted => "submitted",
            State::Cancelled => "cancelled",
        }
    }

    /// The members of the content that the other one has differently.
    pub(super) fn changed_fields(&self, other: &Self) -> Vec<&'static str> {
        let (old, new) = (&self.content, &other.content);
        let changed = [
            ("symptom", old.symptom != new.symptom),
            ("summary", old.summary != new.summary),
            ("urgency_claim", old.urgency_claim != new.urgency_claim),
            ("sop_id", old.sop_id != new.sop_id),
            ("priority", self.priority != other.priority),
        ];
        changed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
    }
}

/// From what the machine means for the hotel and what is seen at it. The claim is no argument on purpose.
pub(super) fn priority(criticality: Criticality, symptom: Symptom) -> Priority {
    let stands_still = match symptom {
        Symptom::NoAirflow | Symptom::Leak | Symptom::DoorFault | Symptom::NotWorking => true,
        Symptom::Noise | Symptom::Vibration | Symptom::WrongTemperature => false,
    };
    match (criticality, stands_still) {
        (Criticality::Safety, _) => Priority::P1,
        (Criticality::Operation, true) => Priority::P2,
        (Criticality::Operation, false) | (Criticality::Comfort, _) => Priority::P3,
    }
}

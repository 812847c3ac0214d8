//! The operation: one write as a persisted state machine.
//!
//! Two pure functions: [`decide`] (operation, command, facts → events and an answer) and [`evolve`] (operation, event →
//! operation). Live appends and recovery both go through `evolve`; nothing else changes an operation.

mod accepts;
mod actor;
pub mod command;
mod decide;
pub mod effect;
mod event;
pub mod evidence;
mod evolve;
pub mod invariants;
mod proposal;
mod raw;
pub mod record;
mod requirement;
#[cfg(test)]
pub(crate) mod samples;
mod state;
#[cfg(test)]
mod tests;

pub use accepts::accepts;
pub use actor::Actor;
pub use command::{Command, Facts};
pub use decide::{Answer, Decided, Refusal, decide, propose};
pub use effect::Effect;
pub use event::{Clock, Event, EventKind, Recorded, Verdict};
pub use evidence::{Evidence, Loss, Readback, StatusSummary, Wait};
pub use evolve::{IllegalEvent, evolve};
pub use proposal::{
    Body, Change, CommitMode, PROPOSAL_FORMAT, Proposal, RecoveryTier, RetryClass, Rules, Target,
    TargetCheck, TargetKey, WriteClass, proposal_digest, version_text, version_value,
};
pub use raw::{RAW_ANSWER_KEPT, RawAnswer};
pub use record::Operation;
pub use requirement::{Compared, MatchedRule, Needed, NotCounted, Requirement};
pub use state::{State, UnknownState};

//! Wire types: the JSON of the socket, shared by the routes and the CLI.
//!
//! Requests ([`request`]) are written by clients with serde and read by the daemon with the strict reader of
//! `api::strict`. Views are made from stored data only and read back by the CLI; members that nobody knows are left
//! out, never null. What it never does: decide anything, or read a clock or a store.

mod event;
mod explain;
mod lists;
mod operation;
mod parts;
mod pauses;
mod policy;
pub mod request;
mod result;
mod run;
mod token;
mod warning;

pub use event::{EventView, Eyes, SubjectView};
pub use explain::{BesideView, DeniedView, ExplainView, RuleView};
pub use lists::{
    Accepted, CatalogView, ContractView, Health, HealthState, InboxItem, InboxView, Page, Progress,
    ReloadedView,
};
pub use operation::{
    CommandAnswer, CommandResult, Lens, OperationDetail, OperationView, Receipts, RequestView,
};
pub use parts::{
    AttemptView, ChangeView, ClocksView, DecisionView, DoubtView, EffectView, LateView, OutcomeView,
    TargetView, WaitView,
};
pub use pauses::{PauseView, PausesView};
pub use policy::{MatchedView, NeededView, PolicyView};
pub use result::{RawAnswerView, ResourceView, ResultView};
pub use run::{CallView, IssuedRunView, RunView};
pub use token::{IssuedTokenView, TokenView};
pub use warning::{ProposedView, WarningView};

use serde_json::Value;

/// Stored canonical JSON text as a value. What is no JSON is shown as the text that it is.
#[must_use]
pub(crate) fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

pub(crate) fn json_of_option(text: Option<&String>) -> Option<Value> {
    text.map(|text| json_of(text))
}

/// For members that are left out when they say nothing.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

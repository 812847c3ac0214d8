//! The inbox: what waits for people.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::LimitQuery;
use crate::api::strict::Query;
use crate::api::wire::{InboxItem, InboxView};
use crate::domain::operation::{Answer as Decision, Command, Facts, Operation, State, decide};
use crate::engine::Stored;

pub(super) async fn show(caller: Caller, Query(limit): Query<LimitQuery>) -> Answer {
    let limit = limit.items(&caller);
    let open = caller.engine().open_operations(caller.principal());
    let (mut approvals, mut unknown) = (Vec::new(), Vec::new());
    for stored in &open {
        match stored.operation.state {
            State::Proposed => approvals.push(stored),
            State::Unknown => unknown.push(stored),
            State::Approved
            | State::Executing
            | State::Succeeded
            | State::Failed
            | State::Abandoned
            | State::Denied
            | State::Expired
            | State::Cancelled
            | State::Compensating
            | State::Compensated
            | State::CompensationFailed => {}
        }
    }
    approvals.sort_by_key(|stored| (stored.operation.proposal.decide_by, stored.operation.id()));
    unknown.sort_by_key(|stored| {
        let doubt = stored.operation.doubt.as_ref();
        let paused = doubt.is_some_and(|doubt| doubt.paused.is_some());
        (!paused, doubt.map(|doubt| doubt.since), stored.operation.id())
    });
    let item = |stored: &&std::sync::Arc<Stored>| item(&caller, stored);
    let view = InboxView {
        approvals_total: approvals.len(),
        unknown_total: unknown.len(),
        approvals: approvals.iter().take(limit).map(item).collect(),
        unknown: unknown.iter().take(limit).map(item).collect(),
    };
    json(StatusCode::OK, &view)
}

fn item(caller: &Caller, stored: &Stored) -> InboxItem {
    let operation = &stored.operation;
    let now = caller.now();
    let doubt = operation.doubt.as_ref();
    let refusal = refusal(caller, operation);
    InboxItem {
        age_ms: now.since(doubt.map_or(operation.proposal.created, |doubt| doubt.since)).0,
        paused: doubt.is_some_and(|doubt| doubt.paused.is_some()),
        yours: refusal.is_none(),
        why_not: refusal,
        operation: caller.row(stored),
    }
}

/// Asks the one place that decides, without doing it.
fn refusal(caller: &Caller, operation: &Operation) -> Option<String> {
    let command = if operation.state == State::Proposed {
        Command::Approve { digest: operation.proposal.proposal_sha256, note: None }
    } else {
        Command::Abandon { reason: "?".to_owned() }
    };
    let facts = Facts { now: caller.now(), by: caller.principal(), jitter: 0 };
    match decide(operation, &command, &facts).answer {
        Decision::Done => None,
        Decision::Already(words) => Some(words),
        Decision::Refused(refusal) => Some(refusal.detail),
    }
}

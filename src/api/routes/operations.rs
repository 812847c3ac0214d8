//! Operations: listed, shown, their history.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::{EventsQuery, ListQuery, NoQuery, WaitQuery};
use crate::api::strict::{Id, Query};
use crate::api::wire::{EventView, Eyes, Page, RawAnswerView};
use crate::domain::ids::OperationId;
use crate::engine::{PageQuery, fact_of};

pub(super) async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Answer {
    let limit = query.limit.items(&caller);
    let wanted = PageQuery { states: query.states, before: query.before, limit };
    let page = caller.engine().page(&wanted, caller.principal())?;
    let items: Vec<_> = page.operations.iter().map(|stored| caller.row(stored)).collect();
    let next = page.next.map(|id| id.to_string());
    json(StatusCode::OK, &Page { items, next, unreadable: page.unreadable })
}

pub(super) async fn show(caller: Caller, Id(id): Id<OperationId>, Query(query): Query<WaitQuery>) -> Answer {
    let stored = caller.engine().operation(id, caller.principal())?;
    let stored = query.wait(&caller, stored).await;
    json(StatusCode::OK, &caller.detail(&stored)?)
}

pub(super) async fn events(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(query): Query<EventsQuery>,
) -> Answer {
    let history = caller.engine().history(id, caller.principal())?;
    let limit = query.limit.items(&caller);
    let (sees, redact) = (|id| caller.sees(id), |id, receipt| caller.redacted(id, receipt));
    let eyes = Eyes { sees: &sees, redact: &redact, parts: caller.sees_parts() };
    let mut later = history.iter().filter(|entry| u64::from(entry.number) > query.after);
    let mut items = Vec::new();
    for entry in later.by_ref().take(limit) {
        items.push(EventView::of(entry, fact_of(entry)?.as_ref(), eyes));
    }
    let more = later.next().is_some();
    let next = items.last().filter(|_| more).map(|event| event.number.to_string());
    json(StatusCode::OK, &Page { items, next, unreadable: 0 })
}

pub(super) async fn answer(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
) -> Answer {
    let raw = caller.engine().raw_answer(id, caller.principal())?;
    json(StatusCode::OK, &RawAnswerView::from(&raw))
}

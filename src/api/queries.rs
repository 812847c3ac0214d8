//! The query parameters of each kind of route, and how long a long poll waits.

use std::time::Duration;

use super::caller::Caller;
use super::strict::{Count, Fields, FromFields, States, Text, Wait};
use crate::domain::ids::OperationId;
use crate::domain::operation::{State, Wait as Waits};
use crate::engine::Stored;
use std::sync::Arc;

/// Routes that take none.
pub(super) struct NoQuery;

impl FromFields for NoQuery {
    fn read(_: &mut Fields) -> Option<NoQuery> {
        Some(NoQuery)
    }
}

/// `?wait=`, and on an operation `&after=`.
pub(super) struct WaitQuery {
    wait: Option<Duration>,
    after: Option<u64>,
}

impl FromFields for WaitQuery {
    fn read(fields: &mut Fields) -> Option<WaitQuery> {
        let wait = fields.optional::<Wait>("wait").map(|wait| wait.0);
        let after = fields.optional::<Count>("after").map(|count| count.0);
        if after.is_some() && wait.is_none() {
            fields.refuse("after", "goes with `wait`: how many events are known already");
        }
        Some(WaitQuery { wait, after })
    }
}

/// `?wait=` of a command: until what follows from it has ended.
pub(super) struct CommandQuery(WaitQuery);

impl FromFields for CommandQuery {
    fn read(fields: &mut Fields) -> Option<CommandQuery> {
        let wait = fields.optional::<Wait>("wait").map(|wait| wait.0);
        Some(CommandQuery(WaitQuery { wait, after: None }))
    }
}

impl CommandQuery {
    pub(super) async fn wait(&self, caller: &Caller, stored: Arc<Stored>) -> Arc<Stored> {
        self.0.wait(caller, stored).await
    }
}

impl WaitQuery {
    /// The newest version after the wait. What cannot be seen any more is shown as it was.
    pub(super) async fn wait(&self, caller: &Caller, stored: Arc<Stored>) -> Arc<Stored> {
        let Some(wait) = self.wait else { return stored };
        let until = |stored: &Stored| match self.after {
            Some(after) => u64::from(stored.operation.events) > after,
            None => rests(stored),
        };
        if until(&stored) {
            return stored;
        }
        let id = stored.operation.id();
        let time = wait.min(caller.settings().max_wait);
        tokio::select! {
            waited = caller.engine().wait(id, caller.principal(), until, time) => waited.unwrap_or(stored),
            () = caller.api().stopping().cancelled() => {
                caller.engine().operation(id, caller.principal()).unwrap_or(stored)
            }
        }
    }
}

/// Nothing will be heard of it soon: it has ended, its outcome is unknown, or it is paused.
fn rests(stored: &Stored) -> bool {
    let operation = &stored.operation;
    let paused = operation.wait.as_ref().is_some_and(|waiting| matches!(waiting.wait, Waits::Paused(_)));
    operation.state.is_ended() || operation.state == State::Unknown || paused
}

/// `?limit=`
pub(super) struct LimitQuery {
    limit: Option<u64>,
}

impl LimitQuery {
    fn take(fields: &mut Fields) -> LimitQuery {
        let limit = fields.optional::<Count>("limit").map(|count| count.0);
        if limit == Some(0) {
            fields.refuse("limit", "a page has at least one item");
        }
        LimitQuery { limit }
    }

    /// Items of this page; more than the most are cut to it.
    pub(super) fn items(&self, caller: &Caller) -> usize {
        let settings = caller.settings();
        let limit = self.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        limit.unwrap_or(settings.page_default).min(settings.page_max)
    }
}

impl FromFields for LimitQuery {
    fn read(fields: &mut Fields) -> Option<LimitQuery> {
        Some(LimitQuery::take(fields))
    }
}

/// `GET /v1/operations`
pub(super) struct ListQuery {
    pub(super) states: Vec<State>,
    pub(super) before: Option<OperationId>,
    pub(super) limit: LimitQuery,
}

impl FromFields for ListQuery {
    fn read(fields: &mut Fields) -> Option<ListQuery> {
        let states = fields.optional::<States>("state").map(|states| states.0).unwrap_or_default();
        let cursor = fields.optional::<Text>("cursor");
        let before = cursor.and_then(|cursor| match cursor.0.parse() {
            Ok(before) => Some(before),
            Err(_) => {
                fields.refuse("cursor", "this is no cursor of such a list: take `next` of the page before");
                None
            }
        });
        Some(ListQuery { states, before, limit: LimitQuery::take(fields) })
    }
}

/// `GET /v1/policy/explain?operation=`
pub(super) struct ExplainQuery {
    pub(super) operation: OperationId,
}

impl FromFields for ExplainQuery {
    fn read(fields: &mut Fields) -> Option<ExplainQuery> {
        Some(ExplainQuery { operation: fields.required("operation")? })
    }
}

/// Events after a place: `?after=` or, the same, the `cursor` of the page before.
pub(super) struct EventsQuery {
    pub(super) after: u64,
    pub(super) limit: LimitQuery,
}

impl FromFields for EventsQuery {
    fn read(fields: &mut Fields) -> Option<EventsQuery> {
        let after = fields.optional::<Count>("after");
        let cursor = fields.optional::<Count>("cursor");
        if after.is_some() && cursor.is_some() {
            fields.refuse("cursor", "give `after` or `cursor`, not both");
        }
        let after = after.or(cursor).map_or(0, |count| count.0);
        Some(EventsQuery { after, limit: LimitQuery::take(fields) })
    }
}

/// `GET /v1/events`
pub(super) struct StreamQuery {
    pub(super) after: Option<u64>,
}

impl FromFields for StreamQuery {
    fn read(fields: &mut Fields) -> Option<StreamQuery> {
        Some(StreamQuery { after: fields.optional::<Count>("after").map(|count| count.0) })
    }
}

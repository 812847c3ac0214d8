//! The event stream: the journal as server-sent events.

use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

use crate::api::answer::{Answer, Refused};
use crate::api::caller::Caller;
use crate::api::queries::StreamQuery;
use crate::api::stream::follow;
use crate::api::strict::Query;
use crate::domain::Code;
use crate::domain::problem::Problem;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) async fn stream(caller: Caller, Query(query): Query<StreamQuery>, headers: HeaderMap) -> Answer {
    let head = caller.engine().published().head();
    let after = match last_event_id(&headers)?.or(query.after) {
        // Without a place: what happens from now on.
        None => head,
        Some(after) if after <= head => after,
        Some(_) => {
            let detail = "the journal does not reach that far: it may have been restored. Begin again with 0";
            return Err(Problem::new(Code::InvalidArgument, detail).pointer("/Last-Event-ID").into());
        }
    };
    let mut response = Response::new(follow(caller, after));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Refused> {
    let Some(id) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    match id.to_str().ok().and_then(|id| id.parse().ok()) {
        Some(id) => Ok(Some(id)),
        None => {
            let detail = "a Last-Event-ID is the `id` of an event of this stream: a number";
            Err(Problem::new(Code::InvalidArgument, detail).pointer("/Last-Event-ID").into())
        }
    }
}

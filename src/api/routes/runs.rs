//! Runs: opened, shown, used for reads and proposals, cancelled.

use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use crate::api::answer::{Answer, Refused, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::{Id, JsonBody, Query};
use crate::api::wire::request::{
    CallBody, EmptyBody, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, OpenRunBody, ProposeBody, ToolRef,
};
use crate::api::wire::{CallView, IssuedRunView, ProposedView, RunView, WarningView};
use crate::domain::Code;
use crate::domain::ids::RunId;
use crate::domain::problem::Problem;
use crate::domain::token::Secret;
use crate::domain::trace::{TRACEPARENT, TraceId};
use crate::engine::{CallRequest, OpenRun, OpenedRun, ProposeRequest};

pub(super) async fn open(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<OpenRunBody>,
) -> Answer {
    let request = OpenRun {
        purpose: body.purpose,
        tools: body.tools.iter().map(ToString::to_string).collect(),
        deadline: body.deadline,
        key: idempotency_key(&headers)?,
        trace: trace(&headers),
    };
    let OpenedRun { run, secret } = caller.engine().open_run(caller.principal(), request).await?;
    let replayed = secret.is_none();
    let view = RunView::of(&run, caller.now());
    created(&IssuedRunView { run: view, token: secret.map(Secret::reveal) }, replayed)
}

pub(super) async fn token(
    caller: Caller,
    Id(run): Id<RunId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let (run, secret) = caller.engine().reissue_run_token(run, caller.principal()).await?;
    let run = RunView::of(&run, caller.now());
    json(StatusCode::CREATED, &IssuedRunView { run, token: Some(secret.reveal()) })
}

/// The trace that the client is in. A header that is none, or two of them, are no trace, as the recommendation wants it.
fn trace(headers: &HeaderMap) -> Option<TraceId> {
    let mut given = headers.get_all(TRACEPARENT).iter();
    let trace = given.next()?.to_str().ok().and_then(TraceId::parse);
    trace.filter(|_| given.next().is_none())
}

pub(super) async fn show(caller: Caller, Id(run): Id<RunId>, Query(NoQuery): Query<NoQuery>) -> Answer {
    let run = caller.engine().run(run, caller.principal())?;
    json(StatusCode::OK, &RunView::of(&run, caller.now()))
}

pub(super) async fn call(
    caller: Caller,
    Id(run): Id<RunId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<CallBody>,
) -> Answer {
    let request =
        CallRequest { tool: body.tool.name.clone(), major: body.tool.major, arguments: body.arguments };
    let result = caller.engine().call(run, caller.principal(), request).await?;
    let classification = "untrusted".to_owned();
    let warnings = warnings(&caller, &body.tool);
    let view = CallView { id: result.id, tool: body.tool, classification, data: result.data, warnings };
    json(StatusCode::OK, &view)
}

pub(super) async fn propose(
    caller: Caller,
    Id(run): Id<RunId>,
    Query(NoQuery): Query<NoQuery>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ProposeBody>,
) -> Answer {
    let request = ProposeRequest {
        tool: body.tool.name.clone(),
        major: body.tool.major,
        arguments: body.arguments,
        based_on: body.based_on,
        purpose: body.purpose,
        supersedes: body.supersedes,
        key: idempotency_key(&headers)?,
    };
    let proposed = caller.engine().propose(run, caller.principal(), request).await?;
    let warnings = warnings(&caller, &body.tool);
    created(&ProposedView { operation: caller.view(&proposed.stored), warnings }, proposed.replayed)
}

pub(super) async fn cancel(
    caller: Caller,
    Id(run): Id<RunId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let run = caller.engine().cancel_run(run, caller.principal()).await?;
    json(StatusCode::OK, &RunView::of(&run, caller.now()))
}

/// What the life of a tool says to its callers.
fn warnings(caller: &Caller, tool: &ToolRef) -> Vec<WarningView> {
    let current = caller.engine().parts().tools.current(&tool.name, tool.major);
    current.and_then(|current| WarningView::of(&tool.to_string(), &current.life())).into_iter().collect()
}

/// 201 for something new; 200 and a header for what was created before under the same key.
fn created<T: serde::Serialize>(view: &T, replayed: bool) -> Answer {
    if !replayed {
        return json(StatusCode::CREATED, view);
    }
    let mut response = json(StatusCode::OK, view)?;
    let name = HeaderName::from_static(IDEMPOTENT_REPLAYED);
    response.headers_mut().insert(name, HeaderValue::from_static("true"));
    Ok(response)
}

/// The key of a creating request. The engine says what a good one is; here it only has to be one text.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refused> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let refuse =
        |detail: &str| Refused::from(Problem::new(Code::InvalidArgument, detail).pointer("/Idempotency-Key"));
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => match key.to_str() {
            Ok(key) => Ok(Some(key.to_owned())),
            Err(_) => Err(refuse("an Idempotency-Key has printable ASCII characters only")),
        },
        (Some(_), Some(_)) => Err(refuse("the header Idempotency-Key is given more than once")),
    }
}

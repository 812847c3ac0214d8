//! From a request to what becomes of it: record it, see whether a fault interferes, do the work, and put the
//! fault's answer in the place of the right one.

use std::{sync::Arc, time::Duration};

use hyper::header::{CONTENT_LENGTH, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::json;

use super::{
    Service, Shared,
    answer::{Answer, Reply, Sever},
    body::AnswerBody,
    domain::{Domain, Kind},
    faults::Fault,
    record::Entry,
    request::{Blind, Request},
    switchboard::Facts,
};

/// The routes of the sandbox itself.
const ADMIN: &str = "/_sandbox/";

/// What becomes of a request: a reply, or the end of its connection. Nothing is told before what it rests on
/// is on the disk.
pub(super) async fn answer<D: Domain>(service: &Arc<Service<D>>, request: Request) -> Result<Reply, Sever> {
    let result = if request.path.starts_with(ADMIN) {
        Ok(service.lock().admin(&request).into())
    } else {
        let route = D::route(&request.method, &request.path);
        business(service, request, route).await
    };
    match service.syncer.settle().await {
        Ok(()) => result,
        // Whether it will still be true after a power cut is not known, so nothing is said.
        Err(_) => Err(Sever::Close),
    }
}

async fn business<D: Domain>(
    service: &Arc<Service<D>>,
    mut request: Request,
    route: D::Route,
) -> Result<Reply, Sever> {
    let (fault, epoch) = {
        let mut shared = service.lock();
        let fault = shared.interference(&request, &route);
        if !service.quiet_requests {
            let received = request.received(fault.as_ref().map(Fault::name), false);
            match shared.record(Entry::Request(received)) {
                Ok(number) => request.record = Some(number),
                Err(_) => return Ok(Answer::json(500, &json!({"code": "LEDGER_NOT_WRITABLE"})).into()),
            }
        }
        match fault {
            None => return Ok(shared.handle(&request, &route, false).into()),
            Some(fault) => (fault, shared.epoch),
        }
    };
    if let Some(instead) = not_applied::<D>(&fault) {
        return instead;
    }
    let answer = applied(service, &request, &route, &fault, epoch).await?;
    distort::<D>(&fault, answer)
}

impl<D: Domain> Shared<D> {
    /// The fault that interferes with this request, if one does.
    fn interference(&mut self, request: &Request, route: &D::Route) -> Option<Fault> {
        if self.switchboard.is_empty() && self.chaos.is_none() {
            return None;
        }
        let key = D::status_key(route).or_else(|| request.key());
        let kind = D::kind(route);
        let outcome = if kind == Kind::Status { key.and_then(|key| self.world.keys.get(key)) } else { None };
        let age_ms = outcome.map(|record| self.world.now_ms().saturating_sub(record.at_ms));
        let id = D::id(route);
        let facts =
            Facts { kind, method: &request.method, path: &request.path, key, id: id.as_deref(), age_ms };
        self.switchboard.pick(&facts).or_else(|| self.chaos.as_mut()?.draw(kind, age_ms))
    }
}

/// What faults answer that do not let the request be looked at.
fn not_applied<D: Domain>(fault: &Fault) -> Option<Result<Reply, Sever>> {
    let unavailable = || Answer::json(503, &json!({"code": "UNAVAILABLE"}));
    let answer = match fault {
        Fault::DropBeforeApply { reset: true } => return Some(Err(Sever::Reset)),
        Fault::DropBeforeApply { reset: false } | Fault::StatusDown { close: true } => {
            return Some(Err(Sever::Close));
        }
        Fault::StatusDown { close: false } | Fault::UnavailableBefore {} => unavailable(),
        Fault::RateLimited { retry_after } => {
            Answer::json(429, &json!({"code": "RATE_LIMITED"})).with(RETRY_AFTER, &retry_after.to_string())
        }
        Fault::Reject { status, body } => Answer::json(*status, body),
        Fault::StatusWrong {} => Answer::json(
            200,
            &json!({
                "status": "succeeded",
                "operation_id": "op_of_somebody_else",
                "request_sha256": "0".repeat(64),
                "result": {},
            }),
        ),
        Fault::StatusLag { .. } => Answer::json(404, &json!({"code": "NO_SUCH_OPERATION"})),
        Fault::Redirect { location } => Answer::json(307, &json!({"code": "MOVED"})).with(LOCATION, location),
        Fault::ExpiredToken {} => Answer::json(401, &json!({"code": "TOKEN_EXPIRED"}))
            .with(WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""),
        Fault::OtherTenant {} => Answer::json(404, &json!({"code": D::MISSING})),
        _ => return None,
    };
    Some(Ok(answer.into()))
}

/// Does the work, when and as often as the fault says.
async fn applied<D: Domain>(
    service: &Arc<Service<D>>,
    request: &Request,
    route: &D::Route,
    fault: &Fault,
    epoch: u64,
) -> Result<Answer, Sever> {
    match fault {
        Fault::Hang {} => std::future::pending().await,
        Fault::Delay { ms } => {
            // A task of its own: the work goes on when the client has gone away.
            let late = tokio::spawn(late(Arc::clone(service), request.clone(), route.clone(), *ms, epoch));
            late.await.ok().flatten().ok_or(Sever::Close)
        }
        Fault::LateArrival { ms, status } => {
            tokio::spawn(late(Arc::clone(service), request.clone(), route.clone(), *ms, epoch));
            let status = status.ok_or(Sever::Close)?;
            Ok(Answer::json(status, &json!({"code": "UNAVAILABLE"})))
        }
        Fault::ApplyThenDelay { ms } | Fault::StatusSlow { ms } => {
            let answer = service.lock().handle(request, route, false);
            tokio::time::sleep(Duration::from_millis(*ms)).await;
            Ok(answer)
        }
        Fault::DuplicateDelivery {} => {
            let mut shared = service.lock();
            let answer = shared.handle(request, route, false);
            let mut again = request.clone();
            if !service.quiet_requests {
                let received = request.received(Some(fault.name()), true);
                let number = shared.record(Entry::Request(received)).map_err(|_| Sever::Close)?;
                again.record = Some(number);
            }
            shared.handle(&again, route, false);
            Ok(answer)
        }
        Fault::VersionBump {} => {
            let mut shared = service.lock();
            if let Some(id) = D::id(route) {
                shared.bump(&id);
            }
            Ok(shared.handle(request, route, false))
        }
        Fault::IgnoreKey {} => Ok(service.lock().handle(request, route, true)),
        Fault::IgnoreReuse {} | Fault::IgnoreVersion {} | Fault::IgnoreTenant {} => {
            Ok(service.lock().handle(&request.seen_by(blind_by(fault)), route, false))
        }
        Fault::ApplyTwice {} => {
            let mut shared = service.lock();
            let answer = shared.handle(request, route, false);
            shared.handle(&request.seen_by(blind_by(&Fault::IgnoreVersion {})), route, true);
            Ok(answer)
        }
        Fault::StatusInProgress {} => {
            let shared = service.lock();
            let Some(key) = D::status_key(route) else { return Err(Sever::Close) };
            let known = shared.world.keys.get(key);
            Ok(Answer::json(
                200,
                &json!({
                    "status": "in_progress",
                    "operation_id": known.map(|record| &record.operation_id),
                    "request_sha256": known.map(|record| &record.request_sha256),
                }),
            ))
        }
        _ => Ok(service.lock().handle(request, route, false)),
    }
}

/// What the service does not look at under this fault.
fn blind_by(fault: &Fault) -> Blind {
    Blind {
        reuse: *fault == Fault::IgnoreReuse {},
        version: *fault == Fault::IgnoreVersion {},
        tenant: *fault == Fault::IgnoreTenant {},
    }
}

/// The work, `ms` later; nothing if the service was reset in between.
async fn late<D: Domain>(
    service: Arc<Service<D>>,
    request: Request,
    route: D::Route,
    ms: u64,
    epoch: u64,
) -> Option<Answer> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    let mut shared = service.lock();
    (shared.epoch == epoch).then(|| shared.handle(&request, &route, false))
}

/// Puts the fault's answer in the place of the right one, after the work was done.
fn distort<D: Domain>(fault: &Fault, answer: Answer) -> Result<Reply, Sever> {
    let replaced = |status, body: Vec<u8>| Ok(Reply::from(Answer::bytes(status, body)));
    match fault {
        Fault::ApplyThenDrop {} => Err(Sever::Close),
        Fault::ApplyThenReset {} => Err(Sever::Reset),
        Fault::ApplyThenMalformed {} => replaced(200, D::HALF_A_BODY.to_vec()),
        Fault::ApplyThenWrongShape {} => replaced(200, br#"{"ok":true,"id":123}"#.to_vec()),
        Fault::ApplyThen5xx { status } => replaced(*status, br#"{"code":"INTERNAL"}"#.to_vec()),
        Fault::UnavailableAfter {} => replaced(503, br#"{"code":"UNAVAILABLE"}"#.to_vec()),
        Fault::ApplyThenPartialBody {} => {
            let whole = answer.body.len();
            let mut answer = answer.with(CONTENT_LENGTH, &whole.to_string());
            let mut half = std::mem::take(&mut answer.body);
            half.truncate(whole / 2);
            Ok(Reply { answer, body: Some(AnswerBody::partial(half)) })
        }
        Fault::HugeBody { bytes } => {
            let body = Some(AnswerBody::huge(*bytes));
            Ok(Reply { answer: Answer::bytes(200, Vec::new()), body })
        }
        Fault::DeepBody { depth } => {
            let depth = usize::try_from(*depth).unwrap_or(usize::MAX);
            let mut body = vec![b'['; depth];
            body.resize(depth * 2, b']');
            replaced(200, body)
        }
        Fault::InvalidUtf8Body {} => Ok(in_first_string(answer, b"\xff").into()),
        Fault::SurrogateBody {} => Ok(in_first_string(answer, b"\\ud800").into()),
        Fault::DuplicateKeyBody {} => Ok(first_member_twice(answer).into()),
        _ => Ok(answer.into()),
    }
}

/// The answer with these bytes at the start of the first string value.
fn in_first_string(mut answer: Answer, bytes: &[u8]) -> Answer {
    const MARK: &[u8] = b"\":\"";
    if let Some(at) = answer.body.windows(MARK.len()).position(|window| window == MARK) {
        let at = at + MARK.len();
        answer.body.splice(at..at, bytes.iter().copied());
    }
    answer
}

/// The answer with its first member once more at the end, as null.
fn first_member_twice(mut answer: Answer) -> Answer {
    let Some(end) = answer.body.iter().skip(2).position(|byte| *byte == b'"') else { return answer };
    let name = answer.body[1..end + 3].to_vec();
    if answer.body.pop() == Some(b'}') {
        answer.body.push(b',');
        answer.body.extend(name);
        answer.body.extend(b":null}");
    }
    answer
}

//! Who calls: whoever brings a token is its principal; else, on the socket, the kernel's word about the peer and the name
//! that it chose. A [`Caller`] is the proof that this was looked at, and the only way from a route to the engine.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use serde_json::Value;

use super::answer::Refused;
use super::routes::Access;
use super::wire::request::AS_HEADER;
use super::wire::{ChangeView, Lens, OperationDetail, OperationView, Receipts, ResultView};
use super::{Api, Settings};
use crate::domain::Code;
use crate::domain::Time;
use crate::domain::ids::OperationId;
use crate::domain::operation::{Body, Operation};
use crate::domain::principal::{Principal, PrincipalKind, Role};
use crate::domain::problem::Problem;
use crate::engine::{Handle, Stored, no_good_token};
use crate::ports::Audience;

/// The account at the other end of a connection, by the kernel. Never its pid: pids are reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The account.
    pub uid: u32,
}

/// An authenticated principal with the engine.
pub(super) struct Caller {
    principal: Principal,
    engine: Handle,
    api: Api,
}

impl Caller {
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }

    pub(super) fn engine(&self) -> &Handle {
        &self.engine
    }

    pub(super) fn settings(&self) -> &Settings {
        self.api.settings()
    }

    pub(super) fn api(&self) -> &Api {
        &self.api
    }

    pub(super) fn now(&self) -> Time {
        self.engine.parts().clock.now()
    }

    /// Whether the token that this caller brought is still worth the same; streams outlive tokens.
    pub(super) fn is_still_known(&self) -> bool {
        self.engine.still_known(&self.principal)
    }

    /// Whether this caller may see an operation.
    pub(super) fn sees(&self, id: OperationId) -> bool {
        self.engine.operation(id, &self.principal).is_ok()
    }

    /// Who holds the target of an operation that waits for it, where this caller may know.
    fn blocker(&self, waiting: &Operation, met: OperationId) -> Option<OperationId> {
        let holder = self.engine.published().holder(waiting, met)?;
        self.sees(holder).then_some(holder)
    }

    pub(super) fn view(&self, stored: &Stored) -> OperationView {
        self.with_receipts(stored, |receipts| self.view_with(stored, receipts))
    }

    /// Without receipts, for lists.
    pub(super) fn row(&self, stored: &Stored) -> OperationView {
        self.view_with(stored, Receipts::Hidden)
    }

    fn view_with(&self, stored: &Stored, receipts: Receipts<'_>) -> OperationView {
        let blocker = |waiting: &Operation, met| self.blocker(waiting, met);
        OperationView::of(&stored.operation, Lens { now: self.now(), blocker: &blocker, receipts })
    }

    pub(super) fn detail(&self, stored: &Stored) -> Result<OperationDetail, Refused> {
        let body = self.engine.body(stored.operation.id())?;
        let blocker = |waiting: &Operation, met| self.blocker(waiting, met);
        Ok(self.with_receipts(stored, |receipts| {
            let lens = Lens { now: self.now(), blocker: &blocker, receipts };
            let mut detail = OperationDetail::of(&stored.operation, &body, lens);
            detail.result = self.result(stored, receipts);
            detail.since_superseded = self.since_superseded(stored, &body);
            detail
        }))
    }

    /// The fields that this proposal leaves otherwise than the one that it replaces; both were shown to people.
    fn since_superseded(&self, stored: &Stored, body: &Body) -> Option<Vec<ChangeView>> {
        let old = stored.operation.proposal.supersedes?;
        self.engine.operation(old, &self.principal).ok()?;
        let old = self.engine.body(old).ok()?;
        Some(ChangeView::between(&old.changes, &body.changes))
    }

    fn result(&self, stored: &Stored, receipts: Receipts<'_>) -> Option<ResultView> {
        let tool = self.engine.tool_of(&stored.operation.proposal).ok()?;
        let receipt = receipts.whole_of(&stored.operation);
        let facts = receipt.map(|receipt| tool.read_receipt(&receipt)).unwrap_or_default();
        ResultView::of(&stored.operation, &facts, tool.data_class(), receipts)
    }

    /// Whether a person asks who judges or looks after writes.
    pub(super) fn is_person(&self) -> bool {
        self.audience() != Audience::Agent
    }

    /// With which eyes this caller sees the data of services.
    fn audience(&self) -> Audience {
        let person = match self.principal.kind {
            PrincipalKind::User | PrincipalKind::Operator => true,
            PrincipalKind::Agent | PrincipalKind::Service => false,
        };
        let roles = [
            (Role::Operator, Audience::Operator),
            (Role::Approver, Audience::Approver),
            (Role::Auditor, Audience::Auditor),
        ];
        let found = roles.into_iter().find(|(role, _)| person && self.principal.has(*role));
        found.map_or(Audience::Agent, |(_, audience)| audience)
    }

    /// A receipt as this caller may see it. Where the contract cannot be had, only people see it: nobody knows what was
    /// to be redacted.
    pub(super) fn redacted(&self, id: OperationId, receipt: Value) -> Value {
        let audience = self.audience();
        let tool = self.engine.operation(id, &self.principal);
        match tool.map(|stored| self.engine.tool_of(&stored.operation.proposal)) {
            Ok(Ok(tool)) => tool.redact(audience, receipt),
            Ok(Err(_)) | Err(_) if audience == Audience::Agent => Value::Null,
            Ok(Err(_)) | Err(_) => receipt,
        }
    }

    /// Whether this caller sees the receipts of the parts of a partial effect.
    pub(super) fn sees_parts(&self) -> bool {
        self.audience() != Audience::Agent
    }

    fn with_receipts<T>(&self, stored: &Stored, show: impl FnOnce(Receipts<'_>) -> T) -> T {
        let id = stored.operation.id();
        let redact = |receipt| self.redacted(id, receipt);
        show(Receipts::Shown { redact: &redact, parts: self.sees_parts() })
    }
}

impl FromRequestParts<Api> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Caller, Refused> {
        let engine = api.0.engine.get();
        let principal = if parts.headers.contains_key(AUTHORIZATION) {
            // Who brings a token learns nothing before it can be looked at; the account counts for nothing then.
            let Some(engine) = engine else { return Err(not_yet()) };
            bearer(parts, engine)?
        } else {
            identify(parts, api)?
        };
        let Some(engine) = engine else { return Err(starting(api)) };
        let for_runs = parts.extensions.get::<Access>().is_some_and(|access| access.run);
        if principal.run.is_some() && !for_runs {
            let detail =
                "the token of a run is for the calls, proposals and operations of this run, and nothing else";
            return Err(Problem::new(Code::PermissionDenied, detail).into());
        }
        Ok(Caller { principal, engine: engine.clone(), api: api.clone() })
    }
}

fn bearer(parts: &Parts, engine: &Handle) -> Result<Principal, Refused> {
    if parts.headers.contains_key(AS_HEADER) {
        let detail = "a token says who brings it: leave the header Writd-As away";
        return Err(Problem::new(Code::InvalidArgument, detail).pointer("/Writd-As").into());
    }
    let mut given = parts.headers.get_all(AUTHORIZATION).iter();
    let one = given.next().filter(|_| given.next().is_none()).and_then(|value| value.to_str().ok());
    let (scheme, token) = one.and_then(|value| value.split_once(' ')).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(no_good_token().into());
    }
    Ok(engine.bearer(token)?)
}

fn identify(parts: &Parts, api: &Api) -> Result<Principal, Refused> {
    let unknown = |why: String| Refused::from(Problem::new(Code::Unauthenticated, why));
    // On the network there is no account.
    let Some(peer) = parts.extensions.get::<Peer>() else { return Err(no_good_token().into()) };
    let mut names = parts.headers.get_all(AS_HEADER).iter();
    let name = match (names.next(), names.next()) {
        (None, _) => None,
        // What is not text is no name of ours; it is answered like one.
        (Some(name), None) => Some(name.to_str().unwrap_or("\u{fffd}")),
        (Some(_), Some(_)) => return Err(unknown("the header Writd-As is given more than once".to_owned())),
    };
    (api.settings().identify)(peer.uid, name).map_err(unknown)
}

fn not_yet() -> Refused {
    Problem::new(Code::Unavailable, "the daemon is starting").retry_after(1).into()
}

/// Nothing is answered before the store is read; whoever asks again in a second is early enough.
pub(super) fn starting(api: &Api) -> Refused {
    let detail = match api.health().progress {
        Some(progress) => match progress.total {
            Some(total) => {
                format!("the daemon is starting: {} ({} of {total})", progress.phase, progress.done)
            }
            None => format!("the daemon is starting: {} ({})", progress.phase, progress.done),
        },
        None => "the daemon is starting".to_owned(),
    };
    Problem::new(Code::Unavailable, detail).retry_after(1).into()
}

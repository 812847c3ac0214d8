//! Who calls: the kernel's word about the peer and the name that it chose. A [`Caller`] is the proof that both were
//! looked at, and the only way from a route to the engine.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::Value;

use super::answer::Refused;
use super::wire::request::AS_HEADER;
use super::wire::{ChangeView, Lens, OperationDetail, OperationView, Receipts, ResultView};
use super::{Api, Settings};
use crate::domain::Code;
use crate::domain::Time;
use crate::domain::ids::OperationId;
use crate::domain::operation::{Body, Operation};
use crate::domain::principal::{Principal, PrincipalKind, Role};
use crate::domain::problem::Problem;
use crate::engine::{Handle, Stored};
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
        let principal = identify(parts, api)?;
        let Some(engine) = api.0.engine.get() else { return Err(starting(api)) };
        Ok(Caller { principal, engine: engine.clone(), api: api.clone() })
    }
}

fn identify(parts: &Parts, api: &Api) -> Result<Principal, Refused> {
    let unknown = |why: String| Refused::from(Problem::new(Code::Unauthenticated, why));
    let Some(peer) = parts.extensions.get::<Peer>() else {
        return Err(unknown("the account of the peer is not known".to_owned()));
    };
    let mut names = parts.headers.get_all(AS_HEADER).iter();
    let name = match (names.next(), names.next()) {
        (None, _) => None,
        // What is not text is no name of ours; it is answered like one.
        (Some(name), None) => Some(name.to_str().unwrap_or("\u{fffd}")),
        (Some(_), Some(_)) => return Err(unknown("the header Writd-As is given more than once".to_owned())),
    };
    (api.settings().identify)(peer.uid, name).map_err(unknown)
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

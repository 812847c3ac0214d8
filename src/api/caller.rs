//! Who calls: the kernel's word about the peer and the name that it chose. A [`Caller`] is the proof that both were
//! looked at, and the only way from a route to the engine.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::answer::Refused;
use super::wire::request::AS_HEADER;
use super::wire::{Lens, OperationDetail, OperationView};
use super::{Api, Settings};
use crate::domain::Code;
use crate::domain::Time;
use crate::domain::ids::OperationId;
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::engine::{Handle, Stored};

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

    pub(super) fn view(&self, stored: &Stored) -> OperationView {
        self.view_with(stored, true)
    }

    /// Without receipts, for lists.
    pub(super) fn row(&self, stored: &Stored) -> OperationView {
        self.view_with(stored, false)
    }

    fn view_with(&self, stored: &Stored, receipts: bool) -> OperationView {
        let sees = |id| self.sees(id);
        OperationView::of(&stored.operation, Lens { now: self.now(), sees: &sees, receipts })
    }

    pub(super) fn detail(&self, stored: &Stored) -> Result<OperationDetail, Refused> {
        let body = self.engine.body(stored.operation.id())?;
        let sees = |id| self.sees(id);
        let lens = Lens { now: self.now(), sees: &sees, receipts: true };
        Ok(OperationDetail::of(&stored.operation, &body, lens))
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

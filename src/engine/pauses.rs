//! Emergency pauses: who may pause what.

use super::handle::Handle;
use super::message::Message;
use crate::domain::Code;
use crate::domain::operation::Actor;
use crate::domain::pause::{Pause, PauseScope};
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;

/// The longest name of what is paused.
const MAX_NAME_CHARS: usize = 128;
/// The longest reason.
const MAX_REASON_CHARS: usize = 1000;

impl Handle {
    /// What is paused.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub async fn pauses(&self, by: &Principal) -> Result<Vec<Pause>, Box<Problem>> {
        let may = [Role::Approver, Role::Operator, Role::Auditor, Role::Admin];
        if !may.iter().any(|role| by.has(*role)) {
            return Err(Box::new(Problem::new(
                Code::PermissionDenied,
                "this needs the role `operator`, `approver`, `auditor` or `admin`",
            )));
        }
        Ok(seen(self.ask(|reply| Message::Pauses { reply }).await?, by))
    }

    /// Pauses a tool, an adapter or a tenant: from the next claim on, nothing starts there.
    ///
    /// # Errors
    /// PERMISSION_DENIED, INVALID_ARGUMENT.
    pub async fn pause(
        &self,
        by: &Principal,
        scope: PauseScope,
        name: String,
        reason: String,
    ) -> Result<Vec<Pause>, Box<Problem>> {
        self.may_pause(by, scope, &name)?;
        let within = |text: &str, most: usize| !text.trim().is_empty() && text.chars().count() <= most;
        for (fits, pointer, detail) in [
            (within(&name, MAX_NAME_CHARS), "/name", "say what is paused, in at most 128 characters"),
            (
                within(&reason, MAX_REASON_CHARS),
                "/reason",
                "say why, in at most 1000 characters: whoever waits reads it",
            ),
        ] {
            if !fits {
                let mut problem = Problem::new(Code::InvalidArgument, detail);
                problem.pointer = Some(pointer.to_owned());
                return Err(Box::new(problem));
            }
        }
        let at = self.parts.clock.now();
        let pause = Pause { scope, name, reason, by: Actor::from(by), at };
        let paused = self.ask(|reply| Message::Pause { pause, reply }).await?;
        Ok(seen(paused, by))
    }

    /// Ends a pause; what waited because of it goes on.
    ///
    /// # Errors
    /// PERMISSION_DENIED, NOT_FOUND.
    pub async fn resume(
        &self,
        by: &Principal,
        scope: PauseScope,
        name: String,
    ) -> Result<Vec<Pause>, Box<Problem>> {
        self.may_pause(by, scope, &name)?;
        let by_whom = by.clone();
        let paused = self.ask(|reply| Message::Resume { scope, name, by: by_whom, reply }).await?;
        Ok(seen(paused, by))
    }

    /// Tools and adapters are everybody's; a tenant is paused by its own people, and by administrators.
    fn may_pause(&self, by: &Principal, scope: PauseScope, name: &str) -> Result<(), Box<Problem>> {
        let own = scope != PauseScope::Tenant || name == by.tenant;
        if by.has(Role::Admin) || (by.has(Role::Operator) && own) {
            return Ok(());
        }
        let detail = "this needs the role `operator`, for another tenant the role `admin`";
        Err(Box::new(Problem::new(Code::PermissionDenied, detail)))
    }
}

/// Other tenants are nobody's business but an administrator's.
fn seen(mut pauses: Vec<Pause>, by: &Principal) -> Vec<Pause> {
    pauses
        .retain(|pause| pause.scope != PauseScope::Tenant || pause.name == by.tenant || by.has(Role::Admin));
    pauses
}

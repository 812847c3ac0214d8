//! A new catalog in the place of the one in force: read and verified as a whole, journaled, and only then used. Work that
//! is under way keeps the contract that it began with.

use super::handle::Handle;
use super::message::Message;
use crate::domain::Code;
use crate::domain::Digest;
use crate::domain::operation::Actor;
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::ports::Staged;

/// What became of a reload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reloaded {
    /// The fingerprint that was in force.
    pub before: Digest,
    /// What is in force now.
    pub staged: Staged,
}

impl Handle {
    /// A catalog and a configuration came into force.
    ///
    /// # Errors
    /// The engine is stopping.
    pub fn loaded(&self, catalog: Digest, configuration: Digest) -> Result<(), Box<Problem>> {
        self.send(Message::Loaded { catalog, configuration })
    }

    /// Reads the contracts again and puts them in force: all of them, or none.
    ///
    /// # Errors
    /// PERMISSION_DENIED; CONFIGURATION_INVALID with every finding. The old catalog stays in force then.
    pub async fn reload(&self, by: Option<&Principal>) -> Result<Reloaded, Box<Problem>> {
        let may = [Role::Admin, Role::Operator, Role::ContractOwner];
        if by.is_some_and(|by| !may.iter().any(|role| by.has(*role))) {
            let detail = "this needs the role `contract_owner`, `operator` or `admin`";
            return Err(Box::new(Problem::new(Code::PermissionDenied, detail)));
        }
        let actor = by.map_or_else(Actor::daemon, Actor::from);
        // Whoever asked may go away: what is journaled is put in force all the same.
        let this = self.clone();
        let reloaded = tokio::spawn(async move { this.reload_now(actor).await }).await;
        reloaded.map_err(|_| {
            Box::new(Problem::new(
                Code::Internal,
                "the reload ended badly; ask what is in force: GET /v1/catalog",
            ))
        })?
    }

    async fn reload_now(&self, actor: Actor) -> Result<Reloaded, Box<Problem>> {
        // One at a time, so that the journal tells the order in which they came into force.
        let _turn = self.reloading.lock().await;
        let tools = std::sync::Arc::clone(&self.parts.tools);
        let before = tools.fingerprint();
        let staged = tokio::task::spawn_blocking(move || tools.stage()).await;
        let staged = staged.map_err(|_| {
            Box::new(Problem::new(Code::Internal, "reading the contracts ended badly; the old catalog stays"))
        })??;
        let catalog = staged.fingerprint;
        self.ask(|reply| Message::Reloaded { catalog, by: actor, reply }).await?;
        self.parts.tools.adopt(catalog);
        Ok(Reloaded { before, staged })
    }
}

//! Open runs: opened, looked up, cancelled by their client.

use std::sync::Arc;

use super::handle::{Handle, not_found, sees, unreadable};
use super::message::Message;
use super::propose::ApiKey;
use crate::domain::ids::RunId;
use crate::domain::operation::Actor;
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::domain::run::Run;
use crate::domain::token::Secret;
use crate::domain::trace::TraceId;
use crate::domain::{Code, Time};

/// What a client says when it opens a run.
#[derive(Clone, Debug, Default)]
pub struct OpenRun {
    /// Why, in its words.
    pub purpose: String,
    /// The write tools it may propose, as `name.vMAJOR`.
    pub tools: Vec<String>,
    /// Nothing starts after this.
    pub deadline: Option<Time>,
    /// `Idempotency-Key`.
    pub key: Option<String>,
    /// The trace of the request that opens it.
    pub trace: Option<TraceId>,
}

/// An opened run.
#[derive(Clone, Debug)]
pub struct OpenedRun {
    /// The run.
    pub run: Arc<Run>,
    /// Its token; none where the run was opened before under the same key.
    pub secret: Option<Secret>,
}

impl Handle {
    /// Opens a run.
    ///
    /// # Errors
    /// IDEMPOTENCY_CONFLICT, STORAGE_FULL.
    pub async fn open_run(&self, by: &Principal, request: OpenRun) -> Result<OpenedRun, Box<Problem>> {
        if !by.has(Role::Agent) || by.run.is_some() {
            return Err(Box::new(Problem::new(
                Code::PermissionDenied,
                "opening a run needs the role `agent`",
            )));
        }
        self.granted(by, &request.tools)?;
        let key = match &request.key {
            None => None,
            Some(key) => {
                let body = serde_json::json!({
                    "purpose": request.purpose, "tools": request.tools, "deadline": request.deadline,
                });
                // What is opened for one person is not found by who acts for another, or for itself.
                let scope = match &by.on_behalf_of {
                    None => "run".to_owned(),
                    Some(person) => format!("run for {person}"),
                };
                let key = ApiKey::new(key, by, &scope, &body)?;
                Some((key.scope, key.request))
            }
        };
        let seen = self.seen();
        let id = self.parts.ids.run();
        let (secret, token) = self.run_token(id, by)?;
        let run = Box::new(Run {
            id,
            tenant: by.tenant.clone(),
            opener: Actor::from(by),
            on_behalf_of: by.on_behalf_of.clone(),
            purpose: request.purpose,
            tools: request.tools,
            opened: self.parts.clock.now(),
            deadline: request.deadline,
            trace: request.trace.unwrap_or(TraceId::of_run(id)),
            contracts: seen.digest,
            ended: None,
        });
        let (run, replayed) = self.ask(|reply| Message::OpenRun { run, token, seen, key, reply }).await?;
        Ok(OpenedRun { run, secret: (!replayed).then_some(secret) })
    }

    /// A run carries no more than its opener may use. That a tool does not exist is said when it is used.
    fn granted(&self, by: &Principal, tools: &[String]) -> Result<(), Box<Problem>> {
        for (index, tool) in tools.iter().enumerate() {
            super::grants::may_use(&self.parts, by, by.on_behalf_of.as_deref(), tool).map_err(
                |mut problem| {
                    problem.pointer = Some(format!("/tools/{index}"));
                    problem
                },
            )?;
        }
        Ok(())
    }

    /// A run that this principal may see.
    ///
    /// # Errors
    /// NOT_FOUND.
    pub fn run(&self, id: RunId, by: &Principal) -> Result<Run, Box<Problem>> {
        let run = self.published.run(self.records(), id).map_err(|error| unreadable(&error))?;
        let seen = |run: &Run| {
            let opener = (run.opener.name.as_str(), run.on_behalf_of.as_deref());
            sees(by, &run.tenant, run.id, opener)
        };
        run.filter(seen).ok_or_else(not_found)
    }

    /// A run in which this principal may act now.
    pub(super) fn open_run_of(&self, id: RunId, by: &Principal) -> Result<Run, Box<Problem>> {
        let run = self.run(id, by)?;
        if run.opener.name != by.name || run.on_behalf_of != by.on_behalf_of {
            return Err(Box::new(Problem::new(Code::PermissionDenied, "only its opener acts in a run")));
        }
        if !run.is_open(self.parts.clock.now()) {
            return Err(Box::new(Problem::new(Code::DeadlineExceeded, "this run has ended")));
        }
        Ok(run)
    }

    /// Cancels a run: nothing further starts in it; what is executing is learned to its end.
    ///
    /// # Errors
    /// NOT_FOUND, PERMISSION_DENIED.
    pub async fn cancel_run(&self, id: RunId, by: &Principal) -> Result<Arc<Run>, Box<Problem>> {
        let run = self.run(id, by)?;
        if run.opener.name != by.name && !by.has(Role::Operator) && !by.has(Role::Admin) {
            let detail = "only its opener or an operator cancels a run";
            return Err(Box::new(Problem::new(Code::PermissionDenied, detail)));
        }
        let by = by.clone();
        self.ask(|reply| Message::CancelRun { id, by, reply }).await
    }
}

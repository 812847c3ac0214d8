//! Makes true what a case or a question needs: by the sandbox's own routes, or by a write of another contract.

use std::sync::Arc;

use serde_json::Value;

use super::Sandbox;
use super::service::{Sent, Service};
use crate::contracts::cases::Given;
use crate::contracts::{Classified, Contract, ToolRef};

/// One step. The error says why it is not true.
pub(in crate::kit) async fn make_true(
    service: &Service<'_>,
    sandbox: Option<&Sandbox<'_>>,
    given: &Given,
) -> Result<(), String> {
    let by = || sandbox.ok_or_else(|| "there is no sandbox that could make it true".to_owned());
    match given {
        Given::Reset => by()?.set("POST", "reset", &Value::Null).await,
        Given::Fault(fault) => by()?.set("POST", "faults", fault).await,
        Given::Put { path, body } => by()?.set("PUT", path, body).await,
        Given::Bump(id) => by()?.set("POST", &format!("bump/{id}"), &Value::Null).await,
        Given::Write { tool, args } => apply(service, tool, args).await,
    }
}

async fn apply(service: &Service<'_>, tool: &ToolRef, args: &Value) -> Result<(), String> {
    let found = service.parts.tools.current(&tool.name, tool.major);
    let found = found.ok_or_else(|| format!("`{tool}` is not in the catalog"))?;
    let contract = Contract::from_body(found.body()).map_err(|_| format!("`{tool}` cannot be read"))?;
    let other = Service::new(service.parts, &Arc::new(contract), found, service.patience);
    let write = other.prepare(args, other.identity()).await;
    let write = write.map_err(|stop| format!("{tool}: {}", stop.words()))?;
    match other.send(&write).await {
        Sent::Answered(_, Classified::Receipt(_)) => Ok(()),
        sent => Err(format!("{tool} came to {}", sent.words())),
    }
}

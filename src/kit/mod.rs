//! The contract kit, for owners of contracts: does the contract refuse what it says it refuses, and does the service
//! keep the promises that any write rests on? Owns the making of inputs, the questions, the playing of cases and the
//! reports. Called by `writd contracts test`; `doctor` reads its record.
//!
//! It asks through the parts of the daemon (admission, rendering, the HTTP adapter, classification), never through a
//! second implementation of them, and it knows the outside only by [`crate::ports`]. It needs no daemon and no approval:
//! it speaks to a service directly, so it writes for real there. Whoever calls it has asked for that.

mod cases;
pub mod generate;
mod junit;
mod live;
pub mod offline;
mod record;
mod report;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

pub use junit::junit;
pub use record::{Record, RecordError, Tested};
pub use report::{Check, Part, Report, ToolReport, Verdict};

use crate::contracts::cases::{CaseFile, Given};
use crate::contracts::{Catalog, Contract, ToolRef};
use crate::ports::{IdSource, Invoker, Tool, Toolbox};

/// The parts of the daemon that the kit asks through.
#[derive(Clone)]
pub struct Parts {
    /// The contracts as the engine sees them.
    pub tools: Arc<dyn Toolbox>,
    /// How requests are sent.
    pub invoker: Arc<dyn Invoker>,
    /// Ids and keys.
    pub ids: Arc<dyn IdSource>,
    /// Where each base is.
    pub origins: HashMap<String, String>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Only these tools; empty for all.
    pub only: Vec<ToolRef>,
    /// Whether the services are asked too.
    pub live: bool,
    /// How long a status may take to say what happened to one write.
    pub patience: Duration,
}

/// Runs the kit over a catalog: everything offline and all questions first, then the cases, which may reset a sandbox.
pub async fn run(parts: &Parts, catalog: &Catalog, files: &[CaseFile], ask: &Ask) -> Report {
    let mut tools = Vec::new();
    let wanted = |contract: &&Arc<Contract>| ask.only.is_empty() || ask.only.contains(&contract.tool_ref());
    for contract in catalog.list().filter(wanted) {
        tools.push(match parts.tools.pinned(contract.fingerprint(), contract.body()) {
            Ok(tool) => one(parts, files, ask, contract, tool).await,
            Err(why) => unusable(contract, &why),
        });
    }
    for (contract, report) in catalog.list().filter(wanted).zip(&mut tools) {
        // Cases name a major version, which is its newest minor.
        let newest = catalog.get(&contract.tool_ref()).is_some_and(|newest| Arc::ptr_eq(&newest, contract));
        let tool = parts.tools.pinned(contract.fingerprint(), contract.body());
        if let (true, true, Ok(tool)) = (ask.live, newest, tool) {
            let service = live::Service::new(parts, contract, tool, ask.patience);
            report.checks.extend(cases::play(&service, files).await);
        }
    }
    Report { tools }
}

async fn one(
    parts: &Parts,
    files: &[CaseFile],
    ask: &Ask,
    contract: &Arc<Contract>,
    tool: Arc<dyn Tool>,
) -> ToolReport {
    let suite = offline::suite_of(contract);
    let mut report = empty(contract);
    report.boundaries = suite.boundaries();
    report.checks = offline::checks(contract, tool.as_ref(), &suite);
    if ask.live {
        let service = live::Service::new(parts, contract, tool, ask.patience);
        report.origin = service.origin().map(str::to_owned);
        report
            .checks
            .extend(live::questions(&service, other_tenant(files, contract), &before(files, contract)).await);
    }
    report
}

fn other_tenant<'f>(files: &'f [CaseFile], contract: &Contract) -> Option<&'f Value> {
    let tool = contract.tool_ref();
    let named = files.iter().flat_map(|file| &file.other_tenant);
    named.into_iter().find(|(known, _)| *known == tool).map(|(_, args)| args)
}

fn before(files: &[CaseFile], contract: &Contract) -> Vec<Given> {
    let tool = contract.tool_ref();
    let named = files.iter().flat_map(|file| &file.before_questions);
    named.filter(|(known, _)| *known == tool).flat_map(|(_, steps)| steps.clone()).collect()
}

fn empty(contract: &Contract) -> ToolReport {
    ToolReport {
        tool: contract.tool_ref().to_string(),
        version: contract.version.to_string(),
        fingerprint: contract.fingerprint().to_string(),
        boundaries: 0,
        origin: None,
        checks: Vec::new(),
    }
}

fn unusable(contract: &Contract, why: &str) -> ToolReport {
    let mut report = empty(contract);
    let remedy = "writd contracts check";
    report.checks.push(Check::failed(Part::Input, "the contract can be executed", why, remedy));
    report
}

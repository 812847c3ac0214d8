//! `writd contracts retire --plan TOOL`: what still hangs on a tool before it is retired. It changes nothing: retiring is a
//! line in the contract.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{directory, refuse, stored};
use crate::api::wire::OperationView;
use crate::api::wire::request::ToolRef;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::{Catalog, Compensation, Contract, Lifecycle, Lock};
use crate::domain::operation::State;
use crate::domain::{Code, Millis, Time};

/// What still hangs on a tool.
#[derive(Args, Debug)]
pub(crate) struct RetireArgs {
    /// The tool, such as get_customer.v1
    #[arg(long, value_name = "TOOL.vN")]
    plan: ToolRef,
    /// The directory [default: as the configuration says]
    dir: Option<PathBuf>,
}

/// The plan.
#[derive(Debug, Default, Serialize)]
struct Plan {
    tool: String,
    /// Whether nothing hangs on it any more.
    clear: bool,
    lifecycle: &'static str,
    /// Roles that may see it, as `catalog.lock` pins it: take it from them first.
    seen_by: Vec<String>,
    /// Contracts that name it, and where.
    named_by: Vec<String>,
    /// Open operations, by state.
    open: BTreeMap<&'static str, Vec<String>>,
    /// Until when the service still knows a key that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys_until: Option<Time>,
    /// Operations that the daemon could not read: whether they hang on it is not known.
    unreadable: u64,
}

pub(super) fn run(args: RetireArgs, context: &Context) -> Result<(), Failure> {
    let dir = directory(args.dir, context)?;
    let catalog = match Catalog::load(&dir) {
        Ok(catalog) => catalog,
        Err(findings) => return Err(refuse(&findings, context)?),
    };
    let tool = args.plan;
    let contract = catalog.list().rfind(|one| one.tool == tool.name && one.version.major == tool.major);
    let Some(contract) = contract else {
        return Err(Failure::refusal(Code::UnsupportedTool, format!("{tool} is not in {}", dir.display())));
    };
    let mut plan = Plan { tool: tool.to_string(), lifecycle: lifecycle(contract), ..Plan::default() };
    plan.named_by = catalog.list().flat_map(|other| names(other, &tool.to_string())).collect();
    plan.seen_by =
        Lock::load(&dir).unwrap_or_default().roles_of(&contract.tool_ref()).map(str::to_owned).collect();
    let window = contract.as_write().map(|write| write.idempotency.key_window).unwrap_or(Millis(0));
    let client = context.client()?;
    let mut last = None;
    plan.unreadable = context.talk(stored::each(&client, "", |operation| {
        if of_tool(&operation, &tool) {
            if !operation.state.is_ended() {
                plan.open.entry(operation.state.as_str()).or_default().push(operation.id.to_string());
            }
            // What nobody ever began to send has used no key.
            if !matches!(operation.state, State::Proposed | State::Approved | State::Denied) {
                last = last.max(Some(operation.changed));
            }
        }
        true
    }))?;
    let now = crate::cli::commands::now();
    plan.keys_until = last.map(|last| last.plus(window)).filter(|until| *until > now);
    plan.clear =
        plan.open.is_empty() && plan.named_by.is_empty() && plan.keys_until.is_none() && plan.unreadable == 0;
    context.output.answer(&plan, || page(&plan))?;
    if plan.clear { Ok(()) } else { Err(Failure::Told(Code::Conflict)) }
}

pub(super) fn of_tool(operation: &OperationView, tool: &ToolRef) -> bool {
    let major = operation.version.split('.').next().and_then(|major| major.parse().ok());
    operation.tool == tool.name && major == Some(tool.major)
}

fn lifecycle(contract: &Contract) -> &'static str {
    match contract.lifecycle {
        Lifecycle::Active => "active",
        Lifecycle::Deprecated { .. } => "deprecated",
        Lifecycle::Retired { .. } => "retired",
    }
}

/// Where another contract names the tool.
fn names(other: &Contract, tool: &str) -> Vec<String> {
    let mut places = Vec::new();
    if let Ok(write) = other.as_write() {
        places.push((write.preview.place(), write.preview.read.to_string()));
        if let Compensation::Tool(undo) = &write.compensation {
            places.push(("/compensation/tool", undo.tool.to_string()));
        }
        places.extend(write.readback.iter().map(|readback| ("/readback/read", readback.read.to_string())));
    }
    if let Lifecycle::Deprecated { successor: Some(next), .. }
    | Lifecycle::Retired { successor: Some(next) } = &other.lifecycle
    {
        places.push(("/lifecycle/successor", next.to_string()));
    }
    let own = other.tool_ref().to_string();
    places
        .into_iter()
        .filter(|(_, named)| named == tool && own != tool)
        .map(|(place, _)| format!("{own} at {place}"))
        .collect()
}

fn page(plan: &Plan) -> Paper {
    let mut page = Paper::new();
    page.heading(&safe(&format!("{} is {}", plan.tool, plan.lifecycle)));
    if !plan.seen_by.is_empty() {
        page.field("seen by", &safe(&plan.seen_by.join(", ")));
    }
    for (state, ids) in &plan.open {
        page.field(state, &ids.join(" "));
    }
    for place in &plan.named_by {
        page.field("named by", &safe(place));
    }
    if let Some(until) = plan.keys_until {
        page.field("keys", &format!("the service remembers the last one until {until}"));
    }
    if plan.unreadable > 0 {
        let words = format!("{} operations could not be read: run writd verify", plan.unreadable);
        page.styled_field("not known", Style::Warn, &words);
    }
    page.heading("Next");
    for step in steps(plan) {
        page.item(Style::Plain, step);
    }
    page
}

fn steps(plan: &Plan) -> Vec<&'static str> {
    let mut steps = Vec::new();
    if plan.lifecycle == "active" {
        steps.push("set state: deprecated with until and successor, so that callers are warned");
    }
    if !plan.named_by.is_empty() {
        steps.push("let the contracts above name another tool");
    }
    if !plan.open.is_empty() {
        steps.push("settle what is open: decide, cancel, reconcile or resolve it");
    }
    if plan.keys_until.is_some() {
        steps.push(
            "keep the contract until the keys are forgotten: a repeat is told from a new call until then",
        );
    }
    if plan.clear && plan.lifecycle != "retired" {
        steps.push("nothing hangs on it: set state: retired, and reload");
    }
    if plan.clear && plan.lifecycle == "retired" {
        steps.push("nothing hangs on it: its file may go after the last record of it was read");
    }
    steps
}

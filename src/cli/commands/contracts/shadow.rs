//! `writd contracts shadow NEW`: what new contracts would say to what was proposed before. Nothing is sent and nothing is
//! stored: stored arguments are read, and checked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{read, stored};
use crate::api::wire::OperationDetail;
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::{ChangeKind, Contract, ContractDiff};
use crate::domain::Code;
use crate::domain::ids::OperationId;

/// What new contracts would say to stored operations.
#[derive(Args, Debug)]
pub(crate) struct ShadowArgs {
    /// A contract, or a folder of them
    new: PathBuf,
    /// Look at this many operations at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 500)]
    limit: usize,
}

/// What became of the operations of one tool.
#[derive(Debug, Default, Serialize)]
struct Shadow {
    tool: String,
    version: String,
    /// Whose arguments pass.
    accepted: usize,
    /// Whose arguments would be refused.
    refused: Vec<Refused>,
    /// Changes of effect, permission, key or retry: never promoted by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    major: Vec<String>,
}

/// One operation that would be refused; places and keywords, no values.
#[derive(Debug, Serialize)]
struct Refused {
    operation: OperationId,
    version: String,
    why: Vec<String>,
}

pub(super) fn run(args: &ShadowArgs, context: &Context) -> Result<(), Failure> {
    let new = read(&args.new, context)?;
    let newest: BTreeMap<&str, &Contract> =
        new.list().map(|contract| (contract.tool.as_str(), contract.as_ref())).collect();
    let client = context.client()?;
    let mut found = Vec::new();
    let unreadable = context.talk(stored::each(&client, "", |operation| {
        if newest.contains_key(operation.tool.as_str()) {
            found.push(operation.id);
        }
        found.len() < args.limit
    }))?;
    let mut shadows: BTreeMap<&str, Shadow> = BTreeMap::new();
    for (tool, contract) in &newest {
        let (tool, version) = ((*tool).to_owned(), contract.version.to_string());
        shadows.insert(contract.tool.as_str(), Shadow { tool, version, ..Shadow::default() });
    }
    for id in &found {
        let path = format!("/v1/operations/{id}");
        let detail: OperationDetail = context.talk(async { Ok(client.ask(Ask::get(path)).await?) })?;
        let Some(contract) = newest.get(detail.summary.tool.as_str()) else { continue };
        let Some(shadow) = shadows.get_mut(contract.tool.as_str()) else { continue };
        match contract.validate_input(&contract.with_defaults(&detail.arguments)) {
            Ok(()) => shadow.accepted += 1,
            Err(violations) => shadow.refused.push(Refused {
                operation: *id,
                version: detail.summary.version,
                why: violations.iter().map(|one| format!("{}: {}", one.pointer, one.message)).collect(),
            }),
        }
    }
    majors(context, &newest, &mut shadows);
    let shadows: Vec<Shadow> = shadows.into_values().collect();
    let cut = found.len() >= args.limit;
    let answer = serde_json::json!({
        "operations": found.len(), "cut": cut, "unreadable": unreadable, "tools": shadows,
    });
    context.output.answer(&answer, || page(&shadows, found.len(), cut, unreadable))?;
    let clean = shadows.iter().all(|shadow| shadow.refused.is_empty() && shadow.major.is_empty());
    if clean && unreadable == 0 { Ok(()) } else { Err(Failure::Told(Code::Conflict)) }
}

/// What changes against the contracts that are configured, where they can be read.
fn majors(context: &Context, newest: &BTreeMap<&str, &Contract>, shadows: &mut BTreeMap<&str, Shadow>) {
    let Ok(old) = super::directory(None, context).and_then(|dir| read(&dir, context)) else { return };
    for contract in newest.values() {
        let same = old.list().rfind(|other| other.tool == contract.tool);
        let Some((old, shadow)) = same.zip(shadows.get_mut(contract.tool.as_str())) else { continue };
        let changes = ContractDiff::between(old, contract).changes.into_iter();
        let major = changes.filter(|change| change.kind == ChangeKind::Major);
        shadow.major = major.map(|change| format!("{}: {}", change.pointer, change.why)).collect();
    }
}

fn page(shadows: &[Shadow], looked_at: usize, cut: bool, unreadable: u64) -> Paper {
    let mut page = Paper::new();
    for shadow in shadows {
        page.heading(&safe(&format!("{} {}", shadow.tool, shadow.version)));
        page.field("accepted", &shadow.accepted.to_string());
        page.field("refused", &shadow.refused.len().to_string());
        for refused in &shadow.refused {
            page.item(Style::Before, &format!("{} (under {})", refused.operation, safe(&refused.version)));
            for why in &refused.why {
                page.marked_value(6, "", Style::Plain, &safe(why));
            }
        }
        for change in &shadow.major {
            page.styled_field("major", Style::Warn, &safe(change));
        }
    }
    page.gap();
    let older = if cut { "; older ones were not looked at" } else { "" };
    page.prose(Style::Plain, &format!("{looked_at} operations were looked at, nothing was sent{older}"));
    if unreadable > 0 {
        page.prose(Style::Warn, &format!("{unreadable} could not be read: run writd verify"));
    }
    page
}

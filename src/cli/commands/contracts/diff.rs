//! `writd contracts diff OLD NEW`: what a new version changes for those who use it, and whether its number says so.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::read;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::contracts::{Catalog, ChangeKind, Contract, ContractDiff};
use crate::domain::Code;

/// What a new version changes: major, minor or none, and why.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// A contract, or a folder of them
    old: PathBuf,
    /// What it is to become
    new: PathBuf,
    /// Exit with 5 if a change is larger than this
    #[arg(long, value_enum, value_name = "KIND")]
    at_most: Option<Most>,
}

/// How much a change may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Most {
    /// Nothing may change
    None,
    /// Nothing that callers rely on may change
    Minor,
}

/// One contract on both sides.
#[derive(Debug, Serialize)]
struct Compared {
    tool: String,
    /// `changed`, `new` or `gone`.
    what: &'static str,
    kind: ChangeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<String>,
    /// Whether the version number says what the change is.
    announced: bool,
    #[serde(flatten)]
    diff: ContractDiff,
}

pub(super) fn run(args: &DiffArgs, context: &Context) -> Result<(), Failure> {
    let (old, new) = (read(&args.old, context)?, read(&args.new, context)?);
    let compared = compare(&old, &new);
    let kind = compared.iter().map(|one| one.kind).max().unwrap_or(ChangeKind::None);
    let announced = compared.iter().all(|one| one.announced);
    let answer = serde_json::json!({ "kind": kind, "announced": announced, "contracts": compared });
    context.output.answer(&answer, || page(&compared, kind))?;
    let most = match args.at_most {
        Some(Most::None) => ChangeKind::None,
        Some(Most::Minor) => ChangeKind::Minor,
        None => ChangeKind::Major,
    };
    if announced && kind <= most { Ok(()) } else { Err(Failure::Told(Code::Conflict)) }
}

/// The newest version of each tool, by name: a new major is the same tool.
fn newest(catalog: &Catalog) -> BTreeMap<String, Arc<Contract>> {
    catalog.list().map(|contract| (contract.tool.clone(), Arc::clone(contract))).collect()
}

fn compare(old: &Catalog, new: &Catalog) -> Vec<Compared> {
    let (old, new) = (newest(old), newest(new));
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.into_iter().map(|name| one(name, old.get(name), new.get(name))).collect()
}

fn one(tool: &str, old: Option<&Arc<Contract>>, new: Option<&Arc<Contract>>) -> Compared {
    let diff = match (old, new) {
        (Some(old), Some(new)) => ContractDiff::between(old, new),
        _ => ContractDiff::default(),
    };
    let (what, kind) = match (old, new) {
        (Some(_), Some(_)) => ("changed", diff.kind()),
        (None, _) => ("new", ChangeKind::Minor),
        (_, None) => ("gone", ChangeKind::Major),
    };
    let announced = match (old.map(|old| old.version), new.map(|new| new.version)) {
        (Some(old), Some(new)) => match diff.kind() {
            // Another version of the same body is only another name.
            ChangeKind::None => new >= old,
            ChangeKind::Minor => new > old,
            ChangeKind::Major => new.major > old.major,
        },
        _ => true,
    };
    let version = |contract: &Arc<Contract>| contract.version.to_string();
    Compared {
        tool: tool.to_owned(),
        what,
        kind,
        old: old.map(version),
        new: new.map(version),
        announced,
        diff,
    }
}

fn page(compared: &[Compared], kind: ChangeKind) -> Paper {
    let mut page = Paper::new();
    for one in compared.iter().filter(|one| one.what != "changed" || one.kind != ChangeKind::None) {
        let (old, new) = (one.old.as_deref().unwrap_or("-"), one.new.as_deref().unwrap_or("-"));
        page.heading(&safe(&format!(
            "{} {old} → {new}: {}",
            one.tool,
            if one.what == "changed" { one.kind.as_str() } else { one.what }
        )));
        for change in &one.diff.changes {
            let style = if change.kind == ChangeKind::Major { Style::Before } else { Style::Plain };
            page.line(vec![
                Span::new(style, format!("  {:<6}", change.kind)),
                Span::new(Style::Strong, safe(&change.pointer)),
            ]);
            page.marked_value(8, "", Style::Plain, &safe(&change.why));
        }
        if !one.announced {
            let wanted = match one.kind {
                ChangeKind::Major => "a new major version",
                ChangeKind::Minor | ChangeKind::None => "a new minor version",
            };
            page.item(Style::Warn, &format!("the version does not say so: this needs {wanted}"));
        }
    }
    page.gap();
    page.prose(Style::Strong, kind.as_str());
    page
}

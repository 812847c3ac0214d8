//! `writd contracts …`: what is wrong with contracts, what a new version changes, what hangs on an old one.

mod diff;
mod lock;
mod reload;
mod retire;
mod shadow;
mod stored;
mod test;
mod test_page;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::contracts::{Catalog, Contract, EffectClass, Finding, Severity, Source};
use crate::domain::Code;

pub(super) use stored::each as each_operation;

/// Tool contracts.
#[derive(Subcommand, Debug)]
pub(crate) enum ContractsCommand {
    /// Read the contracts and say what is wrong with them
    Check {
        /// The directory [default: as the configuration says]
        dir: Option<PathBuf>,
    },
    /// Say what a new version changes: major, minor or none, and why
    Diff(diff::DiffArgs),
    /// Pin the contracts as they are into catalog.lock
    Lock(lock::LockArgs),
    /// Let the daemon read its contracts again, all of them or none
    Reload,
    /// Say what still hangs on a tool, before it is retired
    Retire(retire::RetireArgs),
    /// Say what new contracts would have said to stored operations
    Shadow(shadow::ShadowArgs),
    /// Hold contracts and the services behind them to what they promise
    Test(test::TestArgs),
}

/// Does what the command says.
pub(super) fn run(command: ContractsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ContractsCommand::Check { dir } => check(dir, context),
        ContractsCommand::Diff(args) => diff::run(&args, context),
        ContractsCommand::Lock(args) => lock::run(args, context),
        ContractsCommand::Reload => reload::run(context),
        ContractsCommand::Retire(args) => retire::run(args, context),
        ContractsCommand::Shadow(args) => shadow::run(&args, context),
        ContractsCommand::Test(args) => test::run(args, context),
    }
}

/// The directory that was named, or the configured one.
fn directory(dir: Option<PathBuf>, context: &Context) -> Result<PathBuf, Failure> {
    match dir {
        Some(dir) => Ok(dir),
        None => Ok(context.config()?.0.daemon.contracts),
    }
}

/// Contracts from a folder, or one from a file, without looking at a lock.
fn read(path: &Path, context: &Context) -> Result<Catalog, Failure> {
    if path.is_dir() {
        return Catalog::load_unlocked(path).or_else(|findings| Err(refuse(&findings, context)?));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    let source = Source { file: path.display().to_string(), text };
    // Alone, a contract cannot name the others: that is no finding here.
    Catalog::alone(source).or_else(|findings| Err(refuse(&findings, context)?))
}

/// Tells the findings; what is left is the exit code.
fn refuse(findings: &[Finding], context: &Context) -> Result<Failure, Failure> {
    context.output.answer(&json!({ "valid": false, "findings": findings }), || page(findings))?;
    Ok(Failure::Told(Code::ConfigurationInvalid))
}

/// Reads them as the daemon would.
fn check(dir: Option<PathBuf>, context: &Context) -> Result<(), Failure> {
    let dir = directory(dir, context)?;
    let output = context.output;
    match Catalog::load(&dir) {
        Ok(catalog) => {
            let contracts: Vec<_> = catalog.list().collect();
            let warnings = catalog.warnings(&super::now().date());
            let answer = json!({
                "valid": true,
                "fingerprint": catalog.fingerprint(),
                "contracts": contracts.iter().map(|contract| json!({
                    "tool": contract.tool_ref().to_string(), "class": class(contract),
                    "fingerprint": contract.fingerprint(),
                })).collect::<Vec<_>>(),
                "warnings": warnings,
            });
            output.answer(&answer, || {
                let mut page = Paper::new();
                for warning in &warnings {
                    told(&mut page, warning);
                }
                page.gap();
                for contract in &contracts {
                    page.line(vec![
                        Span::plain(format!("  {:<6} ", class(contract))),
                        Span::plain(safe(&contract.tool_ref().to_string())),
                    ]);
                }
                page.prose(Style::Plain, &format!("{} contracts, no findings", contracts.len()));
                page.field("fingerprint", &catalog.fingerprint().to_string());
                page
            })
        }
        Err(findings) => Err(refuse(&findings, context)?),
    }
}

fn class(contract: &Contract) -> &'static str {
    match contract.class() {
        EffectClass::Read => "read",
        EffectClass::Draft => "draft",
        EffectClass::Write => "write",
    }
}

/// One finding: place, pointer and code on the first line, which `grep` and editors understand; then what and how.
fn told(page: &mut Paper, finding: &Finding) {
    let pointer = if finding.pointer.is_empty() { "(root)" } else { &finding.pointer };
    let place = match finding.line {
        0 => finding.file.clone(),
        line => format!("{}:{line}:{}", finding.file, finding.column),
    };
    let (style, word) = match finding.code.severity() {
        Severity::Refusal => (Style::Before, ""),
        Severity::Warning => (Style::Warn, "warning "),
    };
    page.line(vec![
        Span::new(Style::Strong, safe(&place)),
        Span::plain(format!(": {} ", safe(pointer))),
        Span::new(style, format!("{word}[{}]", finding.code)),
    ]);
    page.item(Style::Plain, &safe(&finding.message));
    page.item(Style::Dim, &safe(&finding.remedy));
}

/// All findings, and what they mean.
pub(super) fn page(findings: &[Finding]) -> Paper {
    listing(findings, "the daemon would not start with them")
}

/// The same with what the findings mean.
pub(super) fn listing(findings: &[Finding], meaning: &str) -> Paper {
    let mut page = Paper::new();
    for finding in findings {
        told(&mut page, finding);
    }
    page.gap();
    page.prose(Style::Plain, &format!("{} findings; {meaning}", findings.len()));
    page
}

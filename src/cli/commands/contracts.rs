//! `writd contracts check`: all findings of a directory of contracts at once, or what is there.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::contracts::{Catalog, Contract, EffectClass, Finding};
use crate::domain::Code;

/// Tool contracts.
#[derive(Subcommand, Debug)]
pub(crate) enum ContractsCommand {
    /// Read the contracts and say what is wrong with them
    Check {
        /// The directory [default: as the configuration says]
        dir: Option<PathBuf>,
    },
}

/// Reads them as the daemon would.
pub(super) fn run(command: ContractsCommand, context: &Context) -> Result<(), Failure> {
    let ContractsCommand::Check { dir } = command;
    let dir = match dir {
        Some(dir) => dir,
        None => context.config()?.0.daemon.contracts,
    };
    let output = context.output;
    match Catalog::load(&dir) {
        Ok(catalog) => {
            let contracts: Vec<_> = catalog.list().collect();
            let answer = json!({
                "valid": true,
                "fingerprint": catalog.fingerprint(),
                "contracts": contracts.iter().map(|contract| json!({
                    "tool": contract.tool_ref().to_string(), "class": class(contract),
                    "fingerprint": contract.fingerprint(),
                })).collect::<Vec<_>>(),
            });
            output.answer(&answer, || {
                let mut page = Paper::new();
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
        Err(findings) => {
            output.answer(&json!({ "valid": false, "findings": findings }), || page(&findings))?;
            Err(Failure::Told(Code::ConfigurationInvalid))
        }
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
pub(super) fn page(findings: &[Finding]) -> Paper {
    let mut page = Paper::new();
    for finding in findings {
        let pointer = if finding.pointer.is_empty() { "(root)" } else { &finding.pointer };
        let place = if finding.line > 0 {
            format!("{}:{}:{}", finding.file, finding.line, finding.column)
        } else {
            finding.file.clone()
        };
        page.line(vec![
            Span::new(Style::Strong, safe(&place)),
            Span::plain(format!(": {} ", safe(pointer))),
            Span::new(Style::Before, format!("[{}]", finding.code)),
        ]);
        page.item(Style::Plain, &safe(&finding.message));
        page.item(Style::Dim, &safe(&finding.remedy));
    }
    page.gap();
    page.prose(Style::Plain, &format!("{} findings; the daemon would not start with them", findings.len()));
    page
}

//! `writd policy test`: does the table say of these cases what its owner wants it to say. Offline: no daemon is asked.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::cli::commands::contracts::listing;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::config::DEFAULT_FILE;
use crate::contracts::Finding;
use crate::domain::Code;
use crate::kit::{self, Check, Part, Report, ToolReport, Verdict};
use crate::policy::Table;
use crate::policy::cases::{Case, CaseFile, DEFAULT_CASES};

/// Hold the policy table of daemon.toml to its cases, offline.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The cases [default: policy.cases.yaml beside daemon.toml]
    file: Option<PathBuf>,
    /// Write a JUnit report for CI to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The cases that stand beside a configuration.
pub(super) fn beside(context: &Context) -> PathBuf {
    let config = context.config_file().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    config.parent().map_or_else(|| PathBuf::from(DEFAULT_CASES), |folder| folder.join(DEFAULT_CASES))
}

/// Judges every case.
pub(super) fn run(args: TestArgs, context: &Context) -> Result<(), Failure> {
    let (config, _) = context.config()?;
    let table = Table::compile(&config.rules).map_err(Failure::Config)?;
    let path = args.file.unwrap_or_else(|| beside(context));
    let file = match CaseFile::load(&path) {
        Ok(file) => file,
        Err(findings) => return Err(refuse(&findings, context)?),
    };
    let checks: Vec<Check> = file.cases.iter().map(|case| check(case, &table)).collect();
    let version: String = table.digest().to_string().chars().take(12).collect();
    let report = Report {
        tools: vec![ToolReport {
            tool: "policy".to_owned(),
            version: version.clone(),
            fingerprint: table.digest().to_string(),
            boundaries: 0,
            origin: None,
            checks,
        }],
    };
    if let Some(path) = &args.junit {
        let written = kit::junit(&report, "writd policy test").and_then(|text| std::fs::write(path, text));
        written.map_err(|error| Failure::File { path: path.clone(), error })?;
    }
    let checks = &report.tools[0].checks;
    let failed = report.count(Verdict::Failed);
    let answer = json!({
        "passed": report.is_good(), "about": file.about, "table": table.digest(),
        "counts": { "passed": report.count(Verdict::Passed), "failed": failed },
        "cases": checks.iter().map(|check| json!({
            "case": check.name, "passed": check.verdict == Verdict::Passed, "why": check.detail,
        })).collect::<Vec<_>>(),
    });
    context.output.answer(&answer, || page(&file.about, checks, failed, &version))?;
    if report.is_good() { Ok(()) } else { Err(Failure::Told(Code::ConfigurationInvalid)) }
}

fn refuse(findings: &[Finding], context: &Context) -> Result<Failure, Failure> {
    let answer = json!({ "passed": false, "findings": findings });
    context.output.answer(&answer, || listing(findings, "nothing was tested"))?;
    Ok(Failure::Told(Code::ConfigurationInvalid))
}

fn check(case: &Case, table: &Table) -> Check {
    let differences = case.differences(table);
    if differences.is_empty() {
        return Check::passed(Part::Case, &case.name, "");
    }
    let remedy = "mend the rule or the case; `writd policy explain` shows each rule of a stored write";
    Check::failed(Part::Case, &case.name, differences.join("; "), remedy)
}

fn page(about: &str, checks: &[Check], failed: usize, version: &str) -> Paper {
    let mut page = Paper::new();
    page.heading(&safe(about));
    for check in checks {
        let (style, word) = match check.verdict {
            Verdict::Failed => (Style::Before, "FAILED"),
            Verdict::Passed | Verdict::NotAsked | Verdict::Unproven => (Style::After, "ok    "),
        };
        page.line(vec![Span::plain("  "), Span::new(style, word)]);
        page.field("", &safe(&check.name));
        if !check.detail.is_empty() {
            page.styled_field("", Style::Warn, &safe(&check.detail));
        }
    }
    page.gap();
    let sum = format!("{} cases, {failed} failed; table {version}", checks.len());
    page.prose(Style::Strong, &sum);
    page
}

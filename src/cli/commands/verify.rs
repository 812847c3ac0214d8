//! `writd verify`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::domain::Code;
use crate::store::maintenance::{Findings, HeadClaim, VerifyOptions, VerifyReport, verify};

/// Walk the journal, recompute every operation, and compare. The daemon must not be running.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Hold the journal against a head that was kept elsewhere, as `writd export` prints it
    #[arg(long, value_name = "DIGEST:NUMBER")]
    head: Option<HeadClaim>,
    /// Hold the store against facts that clients were told, one per line: `op OPERATION STATE EVENTS`, `run RUN`,
    /// `key TENANT PRINCIPAL SCOPE KEY`
    #[arg(long, value_name = "FILE")]
    acks: Option<PathBuf>,
}

/// Verifies and tells; findings end with the exit code of a damaged store.
pub(super) fn run(args: VerifyArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let options = VerifyOptions { head: args.head, acks: args.acks };
    let report = verify(&dir, &options, super::now()).map_err(|error| super::offline(&error))?;
    context.output.answer(&report, || page(&report))?;
    if report.clean { Ok(()) } else { Err(Failure::Told(Code::StoreDamaged)) }
}

pub(super) fn page(report: &VerifyReport) -> Paper {
    let mut page = Paper::new();
    findings(&mut page, &report.findings);
    let counts = &report.counts;
    page.field("journal", &format!("{} entries, to {}", counts.entries, report.head.at));
    page.field("head", &report.head_claim().to_string());
    let states: Vec<String> =
        counts.by_state.iter().map(|(state, count)| format!("{count} {state}")).collect();
    page.field("operations", &format!("{} ({})", counts.operations, states.join(", ")));
    let others =
        [(counts.runs, "runs"), (counts.contracts, "contracts"), (counts.idempotency, "remembered keys")];
    page.field("beside", &others.map(|(count, what)| format!("{count} {what}")).join(", "));
    if counts.erased_entries > 0 {
        let (entries, operations) = (counts.erased_entries, counts.erased_operations);
        page.field(
            "erased",
            &format!("{entries} entries; {operations} operations are counted, not recomputed"),
        );
    }
    if counts.acknowledged > 0 {
        page.field("told", &format!("{} facts that clients were told", counts.acknowledged));
    }
    page.field("epoch", &report.epoch.to_string());
    if report.held {
        page.styled_field("held", Style::Warn, "writes wait for `writd restore accept`");
    }
    if report.clean {
        page.styled_field("findings", Style::After, "none");
    } else {
        page.styled_field("findings", Style::Before, &report.findings.total.to_string());
    }
    page
}

/// One finding after the other: place and code on the first line; then what, what it means and what to do.
pub(super) fn findings(page: &mut Paper, findings: &Findings) {
    for finding in &findings.listed {
        page.line(vec![
            Span::new(Style::Strong, safe(&finding.place)),
            Span::plain(" "),
            Span::new(Style::Before, format!("[{}]", finding.code)),
        ]);
        page.item(Style::Plain, &safe(&finding.detail));
        page.item(Style::Plain, finding.meaning);
        page.item(Style::Dim, finding.remedy);
    }
    let listed = u64::try_from(findings.listed.len()).unwrap_or(u64::MAX);
    if findings.total > listed {
        page.prose(Style::Warn, &format!("and {} more", findings.total - listed));
    }
    page.gap();
}

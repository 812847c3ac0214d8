//! `writd export`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::store::maintenance::export;

/// Write everything as compressed lines of JSON, with the chain. The daemon must not be running.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The file to write; it must not exist
    file: PathBuf,
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Exports, and prints the head that is to be kept elsewhere.
pub(super) fn run(args: ExportArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let report = export(&dir, &args.file, super::now()).map_err(|error| super::offline(&error))?;
    context.output.answer(&report, || {
        let mut page = Paper::new();
        super::verify::findings(&mut page, &report.findings);
        page.field("file", &format!("{} ({} bytes)", safe(&report.file.display().to_string()), report.bytes));
        let lines: Vec<String> = report.lines.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        page.field("lines", &lines.join(", "));
        page.field("epoch", &report.epoch.to_string());
        page.prose(
            Style::Plain,
            "Keep this head elsewhere; `writd verify --head` holds the journal against it:",
        );
        page.command(&report.keep);
        page
    })
}

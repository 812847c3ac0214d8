//! `writd recover`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::store::maintenance::{RecoverReport, recover};

/// Save what can be read of a damaged store into a fresh one beside it. Nothing is deleted. What had not ended is
/// unknown in it, and writes are held until `writd restore accept`.
#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Put the fresh store into the place of the damaged one, which is kept under another name
    #[arg(long)]
    apply: bool,
}

/// Recovers, and names what was lost.
pub(super) fn run(args: RecoverArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let report = recover(&dir, args.apply, super::now()).map_err(|error| super::offline(&error))?;
    context.output.answer(&report, || page(&report))
}

fn page(report: &RecoverReport) -> Paper {
    let mut page = Paper::new();
    page.field("read", report.read.as_str());
    page.field("copied", &format!("{} records", report.copied));
    page.field("made anew", &format!("{} from the journal", report.rebuilt.len()));
    for id in &report.rebuilt {
        page.item(Style::Plain, id);
    }
    page.field("lost", &report.lost.len().to_string());
    for lost in &report.lost {
        page.item(Style::Before, &safe(&format!("{}: {}", lost.what, lost.why)));
    }
    page.field("quarantined", &report.quarantined.len().to_string());
    page.field("unknown", &format!("{} operations that had not ended", report.restored));
    super::verify::findings(&mut page, &report.findings);
    let recovered = safe(&report.recovered.display().to_string());
    match &report.kept {
        Some(kept) => {
            page.field("in use", &recovered);
            page.field("kept", &safe(&kept.display().to_string()));
            page.prose(Style::Warn, "Start the daemon, look at what is unknown, then release the writes:");
            page.command("writd restore accept");
        }
        None => {
            page.field("fresh store", &recovered);
            page.prose(Style::Plain, "The damaged store is in its place. To use a fresh one:");
            page.command("writd recover --apply");
        }
    }
    page
}

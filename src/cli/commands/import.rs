//! `writd import`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::store::maintenance::import;

/// Read a backup into an empty state directory. A new epoch begins: its approvals are void, what had not ended is
/// unknown, and writes are held until `writd restore accept`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The file that `writd export` wrote
    file: PathBuf,
    /// The state directory; it must be empty [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Imports.
pub(super) fn run(args: ImportArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let report = import(&dir, &args.file, super::now()).map_err(|error| super::offline(&error))?;
    context.output.answer(&report, || {
        let mut page = Paper::new();
        let lines: Vec<String> = report.lines.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        page.field("imported", &lines.join(", "));
        page.field("epoch", &report.epoch.to_string());
        let unknown =
            format!("{} operations that had not ended; they are asked by their keys", report.restored);
        page.field("unknown", &unknown);
        page.styled_field(
            "held",
            Style::Warn,
            "start the daemon, look at what is unknown, then release the writes:",
        );
        page.command("writd restore accept");
        page
    })
}

//! `writd export`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// Write everything as compressed lines of JSON, with the chain. The daemon must not be running.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The file to write; it must not exist
    file: PathBuf,
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Not in this build.
pub(super) fn run(args: ExportArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let _ = args.file;
    Err(super::not_in_this_build("export", &dir))
}

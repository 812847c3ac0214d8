//! `writd import`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

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

/// Not in this build.
pub(super) fn run(args: ImportArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let _ = args.file;
    Err(super::not_in_this_build("import", &dir))
}

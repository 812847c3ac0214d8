//! `writd recover`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// Save what can be read of a damaged store into a fresh one beside it. Nothing is deleted.
#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Not in this build.
pub(super) fn run(args: RecoverArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    Err(super::not_in_this_build("recover", &dir))
}

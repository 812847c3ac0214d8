//! `writd verify`: offline, under the lock of the state directory.

use std::path::PathBuf;

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// Walk the journal, recompute every operation, and compare. The daemon must not be running.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The state directory [default: as the configuration says]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Hold the journal against a head that was kept elsewhere: NUMBER:DIGEST
    #[arg(long, value_name = "HEAD")]
    head: Option<String>,
    /// Hold the store against facts that clients were told, one JSON object per line
    #[arg(long, value_name = "FILE")]
    acknowledged: Option<PathBuf>,
}

/// Not in this build.
pub(super) fn run(args: VerifyArgs, context: &Context) -> Result<(), Failure> {
    let dir = context.state_dir(args.state_dir)?;
    let _ = (args.head, args.acknowledged);
    Err(super::not_in_this_build("verify", &dir))
}

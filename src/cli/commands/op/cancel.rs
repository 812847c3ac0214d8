//! `writd op cancel`

use clap::Args;

use crate::api::wire::request::CancelBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// Withdraw a write. One that is executing is not stopped: no further attempt starts, and its outcome is still learned.
#[derive(Args, Debug)]
pub(crate) struct CancelArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Cancels it.
pub(super) fn run(args: CancelArgs, context: &Context) -> Result<(), Failure> {
    super::send(context, args.id, "cancel", &CancelBody { reason: args.reason })
}

//! `writd op deny`

use clap::Args;

use crate::api::wire::request::DenyBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// Refuse it.
#[derive(Args, Debug)]
pub(crate) struct DenyArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// Why; whoever asked reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Refuse the same arguments for the same target from now on, too
    #[arg(long = "final")]
    last: bool,
}

/// Says no.
pub(super) fn run(args: DenyArgs, context: &Context) -> Result<(), Failure> {
    super::send(context, args.id, "deny", &DenyBody { reason: args.reason, last: args.last })
}

//! `writd op reconcile`

use clap::Args;

use crate::api::wire::request::EmptyBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// Ask the service now what became of it. It is a question; nothing is sent a second time.
#[derive(Args, Debug)]
pub(crate) struct ReconcileArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
}

/// Asks for it.
pub(super) fn run(args: ReconcileArgs, context: &Context) -> Result<(), Failure> {
    super::send(context, args.id, "reconcile", &EmptyBody {})
}

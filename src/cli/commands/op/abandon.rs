//! `writd op abandon`

use clap::Args;

use crate::api::wire::request::ReasonBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// Give up finding out. The effect stays unknown, the target is free again: a later write may meet this one's effect.
#[derive(Args, Debug)]
pub(crate) struct AbandonArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// Why, and which risk is taken
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Gives it up.
pub(super) fn run(args: AbandonArgs, context: &Context) -> Result<(), Failure> {
    super::send(context, args.id, "abandon", &ReasonBody { reason: args.reason })
}

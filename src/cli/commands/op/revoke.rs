//! `writd op revoke`

use clap::Args;

use crate::api::wire::request::RevokeBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;

/// Take an approval back, as long as it was not used.
#[derive(Args, Debug)]
pub(crate) struct RevokeArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// Whose approval; only an admin takes back another's [default: your own]
    #[arg(long, value_name = "NAME")]
    approver: Option<String>,
}

/// Takes it back.
pub(super) fn run(args: RevokeArgs, context: &Context) -> Result<(), Failure> {
    super::send(context, args.id, "revoke", &RevokeBody { approver: args.approver })
}

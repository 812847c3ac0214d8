//! `writd op commit`

use std::time::Duration;

use clap::Args;

use crate::api::wire::request::EmptyBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input;
use crate::domain::ids::OperationId;

/// Execute an approved write now. It takes no arguments: what was approved is what is sent.
#[derive(Args, Debug)]
pub(crate) struct CommitArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// Wait until it has ended, at most this long; the exit code then says how
    #[arg(long, value_name = "30s", value_parser = input::duration)]
    wait: Option<Duration>,
}

/// Commits it.
pub(super) fn run(args: CommitArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    context.talk(async {
        let answer = super::command(&client, args.id, "commit", &EmptyBody {}).await?;
        super::follow(context, &client, answer, args.wait).await
    })
}

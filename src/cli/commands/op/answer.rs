//! `writd op answer`: the answer that claimed success and was not fit to be a receipt, for who has to settle it.

use clap::Args;

use crate::api::wire::RawAnswerView;
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{view, waiting};
use crate::domain::ids::OperationId;

/// The last answer that claimed success and proves nothing
#[derive(Args, Debug)]
pub(crate) struct AnswerArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
}

pub(super) fn run(args: AnswerArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let path = format!("{}/answer", waiting::path(args.id));
    let raw: RawAnswerView = context.talk(async { Ok(client.ask(Ask::get(path)).await?) })?;
    context.output.answer(&raw, || view::raw_answer(&raw))
}

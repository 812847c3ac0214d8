//! `writd restore accept`: writes that an import holds back are released.

use clap::Subcommand;

use crate::api::wire::Accepted;
use crate::api::wire::request::EmptyBody;
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;

/// After an import.
#[derive(Subcommand, Debug)]
pub(crate) enum RestoreCommand {
    /// Release the writes that an import holds back. Its approvals stay void; what had not ended stays unknown until it
    /// is settled
    Accept,
}

/// Does it.
pub(super) fn run(command: RestoreCommand, context: &Context) -> Result<(), Failure> {
    let RestoreCommand::Accept = command;
    let client = context.client()?;
    let accepted: Accepted =
        context.talk(async { Ok(client.ask(Ask::post("/v1/restore/accept", &EmptyBody {})).await?) })?;
    context.output.answer(&accepted, || {
        let mut page = Paper::new();
        page.prose(Style::Plain, &format!("epoch {}: writes are released", accepted.epoch));
        page
    })
}

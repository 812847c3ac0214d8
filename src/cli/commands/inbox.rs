//! `writd inbox`: what waits for people.

use crate::api::wire::InboxView;
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::view;

/// Shows both queues.
pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let inbox: InboxView = context.talk(async { Ok(client.ask(Ask::get("/v1/inbox")).await?) })?;
    context.output.answer(&inbox, || view::inbox(&inbox))
}

//! `writd op events`: the journal of one write, whole.

use clap::Args;

use crate::api::wire::{EventView, Page};
use crate::cli::client::{Ask, in_query};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{view, waiting};
use crate::domain::ids::OperationId;

/// Its journal.
#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
}

/// Reads page after page.
pub(super) fn run(args: EventsArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let all: Page<EventView> = context.talk(async {
        let path = format!("{}/events", waiting::path(args.id));
        let mut all: Page<EventView> = client.ask(Ask::get(path.clone())).await?;
        while let Some(cursor) = all.next.take() {
            let next = format!("{path}?cursor={}", in_query(&cursor));
            let page: Page<EventView> = client.ask(Ask::get(next)).await?;
            // A cursor that does not move would go round for ever.
            all.next = page.next.filter(|next| *next != cursor && !page.items.is_empty());
            all.items.extend(page.items);
            all.unreadable += page.unreadable;
        }
        Ok(all)
    })?;
    context.output.answer(&all, || view::events(&all.items))
}

//! `writd op list`

use clap::Args;

use crate::api::wire::{OperationView, Page};
use crate::cli::client::{Ask, in_query};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::view;
use crate::domain::operation::State;

/// Writes by state, the newest first.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only these states, such as proposed,unknown
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state)]
    state: Vec<State>,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

fn state(text: &str) -> Result<State, String> {
    text.parse().map_err(|_| {
        let all: Vec<_> = State::ALL.iter().map(|state| state.as_str()).collect();
        format!("states are {}", all.join(", "))
    })
}

/// Shows one page.
pub(super) fn run(args: ListArgs, context: &Context) -> Result<(), Failure> {
    let mut query: Vec<String> = args.state.iter().map(|state| format!("state={state}")).collect();
    query.extend(args.limit.map(|limit| format!("limit={limit}")));
    query.extend(args.cursor.map(|cursor| format!("cursor={}", in_query(&cursor))));
    let path = if query.is_empty() {
        "/v1/operations".to_owned()
    } else {
        format!("/v1/operations?{}", query.join("&"))
    };
    let client = context.client()?;
    let page: Page<OperationView> = context.talk(async { Ok(client.ask(Ask::get(path)).await?) })?;
    context.output.answer(&page, || view::operations(&page))
}

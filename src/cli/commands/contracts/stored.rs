//! What the daemon has of a tool: its operations, page by page.

use crate::api::wire::{OperationView, Page};
use crate::cli::client::{Ask, Client, in_query};
use crate::cli::failure::Failure;

/// Operations of one page; the daemon may give fewer.
const PAGE: usize = 100;

/// Goes through operations, the newest first, until `visit` has enough or there are no more. Says how many records the
/// daemon could not read.
pub(in crate::cli::commands) async fn each(
    client: &Client,
    query: &str,
    mut visit: impl FnMut(OperationView) -> bool,
) -> Result<u64, Failure> {
    let (mut cursor, mut unreadable) = (None::<String>, 0);
    loop {
        let from =
            cursor.as_deref().map(|cursor| format!("&cursor={}", in_query(cursor))).unwrap_or_default();
        let path = format!("/v1/operations?limit={PAGE}{query}{from}");
        let page: Page<OperationView> = client.ask(Ask::get(path)).await?;
        unreadable += page.unreadable;
        for operation in page.items {
            if !visit(operation) {
                return Ok(unreadable);
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(unreadable),
        }
    }
}

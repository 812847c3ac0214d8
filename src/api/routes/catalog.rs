//! What is loaded: contracts and the catalog.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::Query;
use crate::api::wire::{CatalogView, ContractView, Page};
use crate::ports::Tool;

pub(super) async fn contracts(caller: Caller, Query(NoQuery): Query<NoQuery>) -> Answer {
    let mut items: Vec<ContractView> =
        caller.engine().parts().tools.all().iter().map(|tool| contract(tool.as_ref())).collect();
    items.sort_by(|a, b| (&a.tool, &a.version).cmp(&(&b.tool, &b.version)));
    json(StatusCode::OK, &Page { items, next: None, unreadable: 0 })
}

pub(super) async fn show(caller: Caller, Query(NoQuery): Query<NoQuery>) -> Answer {
    let tools = &caller.engine().parts().tools;
    let mut names: Vec<String> = tools.all().iter().map(|tool| reference(tool.as_ref())).collect();
    names.sort();
    names.dedup();
    json(StatusCode::OK, &CatalogView { fingerprint: tools.fingerprint(), tools: names })
}

fn contract(tool: &dyn Tool) -> ContractView {
    let class = tool.rules().map_or("read", |rules| rules.class.as_str());
    ContractView {
        tool: reference(tool),
        version: tool.version(),
        title: tool.title().to_owned(),
        class: class.to_owned(),
        fingerprint: tool.fingerprint(),
        tier: tool.rules().map(|rules| rules.tier),
        reversible: tool.rules().map(|rules| rules.reversible.clone()),
    }
}

fn reference(tool: &dyn Tool) -> String {
    let version = tool.version();
    format!("{}.v{}", tool.name(), version.split('.').next().unwrap_or(&version))
}

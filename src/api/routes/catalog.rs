//! What is loaded: contracts and the catalog.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::{JsonBody, Query};
use crate::api::wire::request::EmptyBody;
use crate::api::wire::{CatalogView, ContractView, Page, ReloadedView, WarningView};
use crate::engine::Reloaded;
use crate::ports::{Life, Staged, Tool};

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
    let warned = tools.all();
    let mut warnings: Vec<WarningView> =
        warned.iter().filter_map(|tool| WarningView::of(&reference(tool.as_ref()), &tool.life())).collect();
    warnings.sort_by(|a, b| a.detail.cmp(&b.detail));
    json(StatusCode::OK, &CatalogView { fingerprint: tools.fingerprint(), tools: names, warnings })
}

pub(super) async fn reload(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let Reloaded { before, staged } = caller.engine().reload(Some(caller.principal())).await?;
    let Staged { fingerprint, contracts, changed, warnings } = staged;
    json(StatusCode::OK, &ReloadedView { fingerprint, before, contracts, changed, warnings })
}

fn contract(tool: &dyn Tool) -> ContractView {
    let class = tool.rules().map_or("read", |rules| rules.class.as_str());
    let (lifecycle, until, successor) = match tool.life() {
        Life::Active => ("active", None, None),
        Life::Deprecated { until, successor } => ("deprecated", until, successor),
        Life::Retired { successor } => ("retired", None, successor),
    };
    ContractView {
        tool: reference(tool),
        version: tool.version(),
        title: tool.title().to_owned(),
        class: class.to_owned(),
        fingerprint: tool.fingerprint(),
        tier: tool.rules().map(|rules| rules.tier),
        reversible: tool.rules().map(|rules| rules.reversible.clone()),
        lifecycle: lifecycle.to_owned(),
        until,
        successor,
    }
}

fn reference(tool: &dyn Tool) -> String {
    let version = tool.version();
    format!("{}.v{}", tool.name(), version.split('.').next().unwrap_or(&version))
}

//! The inbox, lists of operations, and runs.

use crate::api::wire::{InboxItem, InboxView, OperationView, Page, RunView};
use crate::cli::output::paper::{Paper, WIDTH};
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::{json, safe, span, time};
use crate::cli::output::wrap;
use crate::domain::Millis;

/// What waits for people, in its two queues.
pub(crate) fn inbox(inbox: &InboxView) -> Paper {
    let mut page = Paper::new();
    page.heading(&format!("Waiting for a decision ({})", inbox.approvals_total));
    for item in &inbox.approvals {
        page.gap();
        waiting(&mut page, item);
        let left = item.operation.clocks.decide_remaining_ms.unwrap_or_default();
        page.field(
            "decide within",
            &format!("{} (proposed {} ago)", span(Millis(left)), span(Millis(item.age_ms))),
        );
        mine(&mut page, item);
    }
    more(&mut page, inbox.approvals.len(), inbox.approvals_total);
    page.heading(&format!("Outcome unknown ({})", inbox.unknown_total));
    for item in &inbox.unknown {
        page.gap();
        waiting(&mut page, item);
        let paused = if item.paused { ", paused: an operator is needed" } else { ", the daemon is looking" };
        page.styled_field("unknown for", Style::Warn, &format!("{}{paused}", span(Millis(item.age_ms))));
        if let Some(doubt) = &item.operation.doubt {
            page.field("because", &safe(&doubt.cause));
        }
        mine(&mut page, item);
    }
    more(&mut page, inbox.unknown.len(), inbox.unknown_total);
    page.gap();
    page.prose(Style::Dim, "writd op show OPERATION shows everything about one of them.");
    page
}

fn waiting(page: &mut Paper, item: &InboxItem) {
    let view = &item.operation;
    page.line(vec![Span::new(Style::Strong, view.id.to_string())]);
    page.field("effect", &safe(&view.effect_text));
    page.field("target", &target(view));
    let behalf =
        view.on_behalf_of.as_ref().map(|person| format!(" for {}", safe(person))).unwrap_or_default();
    page.field("asked by", &format!("{}{behalf}", safe(&view.requester.name)));
}

fn mine(page: &mut Paper, item: &InboxItem) {
    if let Some(why_not) = item.why_not.as_ref().filter(|_| !item.yours) {
        page.styled_field("not yours", Style::Dim, &safe(why_not));
    }
}

fn more(page: &mut Paper, shown: usize, total: usize) {
    if total > shown {
        page.gap();
        page.prose(Style::Dim, &format!("… and {} more: writd op list --state …", total - shown));
    } else if total == 0 {
        page.item(Style::Dim, "nothing");
    }
}

fn target(view: &OperationView) -> String {
    let version = view.target.version.as_ref();
    let version =
        version.map_or_else(|| "created".to_owned(), |version| format!("version {}", json(Some(version))));
    format!("{} {}, {version}", safe(&view.target.kind), safe(&view.target.id))
}

/// A page of operations, two lines each.
pub(crate) fn operations(list: &Page<OperationView>) -> Paper {
    let mut page = Paper::new();
    for view in &list.items {
        let state = if view.state.as_str() == view.effect.as_str() {
            view.state.as_str().to_owned()
        } else {
            format!("{}, effect {}", view.state, view.effect)
        };
        page.line(vec![
            Span::plain(format!("{}  ", view.id)),
            Span::new(super::style_of(view.state), format!("{state:<28}")),
            Span::new(Style::Dim, time(view.changed)),
        ]);
        page.line(vec![Span::plain("  "), Span::plain(cut(&safe(&view.effect_text), WIDTH - 2))]);
    }
    if list.items.is_empty() {
        page.prose(Style::Plain, "no operations");
    }
    if list.unreadable > 0 {
        let damaged = format!("records that cannot be read: {}; see writd doctor", list.unreadable);
        page.prose(Style::Warn, &damaged);
    }
    if let Some(next) = &list.next {
        page.prose(Style::Dim, &format!("more: --cursor {}", safe(next)));
    }
    page
}

/// One line of a list; the whole text stands in the approval view.
fn cut(text: &str, width: usize) -> String {
    if wrap::columns(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width - 1).collect();
    short.push('…');
    short
}

/// One run.
pub(crate) fn run(run: &RunView) -> Paper {
    let mut page = Paper::new();
    let open = if run.open { "OPEN" } else { "ENDED" };
    page.line(vec![Span::plain(format!("{}  ", run.id)), Span::new(Style::Strong, open)]);
    page.field("opened", &format!("{} by {}", time(run.opened), safe(&run.opener.name)));
    if let Some(person) = &run.on_behalf_of {
        page.field("on behalf of", &safe(person));
    }
    page.field("tenant", &safe(&run.tenant));
    page.field(
        "may propose",
        &if run.tools.is_empty() { "nothing, reads only".to_owned() } else { safe(&run.tools.join(", ")) },
    );
    if let Some(deadline) = run.deadline {
        page.field("deadline", &time(deadline));
    }
    if let Some(ended) = run.ended {
        page.field("cancelled", &time(ended));
    }
    page.boxed("purpose: claimed by its opener (untrusted)", &safe(&run.purpose));
    page
}

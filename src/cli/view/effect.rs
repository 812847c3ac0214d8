//! What would change, where, with which consequences, and what cannot be undone.

use serde_json::Value;

use crate::api::wire::{ChangeView, OperationDetail};
use crate::cli::output::paper::{LABEL, Paper, WIDTH};
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::{bare, json, remark, safe};
use crate::cli::output::wrap;
use crate::domain::operation::TargetCheck;

/// Before → after, by field. Short ones on one line, long ones below each other, none of them cut.
pub(super) fn changes(page: &mut Paper, detail: &OperationDetail) {
    page.heading("Changes");
    if detail.changes.is_empty() {
        page.item(Style::Plain, "no field is known to change; read the arguments with --raw");
    }
    let short =
        detail.changes.iter().map(texts).filter(|(pointer, before, after)| fits(pointer, before, after));
    let widest = short.map(|(pointer, ..)| wrap::columns(&pointer)).max().unwrap_or_default();
    for change in &detail.changes {
        one_change(page, change, widest);
    }
}

/// Between before and after on one line.
const ARROW: &str = " → ";

/// Pointer, before and after, safe to look at.
fn texts(change: &ChangeView) -> (String, String, String) {
    let pointer = if change.pointer.is_empty() { "(the whole)".to_owned() } else { safe(&change.pointer) };
    (pointer, json(change.before.as_ref()), json(change.after.as_ref()))
}

/// Whether all three have room on one line, and none of them holds what separates them there.
fn fits(pointer: &str, before: &str, after: &str) -> bool {
    let columns: usize = [pointer, before, after].iter().map(|text| wrap::columns(text)).sum();
    let separators = [pointer, before, after].iter().any(|text| text.contains('→') || text.contains("  "));
    columns + 4 + wrap::columns(ARROW) <= WIDTH && !separators
}

fn one_change(page: &mut Paper, change: &ChangeView, widest: usize) {
    let (pointer, before, after) = texts(change);
    if fits(&pointer, &before, &after) {
        // Aligned with the others where there is room for it.
        let room =
            WIDTH.saturating_sub(4 + wrap::columns(&before) + ARROW.chars().count() + wrap::columns(&after));
        let margin = widest.min(room).saturating_sub(wrap::columns(&pointer));
        page.line(vec![
            Span::plain("  "),
            Span::plain(pointer),
            Span::plain(" ".repeat(margin + 2)),
            Span::new(Style::Before, before),
            Span::plain(ARROW),
            Span::new(Style::After, after),
        ]);
    } else {
        page.marked_value(2, "", Style::Plain, &pointer);
        page.marked_value(4, "  ", Style::Before, &before);
        page.marked_value(4, "→ ", Style::After, &after);
    }
    for (which, value) in [("before", &change.before), ("after", &change.after)] {
        if let Some(remark) = remark(value.as_ref()) {
            page.marked_value(4, "! ", Style::Warn, &format!("{which}: {remark}"));
        }
    }
}

/// The resource, its version and how the version is held against the one that was read.
pub(super) fn target(page: &mut Paper, detail: &OperationDetail) {
    let target = &detail.summary.target;
    page.heading("Target");
    page.field(&safe(&target.kind), &safe(&target.id));
    match &target.version {
        Some(version) => {
            let check = match detail.check {
                TargetCheck::IfMatch => "checked by the service together with the write",
                TargetCheck::Read => "read just before the write; a short window stays",
                TargetCheck::Absent => "not checked",
            };
            page.field("version", &format!("{} ({check})", json(Some(version))));
        }
        None => page.field("version", "none: it is created"),
    }
    if target.scope != target.id {
        page.field("locked", &safe(&target.scope));
    }
    let request = &detail.request;
    page.field("environment", &format!("{} (base {})", safe(&request.origin), safe(&request.base)));
}

/// Recipients, amount, affected count: whatever the contract lists.
pub(super) fn consequences(page: &mut Paper, detail: &OperationDetail) {
    match &detail.consequences {
        Value::Null => {}
        Value::Object(members) if members.is_empty() => {}
        Value::Object(members) => {
            page.heading("Consequences");
            let names = members.keys().map(|name| safe(&name.replace('_', " ")));
            let label = names.clone().map(|name| wrap::columns(&name) + 2).max().unwrap_or_default();
            for (name, value) in names.zip(members.values()) {
                consequence(page, label.clamp(LABEL, MAX_LABEL), &name, value);
            }
        }
        other => {
            page.heading("Consequences");
            page.value_field("", &json(Some(other)));
        }
    }
}

/// The widest label that values still stand beside.
const MAX_LABEL: usize = 26;

fn consequence(page: &mut Paper, label: usize, name: &str, value: &Value) {
    match value {
        Value::Array(items) if items.is_empty() => page.wide_value_field(label, name, "none"),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                page.wide_value_field(label, if index == 0 { name } else { "" }, &bare(item));
            }
        }
        other => page.wide_value_field(label, name, &bare(other)),
    }
}

/// What the contract says about effects beyond the fields, and about undoing them.
pub(super) fn effects(page: &mut Paper, detail: &OperationDetail) {
    page.heading("Effects");
    list(page, "direct", &detail.direct);
    list(page, "indirect", &detail.indirect);
    let (style, undo) = match detail.reversible.as_str() {
        "yes" => (Style::Plain, "yes".to_owned()),
        "no" => (Style::Warn, "no: it cannot be undone".to_owned()),
        "compensate" => (Style::Plain, "only by a new write that compensates it".to_owned()),
        other => (Style::Warn, safe(other)),
    };
    page.styled_field("can be undone", style, &undo);
    for (index, residual) in detail.residual.iter().enumerate() {
        page.styled_field(if index == 0 { "what remains" } else { "" }, Style::Warn, &safe(residual));
    }
}

fn list(page: &mut Paper, label: &str, items: &[String]) {
    for (index, item) in items.iter().enumerate() {
        page.field(if index == 0 { label } else { "" }, &safe(item));
    }
}

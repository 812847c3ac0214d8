//! What the policy table in force says of a write: each rule with its reason, then all of them together.

use super::policy::persons;
use crate::api::wire::{BesideView, ExplainView, RuleView};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::domain::operation::Compared;
use crate::domain::principal::Assurance;

/// The whole page.
pub(crate) fn explained(view: &ExplainView) -> Paper {
    let mut page = Paper::new();
    page.prose(Style::Strong, &safe(&view.effect_text));
    match view.operation {
        Some(id) => page.field("operation", &id.to_string()),
        None => page.styled_field(
            "dry run",
            Style::Warn,
            "nothing was stored, and nothing was sent but the read that the preview needs",
        ),
    }
    page.field("tool", &safe(&view.tool));
    page.field("table", &view.version.to_string());
    page.heading("Rules of the table in force");
    if view.rules.is_empty() {
        page.item(Style::Plain, "none is for this tenant");
    }
    for rule in &view.rules {
        one(&mut page, rule);
    }
    page.heading("Together");
    together(&mut page, view);
    if let Some(stored) = &view.stored {
        beside(&mut page, stored);
    }
    page
}

fn one(page: &mut Paper, rule: &RuleView) {
    let (style, word) = if rule.matched { (Style::After, "matches ") } else { (Style::Dim, "does not") };
    page.line(vec![
        Span::plain("  "),
        Span::new(style, word),
        Span::plain(" "),
        Span::new(Style::Strong, safe(&rule.rule)),
        Span::plain(format!(": {}", safe(&rule.says))),
    ]);
    if let Some(why) = why(rule) {
        page.field("", &why);
    }
    if let Some(condition) = &rule.condition {
        page.value_field("when", &safe(condition));
    }
}

fn why(rule: &RuleView) -> Option<String> {
    match (rule.matched, rule.missed.as_deref()) {
        (true, _) if rule.by_error => {
            Some("its condition cannot be evaluated on these facts: that counts as a match".to_owned())
        }
        (true, _) | (false, None) => None,
        (false, Some("when")) if rule.by_error => {
            Some("its condition cannot be evaluated on these facts, and it would have allowed".to_owned())
        }
        (false, Some("when")) => Some("its condition does not hold".to_owned()),
        (false, Some(matcher)) => {
            let wanted = safe(rule.wanted.as_deref().unwrap_or_default());
            let found = rule.found.as_deref().map_or_else(|| "nothing".to_owned(), safe);
            Some(format!("{matcher}: it wants {wanted}, here it is {found}"))
        }
    }
}

fn together(page: &mut Paper, view: &ExplainView) {
    if let Some(denied) = &view.denied {
        let words = format!("by {}: {}", safe(&denied.rule), safe(&denied.reason));
        return page.styled_field("denied", Style::Before, &words);
    }
    if view.needed.is_empty() {
        page.field("asks for", "nobody's approval");
    } else {
        let mut words = persons(&view.needed);
        if view.assurance > Assurance::LocalUid {
            words.push_str(&format!(", known by {} at least", view.assurance.as_str()));
        }
        page.field("asks for", &words);
    }
    if !view.excluded.is_empty() {
        page.field("not from", &view.excluded.iter().map(|name| safe(name)).collect::<Vec<_>>().join(", "));
    }
    if view.reason_required {
        page.field("reason", "each approval needs one");
    }
    if view.each_attempt {
        page.field("attempts", "each needs approvals of its own");
    }
    for (label, within) in [("decide in", view.decide_within_ms), ("execute in", view.execute_within_ms)] {
        if let Some(within) = within {
            let span = std::time::Duration::from_millis(within);
            page.field(label, &humantime::format_duration(span).to_string());
        }
    }
}

fn beside(page: &mut Paper, stored: &BesideView) {
    page.heading("Beside what it was judged by");
    for (index, matched) in stored.policy.matched.iter().enumerate() {
        let label = if index == 0 { "rules" } else { "" };
        page.field(label, &format!("{}: {}", safe(&matched.rule), safe(&matched.says)));
    }
    let asked = persons(&stored.policy.needed);
    page.field("asked for", if asked.is_empty() { "nobody's approval" } else { &asked });
    page.field("table", if stored.other_table { "another one" } else { "the same" });
    let (style, words) = match stored.compared {
        Compared::Same => (Style::Plain, "asks for the same"),
        Compared::Weaker => (Style::Plain, "asks for less; what was asked for still holds"),
        Compared::Stricter => (Style::Warn, "is stricter"),
        Compared::Denied => (Style::Before, "forbids it"),
    };
    page.styled_field("now", style, &format!("the table in force {words}"));
    if stored.compared == Compared::Denied {
        return;
    }
    let missing = persons(&stored.missing);
    let words = if stored.satisfied { "the decisions so far are enough" } else { &missing };
    page.field(if stored.satisfied { "decisions" } else { "missing" }, words);
}

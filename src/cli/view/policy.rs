//! What the policy says, what of a proposal is a claim, and what has changed since the one that it replaces.

use crate::api::wire::{NeededView, OperationDetail, PolicyView};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::{json, safe};
use crate::domain::operation::State;
use crate::domain::principal::Assurance;

/// The arguments that nobody but the requester vouches for.
pub(super) fn claims(page: &mut Paper, detail: &OperationDetail) {
    if detail.claims.is_empty() {
        return;
    }
    page.heading("Claims: the requester says so, no service checks it");
    for pointer in &detail.claims {
        page.marked_value(2, "", Style::Warn, &safe(pointer));
        page.marked_value(4, "= ", Style::Plain, &json(detail.arguments.pointer(pointer)));
    }
}

/// What an approver of the proposal before would be surprised by.
pub(super) fn since(page: &mut Paper, detail: &OperationDetail) {
    let Some(changes) = &detail.since_superseded else { return };
    page.heading("Different from the proposal that it replaces");
    if changes.is_empty() {
        page.item(Style::Plain, "no changed field: it is made again on the present version");
    }
    for change in changes {
        page.marked_value(2, "", Style::Plain, &safe(&change.pointer));
        page.marked_value(4, "was ", Style::Before, &json(change.before.as_ref()));
        page.marked_value(4, "is  ", Style::After, &json(change.after.as_ref()));
    }
}

/// The rules that matched, and what they ask for together.
pub(super) fn rules(page: &mut Paper, detail: &OperationDetail) {
    let policy = &detail.policy;
    page.heading("Policy");
    for (index, matched) in policy.matched.iter().enumerate() {
        let error =
            if matched.by_error { " (its condition cannot be evaluated: counted as a match)" } else { "" };
        let label = if index == 0 { "rules" } else { "" };
        page.field(label, &format!("{}: {}{error}", safe(&matched.rule), safe(&matched.says)));
    }
    if let Some(rule) = &policy.denied_by {
        let words =
            format!("the rule {} of the policy in force forbids it: nobody can approve it", safe(rule));
        page.styled_field("denied", Style::Warn, &words);
    } else if policy.tightened {
        page.styled_field(
            "stricter",
            Style::Warn,
            "the policy in force asks for more than when it was proposed",
        );
    }
    let asked = asked(policy);
    page.field("asks for", if asked.is_empty() { "nobody's approval" } else { &asked });
    page.field("table", &policy.version.to_string());
}

fn asked(policy: &PolicyView) -> String {
    let mut words = persons(&policy.needed);
    if words.is_empty() {
        return words;
    }
    if policy.assurance > Assurance::LocalUid {
        words.push_str(&format!(", known by {} at least", policy.assurance.as_str()));
    }
    if policy.reason_required {
        words.push_str(", each with a reason");
    }
    if policy.each_attempt {
        words.push_str(", for each attempt anew");
    }
    words
}

/// `2 different persons of crm and 1 person of money`.
pub(super) fn persons(needed: &[NeededView]) -> String {
    let one = |needed: &NeededView| {
        let persons = if needed.count == 1 {
            "1 person".to_owned()
        } else {
            format!("{} different persons", needed.count)
        };
        match &needed.group {
            Some(group) => format!("{persons} of the group {}", safe(group)),
            None => format!("{persons} with the role approver"),
        }
    };
    needed.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Who is still waited for, and who cannot be that; nothing where nobody is.
pub(super) fn waited_for(detail: &OperationDetail) -> Option<String> {
    let (view, policy) = (&detail.summary, &detail.policy);
    if view.state != State::Proposed || policy.missing.is_empty() || policy.denied_by.is_some() {
        return None;
    }
    let mut excluded = vec![safe(&view.requester.name)];
    excluded.extend(view.on_behalf_of.iter().map(|name| safe(name)));
    excluded.extend(detail.owner.iter().map(|name| safe(name)));
    excluded.extend(policy.excluded.iter().map(|name| safe(name)));
    let mut named = std::collections::BTreeSet::new();
    excluded.retain(|name| named.insert(name.clone()));
    Some(format!("{}, not {}", persons(&policy.missing), excluded.join(", not ")))
}

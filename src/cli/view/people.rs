//! Who asks, for whom and why; who has decided and who is still waited for.

use crate::api::wire::{DecisionView, OperationDetail};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::{safe, time};
use crate::domain::operation::{Actor, Verdict};
use crate::domain::principal::PrincipalKind;

/// Who asks, for whom, in which run, and why: the last in a box, because nobody has checked it.
pub(super) fn asked(page: &mut Paper, detail: &OperationDetail) {
    let view = &detail.summary;
    page.heading("Asked by");
    page.field("requester", &actor(&view.requester));
    if let Some(owner) = &detail.owner {
        page.field("owner", &safe(owner));
    }
    if let Some(person) = &view.on_behalf_of {
        page.field("on behalf of", &safe(person));
    }
    page.field("run", &view.run.to_string());
    page.field("proposed", &time(view.created));
    if let Some(older) = view.supersedes {
        page.field("instead of", &older.to_string());
    }
    if let Some(undone) = view.compensation_of {
        page.field("compensates", &undone.to_string());
    }
    if let Some(compensation) = view.compensation {
        page.field("compensation", &compensation.to_string());
    }
    let who = match view.requester.kind {
        PrincipalKind::Agent | PrincipalKind::Service => "the agent",
        PrincipalKind::User | PrincipalKind::Operator => "the requester",
    };
    page.boxed(&format!("purpose: claimed by {who} (untrusted)"), &safe(&detail.purpose));
}

/// Name, kind, person, and how sure the daemon was.
fn actor(actor: &Actor) -> String {
    let person =
        if actor.person == actor.name { String::new() } else { format!(" of {}", safe(&actor.person)) };
    format!("{} ({}{person}, {})", safe(&actor.name), actor.kind.as_str(), actor.assurance.as_str())
}

/// The decisions in order, and what is missing.
pub(super) fn decided(page: &mut Paper, detail: &OperationDetail) {
    page.heading("Decisions");
    for decision in &detail.decisions {
        decision_line(page, decision);
    }
    if let Some(waited_for) = super::policy::waited_for(detail) {
        page.styled_field("waits for", Style::Warn, &waited_for);
    } else if detail.decisions.is_empty() {
        page.field("", "none");
    }
    if let Some(note) = &detail.assurance_note {
        page.styled_field("note", Style::Dim, &safe(note));
    }
}

fn decision_line(page: &mut Paper, decision: &DecisionView) {
    let (style, verdict) = match decision.verdict {
        Verdict::Approve => (Style::After, "approved"),
        Verdict::Deny => (Style::Before, "denied"),
    };
    let void = if decision.void { ", does not count" } else { "" };
    page.styled_field(
        verdict,
        if decision.void { Style::Dim } else { style },
        &format!("{} at {}{void}", actor(&decision.by), time(decision.at)),
    );
    if let Some(note) = &decision.note {
        page.field("", &format!("\"{}\"", safe(note)));
    }
}

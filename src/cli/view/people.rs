//! Who asks, for whom and why; who has decided and who is still waited for.

use crate::api::wire::{DecisionView, OperationDetail};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::{safe, time};
use crate::domain::operation::{Actor, State, Verdict};
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
    let view = &detail.summary;
    page.heading("Decisions");
    for decision in &detail.decisions {
        decision_line(page, decision);
    }
    let missing = view.approvals_needed.saturating_sub(view.approvals);
    if view.state == State::Proposed && missing > 0 {
        let people =
            if missing == 1 { "1 person".to_owned() } else { format!("{missing} different persons") };
        let mut excluded = vec![safe(&view.requester.name)];
        excluded.extend(view.on_behalf_of.iter().map(|name| safe(name)));
        excluded.extend(detail.owner.iter().map(|name| safe(name)));
        excluded.dedup();
        page.styled_field(
            "waits for",
            Style::Warn,
            &format!("{people} with the role approver, not {}", excluded.join(", not ")),
        );
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

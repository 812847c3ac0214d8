//! What can be typed next, and by whom.

use crate::api::wire::OperationView;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::domain::Digest;
use crate::domain::operation::{CommitMode, Loss, State};

/// How many leading digits of a digest are typed; `approve` takes no fewer.
pub(crate) const TYPED_DIGITS: usize = 12;

/// The leading digits of a digest.
pub(crate) fn leading(digest: Digest, digits: usize) -> String {
    digest.to_string().chars().take(digits).collect()
}

/// The commands, each on a line of its own. Only below the whole view stands how to approve what it shows.
pub(super) fn next(page: &mut Paper, view: &OperationView, whole: bool) {
    let mut steps = steps(view);
    if !whole && view.state == State::Proposed {
        steps = vec![
            ("an approver, to read and judge it", format!("writd op show {}", view.id)),
            ("the requester, to withdraw it", format!("writd op cancel {}", view.id)),
        ];
    }
    if steps.is_empty() {
        return;
    }
    page.heading("Next");
    for (who, command) in steps {
        page.item(Style::Dim, who);
        for line in command.lines() {
            page.command(&format!("  {line}"));
        }
    }
}

fn steps(view: &OperationView) -> Vec<(&'static str, String)> {
    let id = view.id;
    match view.state {
        State::Proposed => vec![
            (
                "an approver, after reading all of the above",
                format!("writd op approve {id} --digest {}", leading(view.proposal_sha256, TYPED_DIGITS)),
            ),
            ("an approver who refuses it", format!("writd op deny {id} --reason TEXT")),
            ("the requester, to withdraw it", format!("writd op cancel {id}")),
        ],
        State::Approved => {
            let mut steps = Vec::new();
            if view.commit == CommitMode::Explicit {
                steps.push(("the requester, to execute it", format!("writd op commit {id}")));
            }
            if view.approvals > 0 {
                steps.push(("whoever approved it, to take that back", format!("writd op revoke {id}")));
            }
            steps.push(("the requester or an operator, to stop it", format!("writd op cancel {id}")));
            steps
        }
        State::Executing => vec![("to see how it ends", format!("writd op show {id} --wait 30s"))],
        State::Unknown => {
            let mut steps = vec![("an operator, to ask the service now", format!("writd op reconcile {id}"))];
            if view.doubt.as_ref().is_some_and(|doubt| doubt.cause.starts_with(Loss::UNPROVEN)) {
                steps.push(("an operator, to read what the service said", format!("writd op answer {id}")));
            }
            steps.extend([
                ("an operator who knows what happened", format!("writd op resolve {id} applied --note TEXT")),
                (
                    "an operator who gives up finding out, and takes the risk",
                    format!("writd op abandon {id} --reason TEXT"),
                ),
            ]);
            steps
        }
        State::Failed | State::Denied | State::Expired | State::Cancelled => match &view.outcome {
            Some(outcome) if outcome.current_version.is_some() => vec![(
                "the requester: read the target again, then propose anew",
                format!("writd propose {} --args FILE \\\n  --supersedes {id}", major(view)),
            )],
            _ => vec![("to see what happened", format!("writd op events {id}"))],
        },
        State::Succeeded
        | State::Abandoned
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => vec![("to see what happened", format!("writd op events {id}"))],
    }
}

/// The tool as proposals name it.
fn major(view: &OperationView) -> String {
    let major = view.version.split('.').next().unwrap_or_default();
    crate::cli::output::values::safe(&format!("{}.v{major}", view.tool))
}

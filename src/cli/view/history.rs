//! Clocks, attempts, doubt, outcome and evidence.

use crate::api::wire::{
    AttemptView, DoubtView, OperationDetail, OperationView, OutcomeView, RawAnswerView, ResultView,
};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::{json, safe, span, time};
use crate::domain::Millis;
use crate::domain::operation::{CommitMode, Evidence, Readback, RecoveryTier, State};

/// What is true now, beyond state and effect: outcome, doubt, wait.
pub(super) fn now(page: &mut Paper, detail: &OperationDetail) {
    let view = &detail.summary;
    if let Some(outcome) = &view.outcome {
        self::outcome(page, outcome);
    }
    if let Some(result) = &detail.result {
        self::result(page, result);
    }
    if let Some(doubt) = &view.doubt {
        self::doubt(page, doubt);
        let tier = match detail.tier {
            RecoveryTier::StatusByKey => "the daemon asks the service by the operation's key",
            RecoveryTier::ReplayByKey => "the daemon sends the same request under the same key",
            RecoveryTier::Search => {
                "a search at the service helps the operator; only the operator settles it"
            }
            RecoveryTier::None => "only an operator can settle it",
        };
        page.field("settled by", tier);
    }
    waits(page, view);
    if let Some(remote) = &detail.remote {
        page.value_field("remote id", &safe(remote));
    }
}

/// How it ended, and how that is known.
pub(super) fn outcome(page: &mut Paper, outcome: &OutcomeView) {
    if let Some(code) = outcome.code {
        page.styled_field("code", Style::Before, &format!("{code}: {}", code.title()));
    }
    if let Some(version) = &outcome.current_version {
        page.styled_field("version now", Style::Warn, &json(Some(version)));
    }
    if let Some(version) = &outcome.new_version {
        page.styled_field("new version", Style::After, &json(Some(version)));
    }
    if let Some(evidence) = outcome.evidence {
        let words = match evidence {
            Evidence::Answer => "answer: the service said so",
            Evidence::Status => "status: the service said so when asked by the key",
            Evidence::LateAnswer => "late_answer: an answer after the deadline",
            Evidence::Operator => "operator: a person said so",
            Evidence::NothingSent => "nothing_sent: not a byte left this machine",
        };
        page.field("evidence", words);
    }
    match &outcome.readback {
        None => {}
        Some(Readback::Agrees) => page.field("read back", "an independent read saw what was expected"),
        Some(Readback::Differs(places)) => {
            let places = safe(&places.join(", "));
            page.styled_field("read back", Style::Warn, &format!("it saw something else at {places}"));
        }
        Some(Readback::Unavailable(why)) => {
            page.styled_field("read back", Style::Warn, &format!("not possible: {}", safe(why)));
        }
    }
    for part in &outcome.effects {
        page.field("part", &format!("{}: {}", safe(&part.name), part.state));
    }
    if let Some(receipt) = &outcome.receipt {
        page.value_field("receipt", &json(Some(receipt)));
    }
    if let Some(detail) = &outcome.detail {
        page.boxed("said by the service or an operator (untrusted)", &safe(detail));
    }
}

/// An answer that claimed success and proves nothing.
pub(crate) fn raw_answer(raw: &RawAnswerView) -> Paper {
    let mut page = Paper::new();
    page.field("attempt", &raw.attempt.to_string());
    page.field("came at", &time(raw.at));
    page.field("status", &raw.status.to_string());
    page.field("size", &format!("{} bytes", raw.size));
    page.field("sha-256", &raw.sha256.to_string());
    if raw.cut {
        page.styled_field("shown", Style::Warn, "not all of it, or not as it came");
    }
    page.boxed("said by the service (untrusted; it proves nothing)", &safe(&raw.text));
    page
}

/// What the receipt says beyond that; the service's word.
fn result(page: &mut Paper, result: &ResultView) {
    if let Some(fields) = &result.changed_fields {
        page.field("changed", &safe(&fields.join(", ")));
    }
    if let Some(at) = &result.committed_at {
        page.field("committed at", &safe(at));
    }
    if let Some(at) = &result.expires_at {
        page.styled_field("expires at", Style::Warn, &safe(at));
    }
}

/// Why nobody knows, since when, and what was learned.
pub(super) fn doubt(page: &mut Paper, doubt: &DoubtView) {
    let since = format!("{} ({} ago)", time(doubt.since), span(Millis(doubt.age_ms)));
    page.styled_field("unknown since", Style::Warn, &since);
    page.field("because", &safe(&doubt.cause));
    match (&doubt.last_status, doubt.last_status_at) {
        (Some(said), Some(at)) => {
            page.field(
                "last status",
                &format!("{} at {} (of {})", safe(said), time(at), doubt.status_answers),
            );
        }
        (Some(said), None) => page.field("last status", &safe(said)),
        (None, _) => page.field("last status", "the service has not said anything about it yet"),
    }
    if let Some(paused) = doubt.paused {
        page.styled_field(
            "paused",
            Style::Warn,
            &format!("since {}: an operator is needed, nothing is sent any more", time(paused)),
        );
    }
}

/// What an approved one waits for, and what was asked to stop.
pub(super) fn waits(page: &mut Paper, view: &OperationView) {
    if view.state == State::Proposed {
        let missing = view.approvals_needed.saturating_sub(view.approvals);
        let until = with_rest(time(view.clocks.decide_by), view.clocks.decide_remaining_ms);
        page.styled_field(
            "waits",
            Style::Warn,
            &format!("for {missing} of {} approvals, until {until}", view.approvals_needed),
        );
    } else if let Some(wait) = &view.wait {
        let until =
            wait.until.map(|until| format!(", looked at again at {}", time(until))).unwrap_or_default();
        page.styled_field("waits", Style::Warn, &format!("{}{until}", safe(&wait.detail)));
    } else if view.state == State::Approved && view.commit == CommitMode::Explicit {
        page.styled_field("waits", Style::Warn, "until its requester commits it");
    }
    if view.no_more_attempts {
        page.styled_field("stopped", Style::Warn, "no further attempt starts; the outcome is still learned");
    }
    if view.needs_operator {
        page.styled_field("operator", Style::Warn, "somebody has to look at this");
    }
}

/// Both clocks, counted in the daemon's time.
pub(super) fn clocks(page: &mut Paper, view: &OperationView) {
    let clocks = &view.clocks;
    page.heading("Clocks");
    page.field("decide by", &with_rest(time(clocks.decide_by), clocks.decide_remaining_ms));
    if let Some(expires) = clocks.expires {
        page.field("holds until", &format!("{} by its preview; nothing is executed later", time(expires)));
    }
    match clocks.execute_by {
        Some(execute_by) => {
            page.field("execute by", &with_rest(time(execute_by), clocks.execute_remaining_ms));
        }
        None => page.field(
            "execute by",
            &format!("{} after the first approval", span(Millis(clocks.execute_within_ms))),
        ),
    }
}

fn with_rest(time: String, remaining: Option<u64>) -> String {
    match remaining {
        Some(0) => format!("{time} (has passed)"),
        Some(remaining) => format!("{time} ({} left)", span(Millis(remaining))),
        None => time,
    }
}

/// The tries, in order.
pub(super) fn attempts(page: &mut Paper, detail: &OperationDetail) {
    if detail.attempts.is_empty() {
        return;
    }
    page.heading(&format!("Attempts ({} of at most {})", detail.attempts.len(), detail.max_attempts));
    for (index, attempt) in detail.attempts.iter().enumerate() {
        page.field(&format!("{}", index + 1), &attempt_words(attempt));
    }
}

fn attempt_words(attempt: &AttemptView) -> String {
    let result = match (attempt.result.as_str(), attempt.code, &attempt.cause) {
        ("running", ..) => format!("runs until {}", time(attempt.deadline)),
        ("no_effect", Some(code), _) => format!("proven without effect: {code}"),
        ("lost", _, Some(cause)) => format!("outcome lost: {}", safe(cause)),
        ("final", ..) => "ended the operation".to_owned(),
        (other, ..) => safe(other),
    };
    let took = attempt.ended.map(|ended| format!(" after {} ms", ended.since(attempt.started).0));
    format!("{} {result}{}", time(attempt.started), took.unwrap_or_default())
}

/// Answers after the end: evidence that changed no state.
pub(super) fn late(page: &mut Paper, detail: &OperationDetail) {
    if detail.late_answers.is_empty() {
        return;
    }
    page.heading("Late answers");
    for late in &detail.late_answers {
        page.styled_field("evidence", Style::Warn, &format!("{} at {}", safe(&late.answer), time(late.at)));
        if let Some(receipt) = &late.receipt {
            page.value_field("receipt", &json(Some(receipt)));
        }
    }
}

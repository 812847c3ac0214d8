//! What should have happened by now: reviews, drills, retirements. Told as warnings; nothing is refused for them, because
//! a date that passes must not stop a daemon. The day is given: this module reads no clock.

use jiff::civil::Date;

use super::contract::Contract;
use super::finding::{Finding, FindingCode, Findings};
use super::model::{Compensation, Lifecycle};
use crate::domain::Millis;

/// More tools than this at once are beyond what models and their providers take.
const MAX_TOOLS: usize = 128;
const DAY: u64 = 24 * 3600 * 1000;

/// A warning that holds from a day on.
#[derive(Clone, Debug)]
pub(super) struct Due {
    /// After this day; without one, always.
    after: Option<Date>,
    finding: Finding,
}

impl Due {
    pub(super) fn is_told(&self, today: Date) -> bool {
        self.after.is_none_or(|after| today > after)
    }

    pub(super) fn finding(&self) -> &Finding {
        &self.finding
    }
}

fn due(after: Option<Date>, code: FindingCode, at: &str, message: String, remedy: &str) -> Due {
    let mut findings = Findings::default();
    findings.add(code, at, message, remedy);
    let finding = findings.into_sorted().remove(0);
    Due { after, finding }
}

/// Everything that a contract promises to somebody's calendar.
pub(super) fn dues(contract: &Contract) -> Vec<Due> {
    let mut out = Vec::new();
    if let Some(day) = contract.review_by.as_deref().and_then(day) {
        let message = format!("its review was due on {day}");
        let remedy = "look whether it still says what the service does, and set `review_by` to a later day";
        out.push(due(Some(day), FindingCode::OverdueReview, "/review_by", message, remedy));
    }
    if let Lifecycle::Deprecated { until: Some(until), .. } = &contract.lifecycle
        && let Some(day) = day(until)
    {
        let message = format!("it was to be used until {day} only");
        let remedy =
            "look what still uses it with `writd contracts retire --plan`, then set `state: retired`";
        out.push(due(Some(day), FindingCode::OverdueRetirement, "/lifecycle/until", message, remedy));
    }
    if let Some(parts) = &contract.write
        && let Compensation::Tool(undo) = &parts.compensation
        && let Some(every) = undo.drill_every
    {
        let at = "/compensation/drill_every";
        let remedy = "rehearse the compensation and write the day into `compensation.drilled_on`";
        match undo.drilled_on.as_deref().and_then(day).and_then(|last| later(last, every)) {
            Some(next) => {
                let message = format!("the next drill of the compensation was due on {next}");
                out.push(due(Some(next), FindingCode::OverdueDrill, at, message, remedy));
            }
            None => {
                let message = "drills are declared, and none is recorded".to_owned();
                out.push(due(None, FindingCode::OverdueDrill, at, message, remedy));
            }
        }
    }
    out
}

/// A warning about the whole catalog.
pub(super) fn too_many(count: usize) -> Option<Due> {
    let message = format!("there are {count} tools; models choose badly among more than {MAX_TOOLS}");
    let remedy = "retire what nobody uses, and give each role only what it needs";
    (count > MAX_TOOLS).then(|| due(None, FindingCode::TooManyTools, "", message, remedy))
}

/// Puts a place into the warnings.
pub(super) fn place(dues: &mut [Due], file: &str, line: impl Fn(&str) -> (usize, usize)) {
    for due in dues {
        file.clone_into(&mut due.finding.file);
        (due.finding.line, due.finding.column) = line(&due.finding.pointer);
    }
}

fn day(text: &str) -> Option<Date> {
    text.parse().ok()
}

fn later(day: Date, by: Millis) -> Option<Date> {
    let days = i64::try_from(by.0.div_ceil(DAY)).ok()?;
    day.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

//! A report of the contract kit for people: what holds in one line per part, what does not with why and what to do.

use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::kit::{Check, Part, Report, ToolReport, Verdict};

/// The whole report.
pub(super) fn page(report: &Report, live: bool) -> Paper {
    let mut page = Paper::new();
    for tool in &report.tools {
        one(&mut page, tool);
    }
    page.gap();
    let count = |verdict| report.count(verdict);
    let sum = format!(
        "{} contracts, {} checks: {} failed, {} unproven",
        report.tools.len(),
        report.tools.iter().map(|tool| tool.checks.len()).sum::<usize>(),
        count(Verdict::Failed),
        count(Verdict::Unproven)
    );
    page.prose(Style::Strong, &sum);
    if !live {
        let hint = "the services were not asked: --base URL (a sandbox), or --live (as daemon.toml says)";
        page.prose(Style::Dim, hint);
    }
    page
}

fn one(page: &mut Paper, tool: &ToolReport) {
    page.heading(&safe(&format!("{} ({})", tool.tool, tool.version)));
    if let Some(origin) = &tool.origin {
        page.field("tried at", &safe(origin));
    }
    for part in Part::ALL {
        let checks: Vec<&Check> = tool.checks.iter().filter(|check| check.part == part).collect();
        if checks.is_empty() {
            continue;
        }
        let good = checks.iter().filter(|check| check.verdict == Verdict::Passed).count();
        match part {
            Part::Input | Part::Boundary => {
                let what = if part == Part::Input { "taken" } else { "refused at their place, nothing sent" };
                page.field(part.title(), &format!("{good} of {} {what}", checks.len()));
                checks
                    .iter()
                    .filter(|check| check.verdict != Verdict::Passed)
                    .for_each(|check| line(page, check));
            }
            Part::Service | Part::Case => {
                page.field(part.title(), &format!("{good} of {} hold", checks.len()));
                checks.iter().for_each(|check| line(page, check));
            }
        }
    }
}

fn line(page: &mut Paper, check: &Check) {
    let (style, word) = match check.verdict {
        Verdict::Passed => (Style::After, "ok"),
        Verdict::NotAsked => (Style::Dim, "not asked"),
        Verdict::Unproven => (Style::Warn, "unproven"),
        Verdict::Failed => (Style::Before, "FAILED"),
    };
    page.styled_field(word, style, &safe(&check.name));
    if !check.detail.is_empty() {
        page.styled_field("", Style::Dim, &safe(&check.detail));
    }
    if !check.remedy.is_empty() {
        page.field("", &format!("→ {}", safe(&check.remedy)));
    }
}

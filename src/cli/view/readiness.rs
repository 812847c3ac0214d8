//! The readiness report: each finding with its weight, code and place, what it means, what to do.

use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::daemon::readiness::{Gap, Report};

/// Its lines, under a heading.
pub(crate) fn readiness(page: &mut Paper, report: &Report) {
    page.heading("Fit for production?");
    for finding in &report.findings {
        let (style, word) = if finding.code.is_broken() {
            (Style::Before, "BROKEN")
        } else if finding.blocks {
            (Style::Before, "blocks")
        } else {
            (Style::Warn, "advice")
        };
        page.line(vec![
            Span::new(style, word),
            Span::plain(" "),
            Span::new(Style::Strong, finding.code.as_str()),
        ]);
        page.field("at", &safe(&finding.place));
        page.field("", &safe(&finding.meaning));
        page.field("", &format!("→ {}", safe(&finding.remedy)));
    }
    if !report.has(&[Gap::NotTested, Gap::Unproven, Gap::NoContracts, Gap::RecordUnreadable]) {
        page.line(vec![Span::new(Style::After, "ok    "), Span::plain(" contract tests")]);
        page.field("", "every contract passed a live test in its present form");
    }
    let (blocking, all) = (report.blocking(), report.findings.len());
    let verdict = if report.is_ready() { "ready: nothing blocks" } else { "not ready" };
    page.gap();
    page.prose(Style::Strong, &format!("{verdict}; {blocking} block, {} are advice", all - blocking));
}

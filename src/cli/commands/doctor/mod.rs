//! `writd doctor`: one line per thing that is looked at. It only looks: nothing is started, written or mended, and the
//! value of no secret is read into a message.

mod daemon;
mod files;

use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;
use crate::config::Config;
use crate::contracts::Catalog;
use crate::daemon::readiness::{self, Look, Report};
use crate::domain::Code;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// As it should be.
    Good,
    /// Works, but somebody should know.
    Warning,
    /// Does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    help: String,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, verdict: Verdict::Good, found: found.into(), help: String::new() }
    }

    fn warning(name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Check {
        Check { name, verdict: Verdict::Warning, found: found.into(), help: help.into() }
    }

    fn bad(name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Check {
        Check { name, verdict: Verdict::Bad, found: found.into(), help: help.into() }
    }
}

/// Looks at everything, whatever is found on the way.
pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let mut checks = Vec::new();
    let config = configuration(context, &mut checks);
    let mut ready = None;
    if let Some(config) = &config {
        principals(config, context.as_name(), &mut checks);
        ready = contracts(config, &mut checks).map(|catalog| readiness_of(config, &catalog, context));
        files::state(config, &mut checks);
        files::clock(config, &mut checks);
    }
    match context.socket() {
        Ok(socket) => {
            files::socket(&socket, config.as_ref(), &mut checks);
            context.talk(async {
                daemon::check(&context.client()?, &mut checks).await;
                Ok(())
            })?;
        }
        // The findings of the configuration are told above.
        Err(_) => checks.push(Check::bad(
            "socket",
            "where it is, is not known",
            "mend the configuration, or --socket PATH",
        )),
    }
    let mut answer = serde_json::json!({ "checks": checks });
    if let Some(report) = &ready {
        answer["readiness"] = serde_json::json!({
            "ready": report.is_ready(), "blocking": report.blocking(), "findings": report.findings,
        });
    }
    context.output.answer(&answer, || {
        let mut page = page(&checks);
        if let Some(report) = &ready {
            crate::cli::view::readiness(&mut page, report);
        }
        page
    })?;
    let broken = |report: &Report| report.findings.iter().any(|finding| finding.code.is_broken());
    if ready.as_ref().is_some_and(broken) {
        return Err(Failure::Told(Code::ConfigurationInvalid));
    }
    match checks.iter().map(|check| check.verdict).max() {
        Some(Verdict::Bad) => Err(Failure::Told(Code::ConfigurationInvalid)),
        Some(Verdict::Warning | Verdict::Good) | None => Ok(()),
    }
}

/// The readiness report, as `serve --production` would make it in this environment.
pub(super) fn readiness_of(config: &Config, catalog: &Catalog, context: &Context) -> Report {
    let (file, today) = (readiness::file_of(context.config_file()), super::now().date());
    let own_uid = rustix::process::geteuid().as_raw();
    readiness::report(Look { config, file: Some(&file), catalog, own_uid, today: &today })
}

fn page(checks: &[Check]) -> Paper {
    let mut page = Paper::new();
    for check in checks {
        let (style, word) = match check.verdict {
            Verdict::Good => (Style::After, "ok     "),
            Verdict::Warning => (Style::Warn, "warning"),
            Verdict::Bad => (Style::Before, "BAD    "),
        };
        page.line(vec![Span::new(style, word), Span::plain(" "), Span::new(Style::Strong, check.name)]);
        page.field("", &safe(&check.found));
        if !check.help.is_empty() {
            page.field("", &format!("→ {}", safe(&check.help)));
        }
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    page.gap();
    let sum =
        format!("{} checks: {} bad, {} warnings", checks.len(), count(Verdict::Bad), count(Verdict::Warning));
    page.prose(Style::Strong, &sum);
    page
}

fn configuration(context: &Context, checks: &mut Vec<Check>) -> Option<Config> {
    match context.config() {
        Ok((config, warnings)) => {
            checks.push(Check::good("configuration", "no errors"));
            for warning in warnings {
                let found = format!("{}: {}: {}", warning.code, warning.path, warning.message);
                checks.push(Check::warning("configuration", found, warning.help.unwrap_or_default()));
            }
            Some(config)
        }
        Err(Failure::Config(errors)) => {
            for error in errors {
                let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
                let found =
                    format!("{}{line}: {} {}: {}", error.source, error.code, error.path, error.message);
                checks.push(Check::bad("configuration", found, error.help.unwrap_or_default()));
            }
            None
        }
        Err(_) => None,
    }
}

/// Who this account is to the daemon.
fn principals(config: &Config, as_name: Option<&str>, checks: &mut Vec<Check>) {
    let uid = rustix::process::geteuid().as_raw();
    match config.identify(uid, as_name) {
        Ok(principal) => {
            let own: Vec<&str> = config
                .principals
                .iter()
                .filter(|other| other.uids.contains(&uid))
                .map(|other| other.name.as_str())
                .collect();
            let found = format!("you act as {}; this account's names: {}", principal.name, own.join(", "));
            checks.push(Check::good("principal", found));
        }
        Err(error) => {
            checks.push(Check::bad("principal", error.to_string(), "see [[principal]] in daemon.toml"))
        }
    }
}

fn contracts(config: &Config, checks: &mut Vec<Check>) -> Option<Catalog> {
    let dir = config.daemon.contracts.display();
    match Catalog::load(&config.daemon.contracts) {
        Ok(catalog) => {
            let count = catalog.list().count();
            checks.push(Check::good("contracts", format!("{count} in {dir}, no findings")));
            Some(catalog)
        }
        Err(findings) => {
            checks.push(Check::bad(
                "contracts",
                format!("{} findings in {dir}; the daemon would not start", findings.len()),
                "writd contracts check",
            ));
            None
        }
    }
}

//! `writd serve`: the daemon, or only a look at what it would start with.

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::Catalog;
use crate::daemon::readiness::Report;
use crate::daemon::{NetworkError, ServeError, ServeOptions, serve};
use crate::domain::Code;
use crate::domain::operation::Effect;
use crate::domain::problem::Problem;
use crate::engine::StartError;
use crate::store::OpenError;
use crate::store::lock::LockError;

/// Run the daemon.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Only check configuration and contracts, and start nothing
    #[arg(long)]
    check: bool,
    /// Refuse to start while something in the readiness report blocks; `writd doctor` shows it
    #[arg(long)]
    production: bool,
}

/// Checks, then runs.
pub(super) fn run(args: ServeArgs, context: &Context) -> Result<(), Failure> {
    if !args.check {
        let options = ServeOptions { config: context.config_file(), production: args.production };
        // The line is for whoever starts the daemon and waits for it; the log is on the standard error.
        let output = context.output;
        return serve(&options, move |socket| {
            let _ = output.data(format!("ready {}\n", socket.display()).as_bytes());
        })
        .map_err(|error| match error {
            ServeError::NotReady(report) => not_ready(&report, context),
            other => failure(other),
        });
    }
    let (config, warnings) = context.config()?;
    for warning in &warnings {
        context.output.note(&safe_lines(&warning.to_string()));
    }
    match Catalog::load(&config.daemon.contracts) {
        Ok(catalog) => {
            if args.production {
                let report = super::doctor::readiness_of(&config, &catalog, context);
                if !report.is_ready() {
                    return Err(not_ready(&report, context));
                }
            }
            let mut page = Paper::new();
            let count = catalog.list().count();
            page.prose(Style::Plain, &format!("configuration and {count} contracts have no findings"));
            context.output.page(&page)
        }
        Err(findings) => {
            context.output.note_page(&super::contracts::page(&findings));
            Err(Failure::Told(Code::ConfigurationInvalid))
        }
    }
}

/// Tells every line; what is left is the exit code.
fn not_ready(report: &Report, context: &Context) -> Failure {
    let answer = serde_json::json!({
        "ready": false, "blocking": report.blocking(), "findings": report.findings,
    });
    let told = context.output.answer(&answer, || {
        let mut page = Paper::new();
        crate::cli::view::readiness(&mut page, report);
        page.prose(Style::Plain, "the daemon is not started with --production while something blocks");
        page
    });
    told.err().unwrap_or(Failure::Told(Code::ConfigurationInvalid))
}

/// What kept the daemon from starting, in the words of the dictionary.
fn failure(error: ServeError) -> Failure {
    let code = match &error {
        ServeError::Config(_) => return config_failure(error),
        ServeError::Contracts(_)
        | ServeError::NotReady(_)
        | ServeError::Log(_)
        | ServeError::FailPoint(_)
        | ServeError::Setup(_)
        | ServeError::Network(NetworkError::Tls { .. })
        | ServeError::Lock(LockError::NotPrivate { .. } | LockError::NotOwned { .. }) => {
            Code::ConfigurationInvalid
        }
        ServeError::Lock(LockError::Held { .. }) => Code::AlreadyRunning,
        ServeError::Store(OpenError::Damaged { .. }) | ServeError::Start(StartError::Unreadable(_)) => {
            Code::StoreDamaged
        }
        ServeError::Store(OpenError::InUse { .. }) => Code::AlreadyRunning,
        ServeError::Store(OpenError::Full { .. }) => Code::StorageFull,
        ServeError::StateDir { .. }
        | ServeError::Lock(_)
        | ServeError::Bind(_)
        | ServeError::Network(NetworkError::Listen { .. })
        | ServeError::Store(_)
        | ServeError::Start(_)
        | ServeError::Runtime(_) => Code::Unavailable,
    };
    let problem = Problem::new(code, error.to_string()).effect(Effect::None);
    Failure::Problem(Box::new(problem))
}

fn config_failure(error: ServeError) -> Failure {
    match error {
        ServeError::Config(errors) => Failure::Config(errors),
        other => Failure::refusal(Code::ConfigurationInvalid, other.to_string()),
    }
}

fn safe_lines(text: &str) -> String {
    text.lines().map(safe).collect::<Vec<_>>().join("\n")
}

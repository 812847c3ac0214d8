//! `writd pause` and `writd resume`: nothing more starts through a tool, an adapter or for a tenant.

use clap::{Args, Subcommand};

use crate::api::wire::PausesView;
use crate::api::wire::request::{PauseBody, ResumeBody};
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::{safe, time};
use crate::domain::pause::PauseScope;

/// In an emergency. What is executing is learned to its end; what is approved waits, as long as its approval lasts.
#[derive(Subcommand, Debug)]
pub(crate) enum PauseCommand {
    /// A tool: NAME for all its majors, or NAME.vMAJOR
    Tool(PauseArgs),
    /// The named base of daemon.toml through which writes go
    Adapter(PauseArgs),
    /// Everything of a tenant
    Tenant(PauseArgs),
    /// What is paused, by whom and why
    List,
}

/// What to pause.
#[derive(Args, Debug)]
pub(crate) struct PauseArgs {
    /// Its name
    name: String,
    /// Why; whoever waits reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// End a pause; what waited because of it goes on.
#[derive(Subcommand, Debug)]
pub(crate) enum ResumeCommand {
    /// A tool
    Tool(ResumeArgs),
    /// A named base
    Adapter(ResumeArgs),
    /// A tenant
    Tenant(ResumeArgs),
}

/// What to resume.
#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {
    /// Its name, as it was paused
    name: String,
}

/// Pauses, or lists.
pub(super) fn pause(command: PauseCommand, context: &Context) -> Result<(), Failure> {
    let body = |scope, args: PauseArgs| PauseBody { scope, name: args.name, reason: args.reason };
    match command {
        PauseCommand::Tool(args) => told(context, Ask::post("/v1/pauses", &body(PauseScope::Tool, args))),
        PauseCommand::Adapter(args) => {
            told(context, Ask::post("/v1/pauses", &body(PauseScope::Adapter, args)))
        }
        PauseCommand::Tenant(args) => told(context, Ask::post("/v1/pauses", &body(PauseScope::Tenant, args))),
        PauseCommand::List => told(context, Ask::get("/v1/pauses")),
    }
}

/// Resumes.
pub(super) fn resume(command: ResumeCommand, context: &Context) -> Result<(), Failure> {
    let (scope, name) = match command {
        ResumeCommand::Tool(args) => (PauseScope::Tool, args.name),
        ResumeCommand::Adapter(args) => (PauseScope::Adapter, args.name),
        ResumeCommand::Tenant(args) => (PauseScope::Tenant, args.name),
    };
    told(context, Ask::post("/v1/pauses/resume", &ResumeBody { scope, name }))
}

fn told(context: &Context, ask: Ask) -> Result<(), Failure> {
    let client = context.client()?;
    let view: PausesView = context.talk(async { Ok(client.ask(ask).await?) })?;
    context.output.answer(&view, || {
        let mut page = Paper::new();
        if view.pauses.is_empty() {
            page.prose(Style::Plain, "nothing is paused");
        }
        for pause in &view.pauses {
            let what = format!("{} {}", pause.scope.as_str(), safe(&pause.name));
            page.prose(Style::Warn, &format!("{what} is paused since {}", time(pause.since)));
            page.field("by", &safe(&pause.by.name));
            page.field("because", &safe(&pause.reason));
        }
        page
    })
}

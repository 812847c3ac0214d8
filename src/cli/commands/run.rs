//! `writd run`: open, show, token, cancel.

use clap::{Args, Subcommand};

use crate::api::wire::request::{EmptyBody, OpenRunBody, ToolRef};
use crate::api::wire::{IssuedRunView, RunView};
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::view;
use crate::domain::Time;
use crate::domain::ids::RunId;

/// One activity of an agent.
#[derive(Subcommand, Debug)]
pub(crate) enum RunCommand {
    /// Open a run: name the writes that it may propose
    Open(OpenArgs),
    /// Look at a run
    Show {
        /// The run
        run: RunId,
    },
    /// Print a new token for an open run of yours; the one before is worth nothing any more
    Token {
        /// The run
        run: RunId,
    },
    /// End a run: what has not been executed is cancelled
    Cancel {
        /// The run
        run: RunId,
    },
}

/// Open a run.
#[derive(Args, Debug)]
pub(crate) struct OpenArgs {
    /// A write tool that may be proposed, such as commit_address_change.v2; repeat it for more
    #[arg(long = "tool", value_name = "TOOL.vN")]
    tools: Vec<ToolRef>,
    /// Why, in your words; approvers see it marked as a claim
    #[arg(long, value_name = "TEXT")]
    purpose: String,
    /// Nothing starts after this, such as 2026-07-19T12:00:00Z
    #[arg(long, value_name = "TIME")]
    deadline: Option<Time>,
    /// A key of your own: a repeat with the same key finds the same run
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Print the run's token as well, this once: it is worth this run and nothing else
    #[arg(long)]
    token: bool,
}

/// Does it.
pub(super) fn run(command: RunCommand, context: &Context) -> Result<(), Failure> {
    match command {
        RunCommand::Open(args) => open(args, context),
        RunCommand::Show { run } => shown(Ask::get(format!("/v1/runs/{run}")), context),
        RunCommand::Token { run } => {
            let client = context.client()?;
            let ask = Ask::post(format!("/v1/runs/{run}/token"), &EmptyBody {});
            let issued: IssuedRunView = context.talk(async { Ok(client.ask(ask).await?) })?;
            if context.output.wants_json() {
                return context.output.object(&issued);
            }
            told(issued.token.as_deref(), context)
        }
        RunCommand::Cancel { run } => {
            shown(Ask::post(format!("/v1/runs/{run}/cancel"), &EmptyBody {}), context)
        }
    }
}

fn open(args: OpenArgs, context: &Context) -> Result<(), Failure> {
    let body = OpenRunBody { purpose: args.purpose, tools: args.tools, deadline: args.deadline };
    let ask = Ask::post("/v1/runs", &body);
    let ask = match args.key {
        Some(key) => ask.key(&key),
        None => ask,
    };
    let client = context.client()?;
    let mut issued: IssuedRunView = context.talk(async { Ok(client.ask(ask).await?) })?;
    if !args.token {
        // Whoever did not ask for it does not leave it in a log of answers.
        issued.token = None;
    }
    context.output.answer(&issued, || view::run(&issued.run))?;
    if !args.token || context.output.wants_json() {
        return Ok(());
    }
    if issued.token.is_none() {
        context.output.note("this run was opened before; `writd run token` prints a new token for it");
    }
    told(issued.token.as_deref(), context)
}

/// A token, alone on its line.
fn told(token: Option<&str>, context: &Context) -> Result<(), Failure> {
    token.map_or(Ok(()), |token| context.output.data(format!("{token}\n").as_bytes()))
}

fn shown(ask: Ask, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let run: RunView = context.talk(async { Ok(client.ask(ask).await?) })?;
    context.output.answer(&run, || view::run(&run))
}

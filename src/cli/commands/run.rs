//! `writd run`: open, show, cancel.

use clap::{Args, Subcommand};

use crate::api::wire::RunView;
use crate::api::wire::request::{EmptyBody, OpenRunBody, ToolRef};
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
}

/// Does it.
pub(super) fn run(command: RunCommand, context: &Context) -> Result<(), Failure> {
    let ask = match command {
        RunCommand::Open(args) => {
            let body = OpenRunBody { purpose: args.purpose, tools: args.tools, deadline: args.deadline };
            let ask = Ask::post("/v1/runs", &body);
            match args.key {
                Some(key) => ask.key(&key),
                None => ask,
            }
        }
        RunCommand::Show { run } => Ask::get(format!("/v1/runs/{run}")),
        RunCommand::Cancel { run } => Ask::post(format!("/v1/runs/{run}/cancel"), &EmptyBody {}),
    };
    let client = context.client()?;
    let run: RunView = context.talk(async { Ok(client.ask(ask).await?) })?;
    context.output.answer(&run, || view::run(&run))
}

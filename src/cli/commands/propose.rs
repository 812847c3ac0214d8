//! `writd propose`: a write is proposed. Nothing is executed here.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::api::wire::request::{OpenRunBody, ProposeBody, ToolRef};
use crate::api::wire::{ProposedView, RunView};
use crate::cli::client::{Ask, Client, ClientError};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{input, view, waiting};
use crate::domain::ids::{OperationId, RunId};

/// Propose a write; nothing is executed before it is approved.
///
/// With --wait, the exit code says how it ended; 6 if nobody approved it in that time, 7 if it was not executed in that
/// time.
#[derive(Args, Debug)]
pub(crate) struct ProposeArgs {
    /// The tool and its major version, such as commit_address_change.v2
    #[arg(value_name = "TOOL.vN")]
    tool: ToolRef,
    /// The arguments: a file, - for the standard input, or JSON
    #[arg(long, value_name = "FILE|-|JSON")]
    args: String,
    /// The version of the target that you read, as JSON: 17, or '"v17"'
    #[arg(long, value_name = "JSON")]
    based_on: Option<String>,
    /// Why, in your words; the approver sees it marked as a claim
    #[arg(long, value_name = "TEXT", default_value = "")]
    purpose: String,
    /// The run to propose in [default: a new one that names this tool]
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
    /// A key of your own: a repeat with the same key finds the same proposal [default: a new one]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The proposal that this one replaces after a conflict
    #[arg(long, value_name = "OPERATION")]
    supersedes: Option<OperationId>,
    /// Wait until it has ended, at most this long
    #[arg(long, value_name = "30s", value_parser = input::duration)]
    wait: Option<Duration>,
}

/// Opens a run if none is named, proposes, and waits if asked to.
pub(super) fn run(args: ProposeArgs, context: &Context) -> Result<(), Failure> {
    let arguments = input::json_from(&args.args, "--args")?;
    let based_on = args.based_on.as_deref().map(|text| input::json_value(text, "--based-on")).transpose()?;
    let client = context.client()?;
    let key = args.key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let wait = args.wait;
    let sent = context.talk(async {
        let proposed = send(&client, args, arguments, based_on, &key).await?;
        let ProposedView { operation, warnings } = proposed;
        let operation = match wait {
            Some(_) => waiting::detail(&client, operation.id, wait).await?.summary,
            None => operation,
        };
        Ok(ProposedView { operation, warnings })
    });
    let proposed = sent.inspect_err(|failure| {
        let lost =
            matches!(failure, Failure::Client(ClientError::Lost { .. } | ClientError::TimedOut { .. }));
        if lost && !context.output.wants_json() {
            context.output.note(&format!(
                "Repeat the same command with --key {key}: it finds what was stored, if it was."
            ));
        }
    })?;
    super::warn(&proposed.warnings, context);
    context.output.answer(&proposed, || view::brief(&proposed.operation, ""))?;
    if wait.is_some() { waiting::verdict(&proposed.operation) } else { Ok(()) }
}

async fn send(
    client: &Client,
    args: ProposeArgs,
    arguments: Value,
    based_on: Option<Value>,
    key: &str,
) -> Result<ProposedView, Failure> {
    let run = match args.run {
        Some(run) => run,
        None => {
            let body =
                OpenRunBody { purpose: args.purpose.clone(), tools: vec![args.tool.clone()], deadline: None };
            // The same key on the run, so that a repeat of the command finds run and proposal.
            client.ask::<RunView>(Ask::post("/v1/runs", &body).key(key)).await?.id
        }
    };
    let body = ProposeBody {
        tool: args.tool,
        arguments,
        based_on,
        purpose: args.purpose,
        supersedes: args.supersedes,
    };
    Ok(client.ask(Ask::post(format!("/v1/runs/{run}/proposals"), &body).key(key)).await?)
}

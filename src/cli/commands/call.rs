//! `writd call`: a read through a contract.

use clap::Args;
use serde_json::Value;

use crate::api::wire::request::{CallBody, OpenRunBody, ToolRef};
use crate::api::wire::{RunView, WarningView};
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::domain::ids::RunId;

/// Read through a contract.
#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// The tool and its major version, such as get_customer.v1
    #[arg(value_name = "TOOL.vN")]
    tool: ToolRef,
    /// The arguments: a file, - for the standard input, or JSON
    #[arg(long, value_name = "FILE|-|JSON", default_value = "{}")]
    args: String,
    /// Why, in your words
    #[arg(long, value_name = "TEXT", default_value = "")]
    purpose: String,
    /// The run to call in [default: a new one]
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
}

/// Opens a run if none is named, and calls.
pub(super) fn run(args: CallArgs, context: &Context) -> Result<(), Failure> {
    let arguments = input::json_from(&args.args, "--args")?;
    let client = context.client()?;
    let answer: Value = context.talk(async {
        let run = match args.run {
            Some(run) => run,
            None => {
                let body = OpenRunBody { purpose: args.purpose, tools: Vec::new(), deadline: None };
                client.ask::<RunView>(Ask::post("/v1/runs", &body)).await?.id
            }
        };
        let body = CallBody { tool: args.tool, arguments };
        Ok(client.ask(Ask::post(format!("/v1/runs/{run}/calls"), &body)).await?)
    })?;
    warn(&answer, context);
    context.output.answer(&answer, || page(&answer))
}

/// Warnings stand beside the data, not in it.
fn warn(answer: &Value, context: &Context) {
    let warnings: Vec<WarningView> =
        answer.get("warnings").and_then(|told| serde_json::from_value(told.clone()).ok()).unwrap_or_default();
    super::warn(&warnings, context);
}

/// The data, spread over lines, every character visible.
fn page(answer: &Value) -> Paper {
    let mut page = Paper::new();
    let data = answer.get("data").unwrap_or(answer);
    let text = serde_json::to_string_pretty(data).unwrap_or_default();
    for line in text.lines() {
        page.marked_value(0, "", Style::Plain, &safe(line));
    }
    page
}

//! `writd policy explain`: about a stored operation, or about a write that is not proposed.

use clap::Args;

use crate::api::wire::ExplainView;
use crate::api::wire::request::{ExplainBody, ToolRef};
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{input, view};
use crate::domain::ids::{OperationId, RunId};

/// Say what the policy table in force says of a write: which rules match, which do not and why, and who is asked.
///
/// Of a stored operation the daemon judges the stored facts, as it does at the execution. With --run, --tool and --args
/// it goes the way of a proposal with its checks and its preview read, stores nothing and sends nothing but that read.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The write
    #[arg(value_name = "OPERATION", required_unless_present = "run")]
    id: Option<OperationId>,
    /// Instead: the run in which it would be proposed
    #[arg(long, value_name = "RUN", conflicts_with = "id", requires_all = ["tool", "args"])]
    run: Option<RunId>,
    /// The tool and its major version
    #[arg(long, value_name = "TOOL.vN", requires = "run")]
    tool: Option<ToolRef>,
    /// Its arguments: a file, - for the standard input, or JSON
    #[arg(long, value_name = "FILE|-|JSON", requires = "run")]
    args: Option<String>,
    /// The version of the target that you read, as JSON; compared if given
    #[arg(long, value_name = "JSON", requires = "run")]
    based_on: Option<String>,
    /// Why, in your words
    #[arg(long, value_name = "TEXT", requires = "run", default_value = "", hide_default_value = true)]
    purpose: String,
}

/// Asks the daemon.
pub(super) fn run(args: ExplainArgs, context: &Context) -> Result<(), Failure> {
    let ask = ask(args)?;
    let client = context.client()?;
    let explained: ExplainView = context.talk(async { Ok(client.ask(ask).await?) })?;
    context.output.answer(&explained, || view::explained(&explained))
}

fn ask(args: ExplainArgs) -> Result<Ask, Failure> {
    match args {
        ExplainArgs { id: Some(id), .. } => Ok(Ask::get(format!("/v1/policy/explain?operation={id}"))),
        ExplainArgs {
            run: Some(run), tool: Some(tool), args: Some(arguments), based_on, purpose, ..
        } => {
            let arguments = input::json_from(&arguments, "--args")?;
            let based_on =
                based_on.as_deref().map(|text| input::json_value(text, "--based-on")).transpose()?;
            Ok(Ask::post("/v1/policy/explain", &ExplainBody { run, tool, arguments, based_on, purpose }))
        }
        ExplainArgs { id: None, .. } => Err(Failure::usage(
            "which write?",
            "name an operation, or --run RUN --tool TOOL.vN --args FILE for one that is not proposed",
        )),
    }
}

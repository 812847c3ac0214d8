//! `writd op show`: the approval view, or the exact arguments and request.

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;

use crate::api::wire::OperationDetail;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::values::{canonical, safe};
use crate::cli::{input, view, waiting};
use crate::domain::ids::OperationId;

/// Everything about one write, as it is to be judged.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// The canonical arguments and the request that is sent, byte for byte; on a terminal what cannot be seen is escaped
    #[arg(long)]
    raw: bool,
    /// Wait until it has ended, at most this long
    #[arg(long, value_name = "30s", value_parser = input::duration)]
    wait: Option<Duration>,
}

/// Shows it.
pub(super) fn run(args: ShowArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let detail = context.talk(waiting::detail(&client, args.id, args.wait))?;
    if !args.raw || context.output.wants_json() {
        return context.output.answer(&detail, || view::operation(&detail));
    }
    let text = raw(&detail);
    if !std::io::stdout().is_terminal() {
        return context.output.data(text.as_bytes());
    }
    let shown: String = text.lines().map(|line| safe(line) + "\n").collect();
    context.output.data(shown.as_bytes())
}

/// The canonical arguments on the first line, then the request as it is sent but for the credential.
fn raw(detail: &OperationDetail) -> String {
    let request = &detail.request;
    let headers: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!(
        "{}\n\n{} {}{}\n{headers}\n{}\n",
        canonical(&detail.arguments),
        request.method,
        request.origin,
        request.path,
        request.body.as_deref().unwrap_or_default(),
    )
}

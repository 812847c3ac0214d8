//! `writd op resolve`

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use crate::api::wire::request::{ResolveBody, ResolveOutcome};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input;
use crate::domain::ids::OperationId;

/// Settle an unknown outcome by evidence. Your name and the note are kept with it.
#[derive(Args, Debug)]
pub(crate) struct ResolveArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// What you know: it happened, it did not happen, the service refused it for good
    #[arg(value_parser = outcome())]
    outcome: ResolveOutcome,
    /// How you know
    #[arg(long, value_name = "TEXT")]
    note: String,
    /// With not_applied: try again under the same key
    #[arg(long)]
    retry: bool,
    /// With applied: the service's receipt; a file, - for the standard input, or JSON
    #[arg(long, value_name = "FILE|-|JSON")]
    receipt: Option<String>,
}

fn outcome() -> impl clap::builder::TypedValueParser<Value = ResolveOutcome> {
    PossibleValuesParser::new(ResolveOutcome::ALL.map(|(name, _)| name)).try_map(|text| {
        let known = ResolveOutcome::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, outcome)| outcome).ok_or("applied, not_applied or failed")
    })
}

/// Settles it.
pub(super) fn run(args: ResolveArgs, context: &Context) -> Result<(), Failure> {
    let receipt = args.receipt.as_deref().map(|text| input::json_from(text, "--receipt")).transpose()?;
    let body = ResolveBody { outcome: args.outcome, retry: args.retry, receipt, note: args.note };
    super::send(context, args.id, "resolve", &body)
}

//! `writd op approve`: says yes to a digest that a person has seen. Never without one.

use std::time::Duration;

use clap::Args;

use crate::api::wire::OperationDetail;
use crate::api::wire::request::ApproveBody;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input::{self, DigestPrefix};
use crate::cli::output::Output;
use crate::cli::output::values::safe;
use crate::cli::{view, waiting};
use crate::domain::Code;
use crate::domain::ids::OperationId;

/// How many digits a person types to say yes at a terminal, after reading: enough that nobody types them blindly.
const TYPED: usize = 8;

/// Approve exactly what was shown.
///
/// Without --digest, at a terminal: shows the write and asks for the first digits of its digest.
#[derive(Args, Debug)]
pub(crate) struct ApproveArgs {
    /// The write
    #[arg(value_name = "OPERATION")]
    id: OperationId,
    /// The proposal's digest as `op show` printed it, or at least its first 12 digits
    #[arg(long, value_name = "HEX")]
    digest: Option<DigestPrefix>,
    /// In your words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Wait until it has ended, at most this long; the exit code then says how
    #[arg(long, value_name = "30s", value_parser = input::duration)]
    wait: Option<Duration>,
}

/// Looks again, compares, and sends the whole digest.
pub(super) fn run(args: ApproveArgs, context: &Context) -> Result<(), Failure> {
    let output = context.output;
    if args.digest.is_none() && !output.can_ask() {
        return Err(Failure::usage(
            "an approval names the digest that was shown",
            format!("read it first: writd op show {}; then repeat this with --digest", args.id),
        ));
    }
    let client = context.client()?;
    context.talk(async {
        let detail = waiting::detail(&client, args.id, None).await?;
        if !view::digests_hold(&detail) {
            return Err(Failure::refusal(
                Code::ProposalChanged,
                "what the daemon shows does not have the digests that it shows; nothing was approved",
            ));
        }
        match &args.digest {
            Some(shown) => compare(shown, &detail, output)?,
            None => ask(&detail, output)?,
        }
        let body = ApproveBody { digest: detail.summary.proposal_sha256, note: args.note };
        let answer = super::command(&client, args.id, "approve", &body).await?;
        super::follow(context, &client, answer, args.wait).await
    })
}

/// The digest that was seen is the one of the proposal as it is now.
fn compare(shown: &DigestPrefix, detail: &OperationDetail, output: Output) -> Result<(), Failure> {
    let summary = &detail.summary;
    if !shown.matches(summary.proposal_sha256) {
        return Err(Failure::refusal(
            Code::ProposalChanged,
            format!("the digest is not that of {}; nothing was approved", summary.id),
        ));
    }
    if !output.wants_json() {
        output.note(&format!("approving: {}", safe(&summary.effect_text)));
    }
    Ok(())
}

/// Shows everything, and takes the first digits of the digest as yes. Anything else is no.
fn ask(detail: &OperationDetail, output: Output) -> Result<(), Failure> {
    output.page(&view::operation(detail))?;
    let digits = view::leading(detail.summary.proposal_sha256, TYPED);
    let question = format!(
        "\nTo approve it, type the first {TYPED} digits of the PROPOSAL digest; anything else is no: "
    );
    let typed = output.ask(&question)?;
    if typed.as_deref() == Some(digits.as_str()) {
        return Ok(());
    }
    Err(Failure::refusal(
        Code::ApprovalRequired,
        "those are not the digits of the digest; nothing was approved",
    ))
}

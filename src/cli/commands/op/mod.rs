//! `writd op`: one write, from the decision to the settled outcome. One file per command.

mod abandon;
mod answer;
mod approve;
mod cancel;
mod commit;
mod deny;
mod events;
mod list;
mod reconcile;
mod resolve;
mod revoke;
mod show;

use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;

use crate::api::wire::CommandAnswer;
use crate::cli::client::{Ask, Client};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{view, waiting};
use crate::domain::ids::OperationId;

/// Writes.
#[derive(Subcommand, Debug)]
pub(crate) enum OpCommand {
    /// Writes by state, the newest first
    List(list::ListArgs),
    /// Everything about one write, as it is to be judged
    Show(show::ShowArgs),
    /// Approve exactly what was shown
    Approve(approve::ApproveArgs),
    /// Refuse it
    Deny(deny::DenyArgs),
    /// Take an approval back
    Revoke(revoke::RevokeArgs),
    /// Execute an approved write now
    Commit(commit::CommitArgs),
    /// Withdraw a write, or let no further attempt start
    Cancel(cancel::CancelArgs),
    /// Ask the service now what became of it
    Reconcile(reconcile::ReconcileArgs),
    /// Settle an unknown outcome by evidence
    Resolve(resolve::ResolveArgs),
    /// Give up finding out, and take the risk
    Abandon(abandon::AbandonArgs),
    /// The answer that claimed success and proves nothing
    Answer(answer::AnswerArgs),
    /// Its journal
    Events(events::EventsArgs),
}

/// Does what the command says.
pub(super) fn run(command: OpCommand, context: &Context) -> Result<(), Failure> {
    match command {
        OpCommand::List(args) => list::run(args, context),
        OpCommand::Show(args) => show::run(args, context),
        OpCommand::Approve(args) => approve::run(args, context),
        OpCommand::Deny(args) => deny::run(args, context),
        OpCommand::Revoke(args) => revoke::run(args, context),
        OpCommand::Commit(args) => commit::run(args, context),
        OpCommand::Cancel(args) => cancel::run(args, context),
        OpCommand::Reconcile(args) => reconcile::run(args, context),
        OpCommand::Resolve(args) => resolve::run(args, context),
        OpCommand::Abandon(args) => abandon::run(args, context),
        OpCommand::Answer(args) => answer::run(args, context),
        OpCommand::Events(args) => events::run(args, context),
    }
}

/// Sends one command about an operation.
async fn command<T: Serialize>(
    client: &Client,
    id: OperationId,
    verb: &str,
    body: &T,
) -> Result<CommandAnswer, Failure> {
    Ok(client.ask(Ask::post(format!("{}/{verb}", waiting::path(id)), body)).await?)
}

/// Sends one command and shows the answer.
fn send<T: Serialize>(context: &Context, id: OperationId, verb: &str, body: &T) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = context.talk(command(&client, id, verb, body))?;
    context.output.answer(&answer, || view::brief(&answer.operation, &answer.words))
}

/// Shows the answer to a command; with a wait, what became of the operation, which then decides the exit code.
async fn follow(
    context: &Context,
    client: &Client,
    mut answer: CommandAnswer,
    wait: Option<Duration>,
) -> Result<(), Failure> {
    if wait.is_some() {
        answer.operation = waiting::detail(client, answer.operation.id, wait).await?.summary;
    }
    context.output.answer(&answer, || view::brief(&answer.operation, &answer.words))?;
    if wait.is_some() { waiting::verdict(&answer.operation) } else { Ok(()) }
}

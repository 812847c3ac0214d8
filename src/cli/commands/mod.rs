//! One file per command: its arguments and what it does. New commands are added here and to the table of contents in
//! `cli/args.rs`.

mod call;
mod check_config;
mod completions;
mod contracts;
mod demo;
mod doctor;
mod error;
mod export;
mod import;
mod inbox;
mod op;
mod pause;
mod policy;
mod propose;
mod recover;
mod restore;
mod run;
mod sandbox;
mod serve;
mod token;
mod verify;

use clap::Subcommand;

use super::context::Context;
use super::failure::Failure;
use super::output::values::safe;
use crate::api::wire::WarningView;

/// All commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// One activity of an agent: open it, look at it, cancel it
    #[command(subcommand)]
    Run(run::RunCommand),
    /// Read through a contract
    Call(call::CallArgs),
    /// Propose a write; nothing is executed before it is approved
    Propose(propose::ProposeArgs),
    /// What waits for a decision, and what nobody knows
    Inbox,
    /// Writes: look at them, decide them, settle them
    #[command(subcommand)]
    Op(op::OpCommand),
    /// Stop everything of a tool, an adapter or a tenant from starting
    #[command(subcommand)]
    Pause(pause::PauseCommand),
    /// End a pause
    #[command(subcommand)]
    Resume(pause::ResumeCommand),
    /// The policy table: what it says of writes
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// After an import
    #[command(subcommand)]
    Restore(restore::RestoreCommand),
    /// Look for what is missing or wrong
    Doctor,
    /// Run the daemon
    Serve(serve::ServeArgs),
    /// Read daemon.toml and say what is wrong with it
    CheckConfig,
    /// Tokens that speak for a principal: make one, list them, end one
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Walk the journal and recompute every operation (offline)
    Verify(verify::VerifyArgs),
    /// Write a backup (offline)
    Export(export::ExportArgs),
    /// Read a backup into an empty state directory (offline)
    Import(import::ImportArgs),
    /// Save what can be read of a damaged store (offline)
    Recover(recover::RecoverArgs),
    /// Tool contracts
    #[command(subcommand)]
    Contracts(contracts::ContractsCommand),
    /// See the main job and its faults on a sandbox
    Demo(demo::DemoArgs),
    /// A service that the demonstration writes to
    #[command(subcommand, hide = true)]
    Sandbox(sandbox::SandboxCommand),
    /// What an error code means and what to do
    Error(error::ErrorArgs),
    /// Completions for your shell
    Completions(completions::CompletionsArgs),
}

/// Does what the command says.
pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Run(command) => run::run(command, context),
        Command::Call(args) => call::run(args, context),
        Command::Propose(args) => propose::run(args, context),
        Command::Inbox => inbox::run(context),
        Command::Op(command) => op::run(command, context),
        Command::Pause(command) => pause::pause(command, context),
        Command::Resume(command) => pause::resume(command, context),
        Command::Policy(command) => policy::run(command, context),
        Command::Restore(command) => restore::run(command, context),
        Command::Doctor => doctor::run(context),
        Command::Serve(args) => serve::run(args, context),
        Command::CheckConfig => check_config::run(context),
        Command::Token(command) => token::run(command, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Recover(args) => recover::run(args, context),
        Command::Contracts(command) => contracts::run(command, context),
        Command::Demo(args) => demo::run(args, context),
        Command::Sandbox(command) => sandbox::run(command, context),
        Command::Error(args) => error::run(args, context),
        Command::Completions(args) => completions::run(args, context),
    }
}

/// What an answer warns of, for people; programs read it in the answer.
fn warn(warnings: &[WarningView], context: &Context) {
    if context.output.wants_json() {
        return;
    }
    for warning in warnings {
        context.output.note(&format!("warning[{}]: {}", warning.code, safe(&warning.detail)));
    }
}

/// Wall time, for the offline commands.
fn now() -> crate::domain::Time {
    crate::engine::system::wall()
}

/// Why an offline command stopped. Nothing was sent anywhere by it.
fn offline(error: &crate::store::maintenance::MaintenanceError) -> Failure {
    use crate::store::maintenance::MaintenanceError as E;
    let help = match error {
        E::NoStore { .. } => "name the state directory with --state-dir, or the configuration with --config",
        E::NotAnExport { .. } => {
            "use another copy of the file; `gzip -t` and a kept head tell which one is whole"
        }
        E::Acks(_) => "a fact that is not understood is not a fact that holds: mend the line",
        E::File { .. } | E::Refused(_) => "",
        E::Lock(_) | E::Open(_) | E::Read(_) | E::Record(_) | E::Commit(_) | E::Encode(_) => {
            let problem = crate::domain::problem::Problem::new(error.code(), error.to_string());
            return Failure::Problem(Box::new(problem.effect(crate::domain::operation::Effect::None)));
        }
    };
    // The dictionary speaks of requests to the daemon; these are words about files.
    Failure::usage(error.to_string(), help)
}

//! `writd policy …`: what the policy table says of a write, and what it would say.

mod explain;

use clap::Subcommand;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// The policy table.
#[derive(Subcommand, Debug)]
pub(crate) enum PolicyCommand {
    /// Say what the table in force says of a write, rule by rule
    Explain(explain::ExplainArgs),
}

/// Does what the command says.
pub(super) fn run(command: PolicyCommand, context: &Context) -> Result<(), Failure> {
    match command {
        PolicyCommand::Explain(args) => explain::run(args, context),
    }
}

//! `writd policy …`: what the policy table says of a write, and what it would say.

mod explain;
mod shadow;
mod test;

use clap::Subcommand;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// The policy table.
#[derive(Subcommand, Debug)]
pub(crate) enum PolicyCommand {
    /// Say what the table in force says of a write, rule by rule
    Explain(explain::ExplainArgs),
    /// Say what another table would have said of stored operations
    Shadow(shadow::ShadowArgs),
    /// Hold the table of daemon.toml to its cases, offline
    Test(test::TestArgs),
}

/// Does what the command says.
pub(super) fn run(command: PolicyCommand, context: &Context) -> Result<(), Failure> {
    match command {
        PolicyCommand::Explain(args) => explain::run(args, context),
        PolicyCommand::Shadow(args) => shadow::run(&args, context),
        PolicyCommand::Test(args) => test::run(args, context),
    }
}

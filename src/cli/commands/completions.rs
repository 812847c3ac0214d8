//! `writd completions`: a script for the shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::args::Cli;
use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// Completions for your shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Which
    shell: Shell,
}

/// Prints the script.
pub(super) fn run(args: CompletionsArgs, context: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "writd", &mut script);
    context.output.data(&script)
}

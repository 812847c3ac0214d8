//! The command line: arguments, the client of the socket, pages for people, one file per command.
//!
//! Who may call it: `main`. What it never does: open the store of a running daemon, decide anything itself, repeat a
//! request, or show a foreign character that cannot be seen. Data goes to the standard output, everything else to the
//! standard error, and the exit code is that of the category of the error.

mod args;
mod client;
mod commands;
mod context;
mod failure;
mod input;
mod output;
mod view;
mod waiting;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use args::Cli;
use context::Context;

/// Parses the command line and does what it says.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers and go to the standard output; a closed pipe is nobody's trouble.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let context = Context::new(&cli.global);
    match commands::run(cli.command, &context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell(context.output);
            ExitCode::from(failure.exit_code())
        }
    }
}

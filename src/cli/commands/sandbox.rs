//! `writd sandbox` (hidden): the service that the demonstration writes to, as a process of its own. Its code is that of
//! `examples/customers` and shares nothing with the daemon: what it says about the world is evidence.

#[path = "../../../examples/customers/service/mod.rs"]
mod service;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// The services that there are.
#[derive(Subcommand, Debug)]
pub(crate) enum SandboxCommand {
    /// Customers with versions, idempotency keys and a ledger of effects
    Customers(CustomersArgs),
}

/// How it is to run.
#[derive(Args, Debug)]
pub(crate) struct CustomersArgs {
    /// Address to listen on; port 0 takes a free port
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File of the ledger
    #[arg(long)]
    ledger: PathBuf,
}

/// Runs until SIGTERM.
pub(super) fn run(command: SandboxCommand, context: &Context) -> Result<(), Failure> {
    let SandboxCommand::Customers(CustomersArgs { listen, ledger }) = command;
    let options = service::Options {
        listen,
        ledger: ledger.clone(),
        port_file: None,
        fsync: true,
        quiet_requests: false,
    };
    context
        .talk(async { service::serve(options).await.map_err(|error| Failure::File { path: ledger, error }) })
}

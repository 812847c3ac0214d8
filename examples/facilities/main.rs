//! The facilities sandbox: a real HTTP service of its own process with a durable ledger of effects.
//!
//! Owns the command line only; everything else is in `service`, which shares no code with the daemon, so
//! that a check against this service is a check against the world and not against the daemon's own idea.

mod service;

use std::{net::SocketAddr, path::PathBuf};

use clap::Parser;

/// Maintenance of a hotel group to write against: work orders, ledger of effects, fault switchboard.
#[derive(Parser)]
#[command(name = "facilities")]
struct Args {
    /// Address to listen on; port 0 takes a free port.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File of the ledger (NDJSON). It is made when it is not there, and the state is rebuilt from it.
    #[arg(long, default_value = "facilities-ledger.ndjson")]
    ledger: PathBuf,
    /// File to write the port to, by rename, once the service listens.
    #[arg(long)]
    port_file: Option<PathBuf>,
    /// Do not sync the ledger before an answer: survives a kill of the process, not a power cut.
    #[arg(long)]
    no_ledger_fsync: bool,
    /// Record effects only, not every request received.
    #[arg(long)]
    quiet_requests: bool,
}

// One thread: no lock is ever contended.
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let args = Args::parse();
    service::serve(service::Options {
        listen: args.listen,
        ledger: args.ledger,
        port_file: args.port_file,
        fsync: !args.no_ledger_fsync,
        quiet_requests: args.quiet_requests,
    })
    .await
}

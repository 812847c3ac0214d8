//! The customers service. Owns its listener, its life cycle and the one state all connections share.
//!
//! Called by the example's `main` and by the `demo` command. It depends on crates only: never on the daemon,
//! because it is the daemon's judge. It never reads stdin and never logs; what happened is in the ledger.

// Compiled into two crates; in one of them the entry points are not reachable from outside.
#![allow(unreachable_pub)]

mod admin;
mod answer;
mod body;
mod chaos;
mod clock;
mod connection;
mod customer;
mod faults;
mod ledger;
mod perform;
mod record;
mod render;
mod request;
mod routes;
mod state;
mod switchboard;

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use self::{
    chaos::Chaos,
    ledger::{Ledger, Syncer},
    state::World,
    switchboard::Switchboard,
};

/// How long to wait after an accept that failed: file descriptors run out for a while, not for ever.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// How the service is to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The ledger: made when missing, otherwise the state is rebuilt from it.
    pub ledger: PathBuf,
    /// Where to write the port, by rename, once the service listens.
    pub port_file: Option<PathBuf>,
    /// Sync effects to the disk before they are answered or shown.
    pub fsync: bool,
    /// Record effects only: for benchmarks, where a record of each request would cost more than the request.
    pub quiet_requests: bool,
}

/// What all connections share.
struct Service {
    shared: Mutex<Shared>,
    syncer: Syncer,
    quiet_requests: bool,
}

/// One lock for everything, so that the ledger's order is the order in which things happened.
struct Shared {
    world: World,
    ledger: Ledger,
    switchboard: Switchboard,
    chaos: Option<Chaos>,
    /// Counts resets; work that was put off before a reset must not land after it.
    epoch: u64,
}

impl Service {
    fn open(options: &Options) -> io::Result<Self> {
        let mut world = World::default();
        let (ledger, syncer) = Ledger::open(&options.ledger, options.fsync, |record| world.evolve(record))?;
        let shared = Shared { world, ledger, switchboard: Switchboard::default(), chaos: None, epoch: 0 };
        Ok(Self { shared: Mutex::new(shared), syncer, quiet_requests: options.quiet_requests })
    }

    /// The shared state. A panic of another request does not end the service: each change is one record.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the service until SIGTERM. Prints `listening on http://ADDRESS` once it does.
///
/// # Errors
/// The ledger cannot be opened, is in use by another process or holds a line that is no record; the address
/// cannot be bound; the port file cannot be written.
pub async fn serve(options: Options) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let service = Arc::new(Service::open(&options)?);
    let listener = TcpListener::bind(options.listen).await?;
    let address = listener.local_addr()?;
    if let Some(path) = &options.port_file {
        write_port(path, address.port())?;
    }
    let mut out = io::stdout();
    writeln!(out, "listening on http://{address}")?;
    out.flush()?;
    let mut connections = 0_u64;
    loop {
        tokio::select! {
            _ = terminate.recv() => return Ok(()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections += 1;
                    tokio::spawn(connection::run(Arc::clone(&service), stream, connections));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
}

/// By rename, so that whoever waits for the file never reads half of it.
fn write_port(path: &Path, port: u16) -> io::Result<()> {
    let mut half = path.as_os_str().to_owned();
    half.push(".new");
    std::fs::write(&half, format!("{port}\n"))?;
    std::fs::rename(&half, path)
}

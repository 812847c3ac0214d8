//! What all sandbox services share: listener, connections, ledger, keys, faults, clock and the routes that drive them.
//! What a service is about is its [`Domain`].
//!
//! Included by each example and by the `sandbox` command. It depends on crates only: never on the daemon, because it
//! is the daemon's judge. It never reads stdin and never logs; what happened is in the ledger.

mod admin;
mod answer;
mod body;
mod chaos;
mod clock;
mod connection;
mod domain;
mod faults;
mod handle;
mod keys;
mod ledger;
mod path;
mod perform;
mod record;
mod request;
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

pub(crate) use self::{
    answer::Answer,
    clock::rfc3339,
    domain::{Change, Decision, Domain, Kind, Refused},
    keys::KeyRecord,
    path::segments,
    record::{Effect, OtherChange},
    request::{Request, Write},
};
use self::{
    chaos::Chaos,
    keys::Keys,
    ledger::{Ledger, Syncer},
    switchboard::Switchboard,
};

/// How long to wait after an accept that failed: file descriptors run out for a while, not for ever.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// How the service is to run.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Address to listen on; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// The ledger: made when missing, otherwise the state is rebuilt from it.
    pub(crate) ledger: PathBuf,
    /// Where to write the port, by rename, once the service listens.
    pub(crate) port_file: Option<PathBuf>,
    /// Sync effects to the disk before they are answered or shown.
    pub(crate) fsync: bool,
    /// Record effects only: for benchmarks, where a record of each request would cost more than the request.
    pub(crate) quiet_requests: bool,
}

/// What all connections share.
struct Service<D: Domain> {
    shared: Mutex<Shared<D>>,
    syncer: Syncer,
    quiet_requests: bool,
}

/// One lock for everything, so that the ledger's order is the order in which things happened.
struct Shared<D: Domain> {
    world: World<D>,
    ledger: Ledger,
    switchboard: Switchboard,
    chaos: Option<Chaos>,
    /// Counts resets; work that was put off before a reset must not land after it.
    epoch: u64,
}

/// Everything that the ledger tells.
struct World<D: Domain> {
    domain: D,
    keys: Keys<D::Outcome>,
    /// How far the clock is ahead of the wall.
    ahead_ms: u64,
}

impl<D: Domain> Default for World<D> {
    fn default() -> Self {
        Self { domain: D::default(), keys: Keys::default(), ahead_ms: 0 }
    }
}

impl<D: Domain> Service<D> {
    fn open(options: &Options) -> io::Result<Self> {
        let mut world = World::default();
        let (ledger, syncer) = Ledger::open(&options.ledger, options.fsync, |record| world.evolve(record))?;
        let shared =
            Shared { world, ledger, switchboard: Switchboard::new(D::ID_NAME), chaos: None, epoch: 0 };
        Ok(Self { shared: Mutex::new(shared), syncer, quiet_requests: options.quiet_requests })
    }

    /// The shared state. A panic of another request does not end the service: each change is one record.
    fn lock(&self) -> MutexGuard<'_, Shared<D>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the service until SIGTERM. Prints `listening on http://ADDRESS` once it does.
///
/// # Errors
/// The ledger cannot be opened, is in use by another process or holds a line that is no record; the address
/// cannot be bound; the port file cannot be written.
pub(crate) async fn serve<D: Domain>(options: Options) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let service = Arc::new(Service::<D>::open(&options)?);
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

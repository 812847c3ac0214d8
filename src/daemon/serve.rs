//! Serving: from the files to a daemon on its socket, and back down in order.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::compose::{Composed, compose};
use super::readiness::{self, Look, Report};
use super::state_dir::make_private;
use crate::adapters::http::SetupError;
use crate::api::network::{Network, NetworkError, NetworkSettings};
use crate::api::socket::{BindError, bind_socket};
use crate::api::wire::Progress;
use crate::api::{Api, Settings};
use crate::config::{Config, ConfigError, Environment};
use crate::contracts::{Catalog, Finding};
use crate::domain::Digest;
use crate::engine::failpoint::{self, NotAFailPoint};
use crate::engine::system::wall;
use crate::engine::{self, Handle, RecoveryReport, StartError};
use crate::observe::{LogError, start_logs};
use crate::policy::Table;
use crate::reconcile::{self, Cadence};
use crate::store::lock::{LockError, StateLock};
use crate::store::sled::{Options as SledOptions, SledStore};
use crate::store::{OpenError, STORE_DIR, Store};

/// Between two looks at the progress of a start.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What `serve` is told.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// The configuration file; `daemon.toml` in the working directory if none.
    pub config: Option<PathBuf>,
    /// Only with a readiness report in which nothing blocks.
    pub production: bool,
}

/// Why the daemon does not start, or stopped. Nothing was executed by a start that failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration.
    #[error("the configuration is refused:\n{}", lines(.0))]
    Config(Vec<ConfigError>),
    /// The contracts.
    #[error("the contracts are refused, none is loaded:\n{}", lines(.0))]
    Contracts(Vec<Finding>),
    /// `production`: something is missing or weak.
    #[error("not fit for production: {} findings block", .0.blocking())]
    NotReady(Box<Report>),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// `WRITD_FAIL_POINT`.
    #[error(transparent)]
    FailPoint(#[from] NotAFailPoint),
    /// The state directory cannot be made.
    #[error("the state directory {dir} cannot be made: {why}")]
    StateDir {
        /// Where.
        dir: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The state directory is not ours.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The socket.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The listener of the network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The bases.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The store.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The engine.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The runtime or the signals.
    #[error("the runtime cannot be started: {0}")]
    Runtime(std::io::Error),
}

fn lines<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Serves until SIGTERM or SIGINT. `ready` is called once, when the daemon answers.
///
/// # Errors
/// [`ServeError`].
pub fn serve(options: &ServeOptions, ready: impl FnOnce(&Path) + Send) -> Result<(), ServeError> {
    let environment = Environment::of_process();
    let (config, warnings) =
        Config::load(options.config.as_deref(), &environment).map_err(ServeError::Config)?;
    start_logs(&config.log, environment.get("WRITD_LOG"))?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    if let Some(setting) = environment.get("WRITD_FAIL_POINT") {
        failpoint::arm(setting)?;
    }
    let catalog = Catalog::load(&config.daemon.contracts).map_err(ServeError::Contracts)?;
    let policy = Table::compile(&config.rules).map_err(ServeError::Config)?;
    if options.production {
        ready_for_production(options, &config, &catalog)?;
    }
    let dir = &config.daemon.state_dir;
    make_private(dir).map_err(|why| ServeError::StateDir { dir: dir.clone(), why })?;
    // Taken before anything else is touched; held to the end of the process.
    let lock = StateLock::acquire(dir, wall())?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let served = runtime.block_on(run(Arc::new(config), (catalog, policy), ready));
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(lock);
    served
}

/// Refuses while something blocks; advice goes to the log.
fn ready_for_production(
    options: &ServeOptions,
    config: &Config,
    catalog: &Catalog,
) -> Result<(), ServeError> {
    let (file, today) = (readiness::file_of(options.config.clone()), wall().date());
    let own_uid = rustix::process::geteuid().as_raw();
    let report = readiness::report(Look { config, file: Some(&file), catalog, own_uid, today: &today });
    if !report.is_ready() {
        return Err(ServeError::NotReady(Box::new(report)));
    }
    for advice in report.findings {
        tracing::warn!(
            code = advice.code.as_str(),
            "{}: {}; {}",
            advice.place,
            advice.meaning,
            advice.remedy
        );
    }
    Ok(())
}

async fn run(
    config: Arc<Config>,
    (catalog, policy): (Catalog, Arc<Table>),
    ready: impl FnOnce(&Path) + Send,
) -> Result<(), ServeError> {
    let mut term = signal(SignalKind::terminate()).map_err(ServeError::Runtime)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Runtime)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(ServeError::Runtime)?;
    let group = config.daemon.socket_group.as_deref().map(group_id).transpose()?;
    let bound = bind_socket(&config.daemon.socket, config.daemon.socket_mode, group)?;
    // Refused before anything is opened; nobody is let in before the store is there.
    let network = match network(&config) {
        Some(settings) => Some(Network::bind(settings).await?),
        None => None,
    };
    let api = Api::new(settings(&config));
    let service = api.service();
    let serving = tokio::spawn(async move { service.serve(bound).await });
    let starting = start(Arc::clone(&config), catalog, policy, api.clone());
    let (handle, store) = tokio::select! {
        started = starting => started?,
        _ = term.recv() => return stopped_early(&api, serving).await,
        _ = interrupt.recv() => return stopped_early(&api, serving).await,
    };
    let background = TaskTracker::new();
    let stop = CancellationToken::new();
    reconcile::start(handle.clone(), cadence(&config), &background, stop.clone());
    api.ready(handle.clone());
    let listening = network.map(|network| listen(network, &api));
    tracing::info!(socket = %config.daemon.socket.display(), "ready");
    ready(&config.daemon.socket);
    loop {
        tokio::select! {
            _ = term.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => reload(&handle).await,
        }
    }
    tracing::info!("stopping: no new work; running attempts get the grace time");
    api.stop();
    stop.cancel();
    background.close();
    background.wait().await;
    handle.stop().await;
    let _ = serving.await;
    if let Some(listening) = listening {
        let _ = listening.await;
    }
    drop(handle);
    drop(store);
    tracing::info!("stopped");
    Ok(())
}

fn listen(network: Network, api: &Api) -> tokio::task::JoinHandle<()> {
    if let Ok(address) = network.address() {
        tracing::info!(%address, "listening for clients with a token");
    }
    let service = api.service();
    tokio::spawn(async move { service.serve_network(network).await })
}

fn network(config: &Config) -> Option<NetworkSettings> {
    let http = &config.http;
    Some(NetworkSettings {
        listen: http.listen?,
        tls: http.tls_cert.clone().zip(http.tls_key.clone()),
        hosts: http.hosts.clone(),
        origins: http.origins.clone(),
        max_connections: http.max_connections,
    })
}

/// SIGHUP: nobody waits for an answer, so the log says what became of it.
async fn reload(handle: &Handle) {
    match handle.reload(None).await {
        Ok(reloaded) => {
            let staged = reloaded.staged;
            tracing::info!(contracts = staged.contracts, fingerprint = %staged.fingerprint, "contracts reloaded");
            for warning in staged.warnings {
                tracing::warn!("{warning}");
            }
        }
        Err(problem) => {
            tracing::error!(code = %problem.code, "{}", problem.detail);
            for finding in &problem.errors {
                tracing::error!("{}", finding.detail);
            }
        }
    }
}

/// A stop while the store is being opened is safe: nothing was accepted yet.
async fn stopped_early(api: &Api, serving: tokio::task::JoinHandle<()>) -> Result<(), ServeError> {
    api.stop();
    let _ = serving.await;
    Ok(())
}

/// Opens the store and starts the engine, on a thread that may block; the socket already answers how far it is.
async fn start(
    config: Arc<Config>,
    catalog: Catalog,
    policy: Arc<Table>,
    api: Api,
) -> Result<(Handle, Arc<dyn Store>), ServeError> {
    let runtime = tokio::runtime::Handle::current();
    let done = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&done);
    let progress = api.clone();
    let fingerprints = (catalog.fingerprint(), configuration_digest(&config));
    let mut opening = tokio::task::spawn_blocking(move || {
        progress.progress(Progress { phase: "opening the store".to_owned(), done: 0, total: None });
        let store: Arc<dyn Store> = Arc::new(SledStore::open(store_options(&config))?);
        let Composed { parts, warnings } = compose(&config, catalog, policy, Arc::clone(&store))?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let (handle, report) = engine::start(parts, runtime, &counted)?;
        tell(&report);
        Ok::<_, ServeError>((handle, store))
    });
    let started = loop {
        tokio::select! {
            opened = &mut opening => break opened,
            () = tokio::time::sleep(PROGRESS_EVERY) => {
                let done = done.load(Ordering::Relaxed);
                let phase = if done == 0 { "opening the store" } else { "reading open operations" };
                api.progress(Progress { phase: phase.to_owned(), done, total: None });
            }
        }
    };
    let (handle, store) =
        started.map_err(|error| ServeError::Runtime(std::io::Error::other(error.to_string())))??;
    let _ = handle.loaded(fingerprints.0, fingerprints.1);
    Ok((handle, store))
}

fn tell(report: &RecoveryReport) {
    tracing::info!(open = report.open, lost = report.lost, "recovered");
    for quarantined in &report.quarantined {
        tracing::error!(operation = %quarantined.id, why = quarantined.why, "quarantined; run `writd verify`");
    }
    if report.clock_is_behind {
        tracing::warn!(
            "the wall clock is before the last recorded time: check it before you approve anything"
        );
    }
    if report.held {
        tracing::warn!("a backup was imported: writes are held until `writd restore accept`");
    }
}

/// The options of the embedded store.
#[must_use]
pub(crate) fn store_options(config: &Config) -> SledOptions {
    let mut options = SledOptions::new(config.daemon.state_dir.join(STORE_DIR));
    options.cache_bytes = config.store.cache;
    options.reserve_bytes = config.store.reserve;
    options
}

fn settings(config: &Arc<Config>) -> Settings {
    let of_identify = Arc::clone(config);
    Settings {
        identify: Arc::new(move |uid, name| {
            of_identify.identify(uid, name).map_err(|error| error.to_string())
        }),
        max_request: usize::try_from(config.limits.max_request).unwrap_or(usize::MAX),
        max_wait: config.limits.max_wait,
        page_default: config.limits.page_default,
        page_max: config.limits.page_max,
    }
}

fn cadence(config: &Config) -> Cadence {
    Cadence {
        interval: config.reconcile.interval,
        max_interval: config.reconcile.max_interval,
        slow_interval: config.reconcile.slow_interval,
        jitter: config.reconcile.jitter,
        concurrency: config.reconcile.concurrency,
    }
}

/// Who may do what, as one digest for the journal. Secrets are references and not part of it.
fn configuration_digest(config: &Config) -> Digest {
    let (people, limits) = (&config.principals, (&config.approval, &config.budgets));
    Digest::of(format!("{people:?}{limits:?}{:?}", config.bases).as_bytes())
}

fn group_id(name: &str) -> Result<u32, ServeError> {
    let unknown = || ServeError::Runtime(std::io::Error::other(format!("there is no group `{name}`")));
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let groups = fs::read_to_string("/etc/group").map_err(|_| unknown())?;
    let line = groups.lines().find(|line| line.split(':').next() == Some(name)).ok_or_else(unknown)?;
    line.split(':').nth(2).and_then(|id| id.parse().ok()).ok_or_else(unknown)
}

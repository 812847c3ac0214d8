//! `daemon.toml`, raw → resolved → verified. It owns every key, its default and the rules between keys. Who may call
//! it: the composition root and the commands. What it never does: open a socket or a store, or read a credential.
//!
//! Raw is the text with its positions ([`raw`]), resolved has a typed value for every key ([`sections`], [`lists`]), and
//! only what passed the rules between them ([`verify`]) is a [`Config`].

mod budget;
mod error;
mod identify;
mod lists;
mod load;
mod policy;
mod raw;
mod sections;
mod unknown;
mod values;
mod verify;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::budget::Budget;
use crate::domain::origin::Origin;
use crate::domain::principal::{PrincipalKind, Role};

pub use error::{ConfigError, Warning};
pub use identify::IdentifyError;
pub use load::{DEFAULT_FILE, Environment};
pub use policy::{ConfiguredRule, RulePlace, RuleVerdict};

/// The verified configuration. Paths are resolved against the directory of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Files, socket, times of the daemon itself.
    pub daemon: Daemon,
    /// The store.
    pub store: Store,
    /// The listener for clients that bring a token.
    pub http: Http,
    /// How long tokens last.
    pub tokens: Tokens,
    /// Bounds of what clients may ask for.
    pub limits: Limits,
    /// How unknown outcomes are looked up.
    pub reconcile: Reconcile,
    /// Bounds of approvals, whatever the policy says.
    pub approval: Approval,
    /// Logs.
    pub log: Log,
    /// Who may speak to the daemon; at least one name per entry, names unique.
    pub principals: Vec<ConfiguredPrincipal>,
    /// Where writes may go; names unique.
    pub bases: Vec<ConfiguredBase>,
    /// The policy table; a write that no rule matches is denied.
    pub rules: Vec<ConfiguredRule>,
    /// How much of something may be written in a span of time.
    pub budgets: Vec<Budget>,
}

/// `[daemon]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Daemon {
    /// Directory of the run-time data.
    pub state_dir: PathBuf,
    /// The socket on which clients speak to it.
    pub socket: PathBuf,
    /// Permissions of the socket.
    pub socket_mode: u32,
    /// Group that owns the socket; none: the daemon's own.
    pub socket_group: Option<String>,
    /// Directory of the contracts.
    pub contracts: PathBuf,
    /// How long running attempts may still take after SIGTERM.
    pub grace: Duration,
}

/// `[store]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// Which engine.
    pub engine: Engine,
    /// Bytes of the engine's cache.
    pub cache: u64,
    /// Bytes of disk kept free for outcomes.
    pub reserve: u64,
    /// Most changes in one group commit.
    pub group_max: usize,
}

/// The engines that exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// sled 0.34
    Sled,
}

/// `[http]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Http {
    /// Where it listens; none: there is no such listener.
    pub listen: Option<SocketAddr>,
    /// PEM file with its certificate and those above it.
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Whether a proxy before it speaks TLS with the clients.
    pub behind_proxy: bool,
    /// What clients may write into `host`; none: the address of the listener, and localhost.
    pub hosts: Vec<String>,
    /// Pages from which browsers may speak to it.
    pub origins: Vec<Origin>,
    /// Connections at a time.
    pub max_connections: usize,
}

/// `[tokens]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tokens {
    /// How long one lasts for which nobody says it.
    pub default_expiry: Duration,
    /// How long one lasts at most.
    pub max_expiry: Duration,
}

/// `[limits]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest body of a request at the socket, in bytes.
    pub max_request: u64,
    /// Longest `?wait=`.
    pub max_wait: Duration,
    /// Attempts in flight.
    pub max_concurrent_attempts: usize,
    /// How long an idempotency record stays after the end.
    pub idempotency_retention: Duration,
    /// Items of a page that says no size.
    pub page_default: usize,
    /// Most items of a page.
    pub page_max: usize,
}

/// `[reconcile]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reconcile {
    /// First pause between two look-ups.
    pub interval: Duration,
    /// Longest pause before escalation.
    pub max_interval: Duration,
    /// Whether pauses are drawn at random below their bound.
    pub jitter: bool,
    /// Age of an unknown outcome at which a person is told.
    pub escalate_after: Duration,
    /// Pause between look-ups after escalation.
    pub slow_interval: Duration,
    /// Look-ups in flight.
    pub concurrency: usize,
}

/// `[approval]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approval {
    /// Longest time for a decision that a contract may ask for.
    pub decide_within_max: Duration,
    /// Longest time from approval to execution that a contract may ask for.
    pub execute_within_max: Duration,
    /// Whether requester and approver may be names of one uid.
    pub allow_same_uid: bool,
}

/// `[log]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// The least important level that is written.
    pub level: LogLevel,
}

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object per line.
    Json,
}

/// Log levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogLevel {
    /// Errors only.
    Error,
    /// And warnings.
    Warn,
    /// And what happens.
    Info,
    /// And how.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// As log libraries spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// `[[principal]]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredPrincipal {
    /// Unique.
    pub name: String,
    /// Its kind.
    pub kind: PrincipalKind,
    /// The person behind it; its own name if the file says none.
    pub person: String,
    /// Its tenant.
    pub tenant: String,
    /// What it may do.
    pub roles: Vec<Role>,
    /// The groups of approvers that it belongs to.
    pub groups: Vec<String>,
    /// The tools that it may use: `name.vMAJOR`, with `*` for any text.
    pub tools: Vec<String>,
    /// Whether it may do anything at all. A name stays in the file after its end, so that nobody else gets it.
    pub enabled: bool,
    /// The local accounts that may use the name; none: only who brings a token.
    pub uids: Vec<u32>,
    /// The person who owns an agent and therefore cannot approve its writes.
    pub owner: Option<String>,
    /// Whether it is meant where one of its uids names nobody.
    pub default: bool,
}

/// `[[base]]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredBase {
    /// Unique; contracts refer to it.
    pub name: String,
    /// Scheme, host and port.
    pub origin: Origin,
    /// Allows plain http to another machine.
    pub plain_http: bool,
    /// Identity of writes.
    pub credential: Option<SecretRef>,
    /// Header that carries the bare credential; none: `authorization: Bearer …`.
    pub credential_header: Option<String>,
    /// Identity of reads and status queries; none: that of writes.
    pub read_credential: Option<SecretRef>,
    /// PEM file with further certificate authorities.
    pub ca: Option<PathBuf>,
    /// Requests in flight, and connections kept idle.
    pub max_connections: usize,
    /// Deadline of reads and status queries where a contract says none.
    pub timeout: Duration,
}

/// Where a secret is found; never the secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretRef {
    /// An environment variable of the daemon.
    Env(String),
    /// A file.
    File(PathBuf),
}

//! The engine does what the domain decides: load → decide → append → perform → append.
//!
//! One writer thread owns the memory of everything that has not ended. It drains its queue, decides each member against
//! the pending group, commits the group as one batch, and only then publishes, answers and launches attempts. Readers
//! see [`Published`] and nothing that is not synced.
//!
//! ```text
//!   Handle ──message──▶ writer: decide → evolve → group ──commit+sync──▶ store
//!      ▲                                             │
//!      └──────────answers, Published ◀──publish──────┴──launch──▶ attempt task ──answer──▶ writer
//! ```
//!
//! Who may call it: `api`, `reconcile` and the composition root, through [`Handle`]. What it never does: name an engine of
//! the store, an adapter or a contract format; tell anybody anything before it is synced; send a byte before the
//! intent is.

mod admit;
mod attempt;
mod budgets;
mod call;
mod contracts_seen;
mod explain;
pub mod failpoint;
mod grants;
mod group;
mod handle;
mod memory;
mod message;
mod pauses;
mod propose;
mod published;
mod readback;
mod receipts;
mod recovery;
mod reload;
mod rulings;
mod runs;
pub mod system;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tokens;
mod toolcache;
mod unreadable;
mod view;
mod writer;

pub use call::{CallRequest, CallResult};
pub use explain::{DryRun, ExplainedOperation};
pub(crate) use handle::not_found;
pub use handle::{CommandDone, Handle, Page, PageQuery};
pub use propose::{ProposeRequest, Proposed};
pub use published::Published;
pub use recovery::{Quarantined, RecoveryReport, StartError, start};
pub use reload::Reloaded;
pub use runs::{OpenRun, OpenedRun};
pub(crate) use tokens::no_good_token;
pub use tokens::{CreateToken, IssuedToken};
pub use view::{Detail, detail, fact_of};

use std::sync::Arc;
use std::time::Duration;

use crate::ports::{Clock, Directory, IdSource, Invoker, Policy, Toolbox};
use crate::store::Store;
pub use crate::store::records::Stored;

/// What the engine is made of.
#[derive(Clone)]
pub struct Parts {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
    /// How requests are sent.
    pub invoker: Arc<dyn Invoker>,
    /// The contracts.
    pub tools: Arc<dyn Toolbox>,
    /// Who is who.
    pub directory: Arc<dyn Directory>,
    /// Which write may be proposed, and who has to approve it.
    pub policy: Arc<dyn Policy>,
    /// Limits.
    pub limits: Limits,
}

/// Limits of the engine; each from `daemon.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Members of one group commit: bounds the size of a batch and the wait of its first member.
    pub group_max: usize,
    /// Attempts at a time, over all tools.
    pub attempts: usize,
    /// How long a stop waits for running attempts.
    pub grace: Duration,
    /// How long a repeat of a creating request finds its answer.
    pub idempotency_retention: crate::domain::Millis,
    /// How long a token lasts for which nobody says it, and how long at most.
    pub token_lifetime: (crate::domain::Millis, crate::domain::Millis),
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            group_max: 512,
            attempts: 256,
            grace: Duration::from_secs(10),
            idempotency_retention: crate::domain::Millis::secs(7 * 24 * 3600),
            token_lifetime: (crate::domain::Millis::secs(3600), crate::domain::Millis::secs(7200)),
        }
    }
}

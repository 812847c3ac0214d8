//! Commands: what somebody wants of an operation, with the facts that the decision needs.

use super::effect::Effect;
use super::evidence::{Evidence, Loss, NamedEffect, Readback};
use super::proposal::Rules;
use super::requirement::Requirement;
use crate::domain::budget::UsedUp;
use crate::domain::ids::{AttemptId, OperationId};
use crate::domain::principal::Principal;
use crate::domain::{Code, Digest, Millis, Time};

/// The facts of every decision.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Wall time.
    pub now: Time,
    /// Who wants it.
    pub by: &'a Principal,
    /// Jitter for back-offs: a number in `0..=1000` drawn by the caller.
    pub jitter: u32,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub enum Command {
    /// An approver says yes to the digest that was shown.
    Approve {
        /// The digest that was shown.
        digest: Digest,
        /// In their words.
        note: Option<String>,
    },
    /// An approver says no.
    Deny {
        /// Kept for replanning.
        reason: String,
        /// The same write is refused from now on, too.
        last: bool,
    },
    /// An approver takes their approval back, or an admin somebody's.
    Revoke {
        /// Whose; the caller's own when none.
        approver: Option<String>,
    },
    /// The requester or an operator withdraws it.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
    /// Execute now, if every precondition holds.
    Commit(Box<Preconditions>),
    /// The answer to an attempt.
    RecordAnswer {
        /// Which attempt.
        attempt: AttemptId,
        /// What it said.
        answer: AttemptAnswer,
    },
    /// The answer of the status protocol.
    RecordStatus {
        /// What it said.
        answer: StatusAnswer,
    },
    /// An independent read has looked at the result.
    RecordReadback {
        /// What it saw.
        found: Readback,
    },
    /// Somebody asks for a status query now.
    Reconcile,
    /// An operator settles it.
    Resolve {
        /// What the operator knows.
        resolution: Resolution,
        /// How.
        note: String,
    },
    /// An operator gives up finding out.
    Abandon {
        /// Why, and which risk is taken.
        reason: String,
    },
    /// Time has passed.
    Tick,
    /// The daemon has started.
    Restart,
    /// The policy in force asks for this.
    ChangePolicy {
        /// Who has to approve now.
        requirement: Box<Requirement>,
        /// The table that says so.
        policy: Digest,
    },
    /// A compensation of it was proposed.
    StartCompensation {
        /// The operation that is to undo it.
        operation: OperationId,
    },
    /// The compensation ended.
    SettleCompensation {
        /// How.
        result: CompensationResult,
    },
    /// It was brought back by an import.
    Restore {
        /// The new epoch.
        epoch: u64,
    },
}

/// The preconditions of a commit, gathered by the single writer in the order in which they are decided.
#[derive(Clone, Debug)]
pub struct Preconditions {
    /// The attempt that would start.
    pub attempt: AttemptId,
    /// Somebody asked for it by id; otherwise the daemon did.
    pub explicit: bool,
    /// The requester is still known and may still write.
    pub entitled: bool,
    /// How its run stands.
    pub run: RunStanding,
    /// Why its tool, adapter, tenant or all writes are paused.
    pub paused: Option<String>,
    /// The groups that the author of each standing approval is in now; none where they may not approve any more.
    pub approvers: Vec<(String, Option<Vec<String>>)>,
    /// What the table in force asks for, on the stored facts.
    pub policy: PolicyNow,
    /// Digests recomputed from the stored bytes equal those that were approved.
    pub digests_equal: bool,
    /// Who holds the target.
    pub target_busy: Option<OperationId>,
    /// A place is free.
    pub capacity: bool,
    /// A budget that has no room for it.
    pub budget: Option<UsedUp>,
    /// The target's version as read just before, where the contract wants that.
    pub version: VersionCheck,
}

/// What the policy table in force says about an operation, on the facts that are stored with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyNow {
    /// The table.
    pub version: Digest,
    /// Who has to approve.
    pub requirement: Requirement,
    /// The longest time from the first approval to the execution.
    pub execute_within: Millis,
}

/// How the run of an operation stands when it is to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStanding {
    /// Open and before its deadline.
    Open,
    /// Somebody cancelled it.
    Cancelled,
    /// Its deadline has passed.
    DeadlinePassed,
    /// Its record cannot be read: that says nothing about it, the write waits.
    Unreadable,
}

/// The target's version just before the attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionCheck {
    /// The service checks it atomically with the write.
    ByService,
    /// It is read next, if nothing else stands in the way: somebody asked for the commit.
    Asked,
    /// It was read; `None` is absent.
    Read(Option<String>),
    /// It could not be read: the write waits.
    Unavailable,
}

/// What an attempt's answer says.
#[derive(Clone, Debug)]
pub enum AttemptAnswer {
    /// A valid receipt (canonical JSON text).
    Receipt {
        /// The receipt.
        receipt: String,
        /// The new version, where it names it.
        new_version: Option<String>,
    },
    /// A declared terminal error.
    Failed {
        /// Its code.
        code: Code,
        /// In the service's words; untrusted.
        detail: Option<String>,
        /// From the error mapping.
        effect: Effect,
        /// The target's version, where it names it.
        current_version: Option<String>,
    },
    /// A declared partial result.
    Partial {
        /// Its parts.
        effects: Vec<NamedEffect>,
    },
    /// Proven no effect, and the contract calls it worth another try.
    NoEffect {
        /// Why.
        code: Code,
        /// The service's own wish.
        retry_after: Option<Millis>,
        /// Where the proof came from.
        evidence: Evidence,
    },
    /// The downstream goes on under an id of its own.
    Accepted {
        /// Its id.
        remote: String,
    },
    /// Anything else.
    Ambiguous {
        /// How the outcome was lost.
        cause: Loss,
    },
}

/// What the status protocol says.
#[derive(Clone, Debug)]
pub enum StatusAnswer {
    /// It happened; matching evidence.
    Succeeded {
        /// The receipt (canonical JSON text).
        receipt: String,
        /// The new version, where it names it.
        new_version: Option<String>,
    },
    /// It failed for good.
    Failed {
        /// Its code.
        code: Code,
        /// What the world looks like.
        effect: Effect,
    },
    /// Still working on it.
    InProgress {
        /// The downstream's own id, where it names one.
        remote: Option<String>,
    },
    /// It knows no such key.
    NotFound {
        /// Settled, confirmed, and the contract calls it proof.
        proven: bool,
    },
    /// It could not be asked, or its answer decides nothing.
    Inconclusive {
        /// Why.
        cause: String,
    },
}

/// What an operator knows.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// It happened.
    Applied {
        /// The receipt, where there is one (canonical JSON text).
        receipt: Option<String>,
    },
    /// It did not happen.
    NotApplied {
        /// Try again under the same key.
        retry: bool,
    },
    /// The service refused it for good.
    Failed,
}

/// How a compensation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompensationResult {
    /// Denied, expired or cancelled before it executed.
    Withdrawn,
    /// It undid the effect.
    Succeeded,
    /// It did not.
    Failed {
        /// What remains.
        residual: Vec<String>,
    },
}

macro_rules! kinds {
    ($($kind:ident),+ $(,)?) => {
        /// The name of a command, without its data.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum CommandKind {
            $($kind),+
        }

        impl CommandKind {
            /// All commands.
            pub const ALL: &'static [CommandKind] = &[$(CommandKind::$kind),+];
        }
    };
}

kinds! {
    Approve, Deny, Revoke, Cancel, Commit, RecordAnswer, RecordStatus, Reconcile, Resolve, Abandon, Tick, Restart,
    ChangePolicy, StartCompensation, SettleCompensation, Restore, RecordReadback,
}

impl Command {
    /// Its name.
    #[must_use]
    pub const fn kind(&self) -> CommandKind {
        match self {
            Command::Approve { .. } => CommandKind::Approve,
            Command::Deny { .. } => CommandKind::Deny,
            Command::Revoke { .. } => CommandKind::Revoke,
            Command::Cancel { .. } => CommandKind::Cancel,
            Command::Commit(_) => CommandKind::Commit,
            Command::RecordAnswer { .. } => CommandKind::RecordAnswer,
            Command::RecordStatus { .. } => CommandKind::RecordStatus,
            Command::Reconcile => CommandKind::Reconcile,
            Command::Resolve { .. } => CommandKind::Resolve,
            Command::Abandon { .. } => CommandKind::Abandon,
            Command::Tick => CommandKind::Tick,
            Command::Restart => CommandKind::Restart,
            Command::ChangePolicy { .. } => CommandKind::ChangePolicy,
            Command::StartCompensation { .. } => CommandKind::StartCompensation,
            Command::SettleCompensation { .. } => CommandKind::SettleCompensation,
            Command::Restore { .. } => CommandKind::Restore,
            Command::RecordReadback { .. } => CommandKind::RecordReadback,
        }
    }
}

/// Back-off before attempt `next` (2 is the first retry): exponential, full jitter, never under a tenth of the step so
/// that a draw of zero does not make a busy loop.
#[must_use]
pub fn backoff(rules: &Rules, next: u32, jitter: u32) -> Millis {
    let doublings = next.saturating_sub(2).min(32);
    let step = rules.backoff_initial.0.saturating_mul(1 << doublings).min(rules.backoff_max.0);
    Millis((step * u64::from(jitter.min(1000)) / 1000).max(step / 10))
}

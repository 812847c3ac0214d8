//! How the engine sees the outside: traits that the composition root fills. The engine names no adapter, no contract
//! format and no clock of its own, so that a test can give it others.

mod audience;
mod policy;
mod preview;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::domain::budget::Budget;
use crate::domain::ids::{AttemptId, CallId, OperationId, RunId, TokenId};
use crate::domain::json::Canonical;
use crate::domain::operation::command::{AttemptAnswer, StatusAnswer};
use crate::domain::operation::{
    Actor, CommitMode, Proposal, RecoveryTier, RetryClass, TargetCheck, WriteClass,
};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::domain::{Code, Digest, Millis, Time};

pub use audience::{Audience, ReceiptFacts};
pub use policy::{Explained, Fit, Policy, Refused, RuleSaid, Ruling};
pub use preview::{Plan, PlanInput, PreviewRead, Quote};

/// A future behind a trait object.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Wall time. Monotonic time is `std::time::Instant`, read by the engine itself.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Time;
    /// It was this late already: what was recorded is not in the future.
    fn not_before(&self, _time: Time) {}
}

/// Draws ids and other random things.
pub trait IdSource: Send + Sync {
    /// A run's id.
    fn run(&self) -> RunId;
    /// An operation's id.
    fn operation(&self) -> OperationId;
    /// An attempt's id.
    fn attempt(&self) -> AttemptId;
    /// A call's id.
    fn call(&self) -> CallId;
    /// A token's id.
    fn token(&self) -> TokenId;
    /// 256 bits that nobody can guess, from the system and from nothing else.
    ///
    /// # Errors
    /// The system has none.
    fn secret(&self) -> Result<[u8; 32], String>;
    /// The salt of a journal entry.
    fn salt(&self) -> [u8; 16];
    /// A number in `0..=1000`.
    fn jitter(&self) -> u32;
}

/// A complete answer of a downstream, whatever its status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// No complete answer, and what that means for the world.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReply {
    /// Proof: not a byte of the request left this machine.
    #[error("nothing was sent: {cause}")]
    NothingSent {
        /// Why, without data.
        cause: String,
    },
    /// Anything else.
    #[error("it may have arrived: {cause}")]
    MayHaveArrived {
        /// Why, without data.
        cause: String,
    },
}

/// What a request is for; decides identity and connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A read or preview.
    Read,
    /// An attempt.
    Write,
    /// The status protocol.
    Status,
}

/// Sends one rendered request. Never retries, never follows, never re-sends. When it returns, the connection of an
/// unanswered request is gone.
pub trait Invoker: Send + Sync {
    /// Sends it and waits for the whole answer.
    fn send(
        &self,
        request: RenderedRequest,
        purpose: Purpose,
        deadline: Duration,
        max_bytes: usize,
    ) -> Later<'_, Result<Reply, NoReply>>;
}

/// A catalog that was read and verified, and waits to be put in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staged {
    /// Its fingerprint.
    pub fingerprint: Digest,
    /// How many contracts it has.
    pub contracts: usize,
    /// Those that are not as they are in force.
    pub changed: Vec<String>,
    /// What is worth a warning.
    pub warnings: Vec<String>,
}

/// Where a contract is in its life.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Life {
    /// In use.
    #[default]
    Active,
    /// Answers, and warns.
    Deprecated {
        /// The day up to which it may be used.
        until: Option<String>,
        /// What to use instead.
        successor: Option<String>,
    },
    /// Refuses.
    Retired {
        /// What to use instead.
        successor: Option<String>,
    },
}

/// The loaded contracts.
pub trait Toolbox: Send + Sync {
    /// The current contract of a tool: newest minor of this major. `None` if there is none.
    fn current(&self, tool: &str, major: u32) -> Option<Arc<dyn Tool>>;
    /// The contract under which an operation was proposed, from its stored body.
    ///
    /// # Errors
    /// The body is not one that this release can execute.
    fn pinned(&self, fingerprint: Digest, body: &[u8]) -> Result<Arc<dyn Tool>, String>;
    /// Whether programs that act by themselves may see a tool: the lock of the catalog says which role sees what.
    fn agents_see(&self, _tool: &str) -> bool {
        true
    }
    /// The fingerprint of everything that is loaded.
    fn fingerprint(&self) -> Digest;
    /// Everything that is loaded, for lists.
    fn all(&self) -> Vec<Arc<dyn Tool>>;
    /// Reads the contracts again, all or nothing, and keeps them aside. What is in force stays in force.
    ///
    /// # Errors
    /// CONFIGURATION_INVALID with every finding.
    fn stage(&self) -> Result<Staged, ToolError> {
        Err(Box::new(Problem::new(Code::ConfigurationInvalid, "these contracts cannot be read again")))
    }
    /// Puts what was staged under this fingerprint in force. Says whether it did.
    fn adopt(&self, _fingerprint: Digest) -> bool {
        false
    }
}

/// The fixed rules of a write tool.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolRules {
    /// What it does to the world.
    pub class: WriteClass,
    /// Time to decide.
    pub decide_within: Millis,
    /// Time to execute.
    pub execute_within: Millis,
    /// When it is executed.
    pub commit: CommitMode,
    /// How the version is checked.
    pub check: TargetCheck,
    /// Whether attempts are repeated.
    pub retry: RetryClass,
    /// Attempts in all.
    pub max_attempts: u32,
    /// Retry budget.
    pub budget: Millis,
    /// First back-off.
    pub backoff_initial: Millis,
    /// Longest back-off.
    pub backoff_max: Millis,
    /// How an unknown outcome is settled.
    pub tier: RecoveryTier,
    /// Time for one attempt.
    pub timeout: Millis,
    /// Effects for the view.
    pub direct: Vec<String>,
    /// Second-order effects.
    pub indirect: Vec<String>,
    /// Whether and how it can be undone.
    pub reversible: String,
    /// What remains.
    pub residual: Vec<String>,
}

/// When "not found" is proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// The contract calls it proof at all.
    pub not_found_is_no_effect: bool,
    /// Time since the connection is gone.
    pub settle: Duration,
    /// Consistent answers.
    pub confirmations: u32,
    /// Apart.
    pub confirm_interval: Duration,
}

/// Why a contract cannot do something with these values. A problem for the caller; nothing was sent.
pub type ToolError = Box<Problem>;

/// One verified contract, as the engine needs it. Pure: it renders and classifies, and touches nothing.
pub trait Tool: Send + Sync {
    /// The tool's name.
    fn name(&self) -> &str;
    /// `major.minor`.
    fn version(&self) -> String;
    /// Its fingerprint.
    fn fingerprint(&self) -> Digest;
    /// Its canonical body, for the store.
    fn body(&self) -> &[u8];
    /// A draft or a write: an operation. Or a read.
    fn is_write(&self) -> bool;
    /// For people.
    fn title(&self) -> &str;
    /// Where it is in its life.
    fn life(&self) -> Life {
        Life::Active
    }
    /// The rules of a write; `None` for a read.
    fn rules(&self) -> Option<&ToolRules>;
    /// Time for one call of a read, or one status query.
    fn timeout(&self) -> Duration;
    /// The largest answer.
    fn max_output(&self) -> usize;
    /// Validates arguments and fills in declared defaults.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with all findings.
    fn admit(&self, arguments: &Value) -> Result<Canonical, ToolError>;
    /// The read that the preview needs; `None` if it needs none.
    ///
    /// # Errors
    /// The arguments do not render.
    fn preview(&self, arguments: &Value) -> Result<Option<PreviewRead>, ToolError>;
    /// What a preview tool filled in and promised in its answer; nothing where a plain read shows the state before.
    ///
    /// # Errors
    /// OUTPUT_INVALID: the answer is not one of a preview tool.
    fn quote(&self, _arguments: &Value, _answer: &Value) -> Result<Quote, ToolError> {
        Ok(Quote::default())
    }
    /// Target, view and request of a write.
    ///
    /// # Errors
    /// The values do not render.
    fn plan(&self, input: PlanInput<'_>) -> Result<Plan, ToolError>;
    /// The request of a read.
    ///
    /// # Errors
    /// The values do not render.
    fn read_request(
        &self,
        arguments: &Value,
        run: RunId,
        requester: &Actor,
    ) -> Result<RenderedRequest, ToolError>;
    /// The data of a read's answer, validated. Not redacted.
    ///
    /// # Errors
    /// A declared error, OUTPUT_INVALID or UNAVAILABLE.
    fn read_result(&self, reply: &Reply) -> Result<Value, ToolError>;
    /// The target's version in a preview's data, for `check: read` and for `based_on`.
    ///
    /// # Errors
    /// The values do not render.
    fn version_in(&self, arguments: &Value, before: &Value) -> Result<Option<String>, ToolError>;
    /// What an answer to an attempt says.
    fn classify(&self, proposal: &Proposal, request: &RenderedRequest, reply: &Reply) -> AttemptAnswer;
    /// The status query of an operation; `None` where the tier has none.
    fn status_request(&self, proposal: &Proposal, arguments: &Value) -> Option<RenderedRequest>;
    /// Of an answer that claims success and is not fit to be a receipt: what may be kept of it for the operator.
    fn keep_raw(&self, reply: &Reply) -> Option<Vec<u8>>;
    /// What a status answer says. `NotFound` is never proven here.
    fn classify_status(&self, proposal: &Proposal, request: &RenderedRequest, reply: &Reply) -> StatusAnswer;
    /// A receipt that a person brings: it passes the same checks as one in an answer. Its canonical text.
    ///
    /// # Errors
    /// INVALID_ARGUMENT: what does not fit, without values.
    fn admit_receipt(
        &self,
        proposal: &Proposal,
        request: &RenderedRequest,
        receipt: &Value,
    ) -> Result<String, ToolError>;
    /// Whether the contract wants an independent read after a success.
    fn wants_readback(&self) -> bool;
    /// The independent read after a success; `None` where the contract wants none.
    ///
    /// # Errors
    /// The values do not render.
    fn readback(&self, arguments: &Value, receipt: &Value) -> Result<Option<PreviewRead>, ToolError>;
    /// The places where it saw something else than was expected.
    ///
    /// # Errors
    /// The values do not render.
    fn differences(&self, arguments: &Value, receipt: &Value, seen: &Value)
    -> Result<Vec<String>, ToolError>;
    /// When "not found" is proof.
    fn settlement(&self) -> Settlement;
    /// The arguments that are claims: what somebody says, and no service checks. JSON pointers.
    fn claims(&self, arguments: &Value) -> Vec<String>;
    /// What an audience may see of data.
    fn redact(&self, audience: Audience, data: Value) -> Value;
    /// Whether an audience sees less than everything.
    fn redacts(&self, audience: Audience) -> bool;
    /// How sensitive its data is, in the words of the contract.
    fn data_class(&self) -> &str;
    /// What a receipt says, in the places that the contract names.
    fn read_receipt(&self, receipt: &Value) -> ReceiptFacts;
}

/// Who a recorded name is now.
pub trait Directory: Send + Sync {
    /// Whether this requester may still write, with this tool (`name.vMAJOR`); asked at every commit. Who acts for
    /// somebody may do what both may.
    fn may_write(&self, requester: &Actor, on_behalf_of: Option<&str>, tenant: &str, tool: &str) -> bool;
    /// Whether it may use this tool at all.
    fn may_use(&self, name: &str, on_behalf_of: Option<&str>, tenant: &str, tool: &str) -> bool;
    /// Whether one may still act for this person; asked at every commit.
    fn may_be_acted_for(&self, _person: &str, _tenant: &str) -> bool {
        true
    }
    /// The principal of this name, with everything that it may do; none if there is none or it is disabled.
    fn principal(&self, _name: &str) -> Option<Principal> {
        None
    }
    /// The person who owns an agent.
    fn owner_of(&self, requester: &Principal) -> Option<String>;
    /// The groups in which the author of an approval may still approve in this tenant; none where not at all.
    fn approver_groups(&self, approver: &Actor, tenant: &str) -> Option<Vec<String>>;
    /// Names that cannot approve what this one asks for, because the same account may speak as both.
    fn same_account(&self, _requester: &Actor) -> Vec<String> {
        Vec::new()
    }
    /// How much of something may be written in a span of time.
    fn budgets(&self) -> &[Budget] {
        &[]
    }
    /// Upper bounds of the two clocks: decide-within, execute-within.
    fn clock_bounds(&self) -> (Millis, Millis);
    /// From unknown to paused.
    fn escalate_after(&self) -> Millis;
}

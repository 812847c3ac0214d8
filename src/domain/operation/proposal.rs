//! What is proposed: the part of an operation that never changes, and the bodies that belong to it.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::requirement::{MatchedRule, Requirement};
use crate::domain::budget::Spend;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::json::Canonical;
use crate::domain::request::RenderedRequest;
use crate::domain::trace::TraceId;
use crate::domain::{Digest, Millis, Time};

/// The format of `proposal_sha256`; part of what is hashed.
pub const PROPOSAL_FORMAT: u32 = 1;

/// The resource that is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The type of resource, from the contract.
    pub kind: String,
    /// Its id at the service.
    pub id: String,
    /// What is locked while a write on it is open: usually the id, for creates a wider thing.
    pub scope: String,
    /// The version that the write applies to, as canonical text; `None` is `absent`, a create.
    pub version: Option<String>,
}

/// A version as text: a text as it is, a whole number in decimal. Nothing else is a version.
#[must_use]
pub fn version_text(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        Value::String(_)
        | Value::Number(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Array(_)
        | Value::Object(_) => None,
    }
}

/// A version's text as JSON shows it: a number where it is one.
#[must_use]
pub fn version_value(text: &str) -> serde_json::Value {
    text.parse::<i64>()
        .ok()
        .filter(|number| number.to_string() == text)
        .map_or_else(|| text.into(), serde_json::Value::from)
}

/// The key of the target lock: one write at a time, across tools.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TargetKey {
    /// The tenant; targets of two tenants never meet.
    pub tenant: String,
    /// [`Target::kind`].
    pub kind: String,
    /// [`Target::scope`].
    pub scope: String,
}

/// Whether an attempt may be repeated under the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryClass {
    /// One attempt, whatever its outcome.
    Never,
    /// Reads only.
    SafeRead,
    /// The service treats two requests with one key as one.
    Idempotent,
}

/// How an unknown outcome is settled. Declared, never guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryTier {
    /// The service answers what became of a key.
    StatusByKey,
    /// Re-sending the same key and bytes is the question.
    ReplayByKey,
    /// A natural key finds candidates; evidence for the operator only.
    Search,
    /// Only an operator can know.
    None,
}

/// When an approved operation is executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitMode {
    /// As soon as it is approved and its preconditions hold.
    OnApproval,
    /// When its requester commits it by id.
    Explicit,
}

/// How the target's version is held against the one that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetCheck {
    /// The service checks it atomically with the write.
    IfMatch,
    /// It is read just before; a window stays, and the view says so.
    Read,
    /// A create: there is no version yet.
    Absent,
}

/// What a write does to the world.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteClass {
    /// Nobody who executes consumes it, and it expires by itself.
    Draft,
    /// Production records, money, people, third parties.
    Write,
}

impl WriteClass {
    /// As contracts write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            WriteClass::Draft => "draft",
            WriteClass::Write => "write",
        }
    }
}

/// The rules of execution, fixed at proposal time from contract and configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rules {
    /// What it does to the world.
    pub class: WriteClass,
    /// Who has to approve, by the policy table of the proposal's time.
    pub approval: Requirement,
    /// From the first counted approval to execute-by.
    pub execute_within: Millis,
    /// When it is executed.
    pub commit: CommitMode,
    /// How the target's version is checked.
    pub check: TargetCheck,
    /// Whether a second attempt may run at all.
    pub retry: RetryClass,
    /// Attempts in all.
    pub max_attempts: u32,
    /// From the first attempt, no further one starts after this.
    pub budget: Millis,
    /// First back-off.
    pub backoff_initial: Millis,
    /// Longest back-off.
    pub backoff_max: Millis,
    /// How an unknown outcome is settled.
    pub tier: RecoveryTier,
    /// How long one attempt may take.
    pub timeout: Millis,
    /// From unknown to paused: somebody is told, nothing is retried by itself any more.
    pub escalate_after: Millis,
}

/// The part of an operation that is fixed when it is proposed. Bodies are in [`Body`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// The operation.
    pub id: OperationId,
    /// The run it belongs to.
    pub run: RunId,
    /// The tenant, from the credential.
    pub tenant: String,
    /// Who asks.
    pub requester: Actor,
    /// The person who owns the requesting agent; may not approve.
    pub owner: Option<String>,
    /// For whom.
    pub on_behalf_of: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// `major.minor` of the contract.
    pub version: String,
    /// Fingerprint of the contract; its body is in the store under this digest.
    pub contract: Digest,
    /// What is written.
    pub target: Target,
    /// The effect in one sentence.
    pub effect_text: String,
    /// SHA-256 of the canonical arguments.
    pub arguments_sha256: Digest,
    /// SHA-256 of the rendered request.
    pub request_sha256: Digest,
    /// SHA-256 of the canonical proposal: the thing that is approved.
    pub proposal_sha256: Digest,
    /// The idempotency key at the downstream; made by the daemon, the same for every attempt.
    pub key: String,
    /// When it was proposed.
    pub created: Time,
    /// Decisions are taken before this.
    pub decide_by: Time,
    /// What its preview promised holds until then: nothing is decided or executed by it later.
    pub expires: Option<Time>,
    /// The rules of its execution.
    pub rules: Rules,
    /// The policy table that it was judged by.
    pub policy: Digest,
    /// The rules of it that matched.
    pub matched: Vec<MatchedRule>,
    /// What it takes of budgets.
    pub spends: Vec<Spend>,
    /// The trace that it belongs to; that of its run.
    pub trace: TraceId,
    /// The operation that this one replaces after a conflict.
    pub supersedes: Option<OperationId>,
    /// The operation that this one would undo.
    pub compensation_of: Option<OperationId>,
}

impl Proposal {
    /// The tool with its major version: `name.vMAJOR`.
    #[must_use]
    pub fn tool_ref(&self) -> String {
        format!("{}.v{}", self.tool, self.version.split('.').next().unwrap_or_default())
    }

    /// Until when it may be executed, if its first approval counts from then.
    #[must_use]
    pub fn execute_by(&self, from: Time) -> Time {
        let within = from.plus(self.rules.execute_within);
        self.expires.map_or(within, |expires| within.min(expires))
    }

    /// The lock that it needs.
    #[must_use]
    pub fn target_key(&self) -> TargetKey {
        TargetKey {
            tenant: self.tenant.clone(),
            kind: self.target.kind.clone(),
            scope: self.target.scope.clone(),
        }
    }
}

/// One changed field, as the approver sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// JSON pointer of the field.
    pub field: String,
    /// Canonical JSON before; `None` is absent.
    pub before: Option<String>,
    /// Canonical JSON after; `None` is absent.
    pub after: Option<String>,
}

/// The bodies of a proposal: stored once, never changed, erasable without breaking the chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Body {
    /// Canonical arguments (RFC 8785 text).
    pub arguments: String,
    /// Exactly what will be sent.
    pub request: RenderedRequest,
    /// Before → after, by field.
    pub changes: Vec<Change>,
    /// Environment, recipients, affected count, … (canonical JSON text).
    pub consequences: String,
    /// The preview it was made from: the id that a preview tool gave it, else its call.
    pub preview: String,
    /// Why, in the requester's words. A claim, not a fact.
    pub purpose: String,
    /// The arguments that are claims and not facts: JSON pointers.
    pub claims: Vec<String>,
    /// Effects that the contract declares: direct, then indirect, then who sees them.
    pub direct: Vec<String>,
    /// Second-order effects.
    pub indirect: Vec<String>,
    /// Whether and how it can be undone.
    pub reversible: String,
    /// What remains even after a compensation.
    pub residual: Vec<String>,
}

/// `proposal_sha256`: SHA-256 over RFC 8785 of everything that an approver agrees to.
#[must_use]
pub fn proposal_digest(proposal: &Proposal, body: &Body) -> Digest {
    // All numbers are small integers and all keys are ASCII: this cannot fail.
    Canonical::of(&hashed(proposal, body)).map_or(Digest::ZERO, |canonical| canonical.digest())
}

/// The members that are hashed. A target that does not exist yet has the version `null`, which no version is.
pub(crate) fn hashed(proposal: &Proposal, body: &Body) -> serde_json::Value {
    serde_json::json!({
        "format": PROPOSAL_FORMAT,
        "tenant": proposal.tenant,
        "run": proposal.run,
        "operation": proposal.id,
        "requester": proposal.requester.name,
        "on_behalf_of": proposal.on_behalf_of,
        "tool": proposal.tool,
        "contract": proposal.contract,
        "arguments_sha256": proposal.arguments_sha256,
        "request_sha256": proposal.request_sha256,
        "environment": body.request.origin,
        "credential": body.request.base,
        "target": {
            "type": proposal.target.kind,
            "id": proposal.target.id,
            "scope": proposal.target.scope,
            "version": proposal.target.version,
        },
        "consequences": Digest::of(&shown(proposal, body)),
        "preview": body.preview,
        "approval": proposal.rules.approval,
        "policy": proposal.policy,
        "decide_by": proposal.decide_by,
        "expires": proposal.expires,
        "execute_within_ms": proposal.rules.execute_within.0,
        "compensation_of": proposal.compensation_of,
    })
}

/// What the approver sees of the effect: three lines of JSON, which has no line break of its own, so that nothing moves
/// from one part to another.
pub(crate) fn shown(proposal: &Proposal, body: &Body) -> Vec<u8> {
    let effects = (&proposal.effect_text, &body.direct, &body.indirect, &body.residual, &body.reversible);
    let changes = serde_json::to_vec(&body.changes).unwrap_or_default();
    let effects = serde_json::to_vec(&effects).unwrap_or_default();
    [changes.as_slice(), body.consequences.as_bytes(), effects.as_slice()].join(&b'\n')
}

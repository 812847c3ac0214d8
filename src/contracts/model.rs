//! The parts of a contract as values: what the YAML says after parsing. Plain data; the rules are in `verify`, the
//! reading in `resolve`. The engine reads the public fields and changes nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::template::{Condition, Template, Text};
use super::units::{Pointer, Rate, ToolRef};
use crate::domain::Millis;
use crate::domain::operation::Effect;

/// What kind of effect a tool has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectClass {
    /// R0: changes nothing.
    Read,
    /// R1: consumed by nobody who executes, expires.
    Draft,
    /// R3: production records, money, people, third parties.
    Write,
}

/// Whether an effect can be undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reversible {
    /// Never.
    No,
    /// By a new write.
    Compensate,
    /// By itself.
    Yes,
}

impl Reversible {
    /// As written in the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Reversible::No => "no",
            Reversible::Compensate => "compensate",
            Reversible::Yes => "yes",
        }
    }
}

/// What a call does to the world, for the approval view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectSpec {
    /// The class.
    pub class: EffectClass,
    /// What is changed.
    pub direct: Vec<String>,
    /// Second-order effects.
    pub indirect: Vec<String>,
    /// Who sees it.
    pub visible_to: Vec<String>,
    /// How many targets one call may change.
    pub max_targets: u32,
    /// Whether it can be undone.
    pub reversible: Reversible,
    /// What stays even after a compensation.
    pub residual: Vec<String>,
}

/// Where the contract is in its life.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lifecycle {
    /// In use.
    Active,
    /// Answers and warns.
    Deprecated {
        /// The day after which it may be retired.
        until: Option<String>,
        /// What to use.
        successor: Option<ToolRef>,
    },
    /// Answers `TOOL_RETIRED`.
    Retired {
        /// What to use instead.
        successor: Option<ToolRef>,
    },
}

/// The service behind the tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The permission at the service that the tool needs.
    pub scope: Option<String>,
    /// Availability target in percent.
    pub target: Option<f64>,
}

/// How the version of the target is held fast between approval and commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VersionCheck {
    /// The service checks atomically.
    IfMatch,
    /// Read just before; a window stays, and the view says so.
    Read,
    /// The target does not exist yet.
    Absent,
}

/// The resource that is written.
#[derive(Debug)]
pub struct TargetSpec {
    /// Its type.
    pub kind: String,
    pub(super) id: Text,
    pub(super) scope: Text,
    pub(super) version: Option<Template>,
    /// How its version is checked.
    pub check: VersionCheck,
}

/// How the canonical proposal is made.
#[derive(Debug)]
pub struct PreviewSpec {
    /// The read that shows the state before, or the preview tool that answers all of it.
    pub read: ToolRef,
    pub(super) with: Template,
    pub(super) effect_text: Text,
    /// What is made of the state before; a preview tool answers it itself.
    pub(super) templates: Option<PreviewTemplates>,
}

/// What is made of the state before.
#[derive(Debug)]
pub(super) struct PreviewTemplates {
    pub(super) after: Template,
    pub(super) consequences: Template,
}

impl PreviewSpec {
    /// Whether a preview tool answers it.
    #[must_use]
    pub const fn is_tool(&self) -> bool {
        self.templates.is_none()
    }

    /// Where the contract names the read: `/preview/read`, or `/preview/call` for a preview tool.
    #[must_use]
    pub const fn place(&self) -> &'static str {
        if self.is_tool() { "/preview/call" } else { "/preview/read" }
    }
}

/// The two clocks of an approval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApprovalSpec {
    /// From the proposal to the last decision.
    pub decide_within: Millis,
    /// From the first counted approval to the first byte.
    pub execute_within: Millis,
}

/// A draft ends by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DraftSpec {
    /// After this much time, at the service.
    pub ttl: Millis,
    /// Where the answer says when.
    pub(super) expires_at: Pointer,
}

/// Who starts the commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Commit {
    /// The daemon, as soon as the approvals suffice.
    OnApproval,
    /// The agent, by id.
    Explicit,
}

/// How the key travels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idempotency {
    /// The header, in lower case.
    pub header: String,
    /// How long the service remembers the key.
    pub key_window: Millis,
}

/// How an unknown outcome is settled.
#[derive(Debug)]
pub enum Recovery {
    /// Always by the operator.
    None,
    /// A look-up by the key.
    StatusByKey(Box<StatusProtocol>),
}

/// What "not found" says at the status resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotFound {
    /// After `settle` and with the confirmations: nothing happened.
    NoEffect,
    /// Nothing.
    Inconclusive,
}

/// The look-up of an outcome by key.
#[derive(Debug)]
pub struct StatusProtocol {
    pub(super) request: HttpSpec,
    pub(super) succeeded: Condition,
    pub(super) failed: Condition,
    pub(super) in_progress: Option<Condition>,
    pub(super) not_found_when: Option<Condition>,
    /// What "not found" says.
    pub not_found: NotFound,
    /// "Not found" says nothing before this much time has passed.
    pub settle: Millis,
    /// How many consistent answers are needed.
    pub confirmations: u32,
    /// How far apart they are.
    pub confirm_interval: Millis,
    pub(super) evidence: Evidence,
    pub(super) result: Option<Pointer>,
    pub(super) error: Option<Pointer>,
    pub(super) remote: Option<Pointer>,
}

/// Where an answer names the operation that it is about. Everything that is declared must be there and equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Evidence {
    pub(super) key: Option<Pointer>,
    pub(super) operation_id: Option<Pointer>,
    pub(super) request_sha256: Option<Pointer>,
}

/// How a write's own answer proves the effect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ReceiptSpec {
    pub(super) evidence: Evidence,
    pub(super) id: Option<Pointer>,
    pub(super) previous_version: Option<Pointer>,
    pub(super) new_version: Option<Pointer>,
    pub(super) changed_fields: Option<Pointer>,
    pub(super) committed_at: Option<Pointer>,
}

/// When a call may be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryClass {
    /// Never.
    Never,
    /// A read: always.
    SafeRead,
    /// A write with a key: after evidence of no effect, with the same key.
    Idempotent,
}

/// Retries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// When.
    pub class: RetryClass,
    /// How often in all, the first included.
    pub max_attempts: u32,
    /// How long in all.
    pub budget: Millis,
    /// The first pause.
    pub initial: Millis,
    /// The longest pause.
    pub max: Millis,
    /// Whether the pause is drawn between zero and its full length.
    pub jitter: bool,
}

/// Whether a running call can be stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// Only before it started.
    BeforeStart,
    /// Not at all, once sent.
    CannotInterrupt,
}

/// Limits of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Calls at the same time.
    pub concurrency: u32,
    /// Calls per time.
    pub rate: Option<Rate>,
    /// Canonical arguments, in bytes.
    pub max_input: u64,
    /// The body of an answer, in bytes.
    pub max_output: u64,
}

/// How an effect is undone.
#[derive(Debug)]
pub enum Compensation {
    /// It cannot be; the reason is shown to the approver.
    None(String),
    /// By a new write.
    Tool(Box<CompensationSpec>),
}

/// The write that undoes.
#[derive(Debug)]
pub struct CompensationSpec {
    /// The tool.
    pub tool: ToolRef,
    pub(super) with: Template,
    /// How long it may take.
    pub deadline: Millis,
    /// Who is told when it fails.
    pub owner: String,
    /// How often it is rehearsed.
    pub drill_every: Option<Millis>,
    /// The day on which it was rehearsed last (RFC 3339 date).
    pub drilled_on: Option<String>,
}

/// One line of the error table.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorEntry {
    /// The HTTP status.
    pub status: u16,
    /// Members of the body that must be equal.
    pub body: Vec<(Pointer, Value)>,
    /// The code of the dictionary.
    pub code: String,
    /// What the world looks like.
    pub effect: Effect,
    /// Whether the answer says in `Retry-After` when to come back.
    pub retry_after: bool,
    pub(super) current_version: Option<Pointer>,
    pub(super) effects: Option<Pointer>,
}

/// Headers that tell the service who acts; names in lower case.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ActorHeaders {
    pub(super) operation: Option<String>,
    pub(super) run: Option<String>,
    pub(super) requester: Option<String>,
    pub(super) on_behalf_of: Option<String>,
}

/// What happens to a redacted member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RedactAs {
    /// It is removed.
    Drop,
    /// Its value is replaced.
    Mask,
}

/// Redaction, per audience.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Redact {
    pub(super) audiences: BTreeMap<String, Vec<(Pointer, RedactAs)>>,
    pub(super) never_store: Vec<Pointer>,
}

/// An independent read after success.
#[derive(Debug)]
pub struct Readback {
    /// The read.
    pub read: ToolRef,
    /// Its arguments; those of the preview's read where it is the same and nothing is written here.
    pub(super) with: Option<Template>,
    pub(super) expect: Template,
}

/// One HTTP request with templates in it.
#[derive(Debug)]
pub(super) struct HttpSpec {
    /// The named base; empty for a status request, which goes to the base of the tool.
    pub base: String,
    /// Upper-case method.
    pub method: String,
    pub(super) path: Vec<Text>,
    pub(super) query: Vec<(String, Text)>,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) body: Option<Template>,
    pub(super) success: Vec<u16>,
    pub(super) accepted: Option<(u16, Pointer)>,
    pub(super) at: String,
}

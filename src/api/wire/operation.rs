//! An operation as it is shown: the list form, and everything of the approval screen. From stored data only.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parts::{
    AttemptView, ChangeView, ClocksView, DecisionView, DoubtView, LateView, OutcomeView, TargetView, WaitView,
};
use super::policy::PolicyView;
use super::result::ResultView;
use super::{is_false, json_of};
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::{
    Actor, Body, CommitMode, Effect, Operation, RecoveryTier, RetryClass, State, TargetCheck, WriteClass,
};
use crate::domain::request::RenderedRequest;
use crate::domain::trace::TraceId;
use crate::domain::{Digest, Time};

/// How much of a receipt a reader is shown.
#[derive(Clone, Copy)]
pub enum Receipts<'a> {
    /// Nothing.
    Hidden,
    /// What the contract lets this audience see. A redaction names places of the whole answer, so the receipts of parts
    /// are shown only to people.
    Shown {
        /// The whole with what is redacted gone.
        redact: &'a dyn Fn(Value) -> Value,
        /// Whether the receipts of the parts of a partial effect are shown.
        parts: bool,
    },
}

impl Receipts<'_> {
    pub(super) fn whole(self, text: Option<&String>) -> Option<Value> {
        match self {
            Receipts::Hidden => None,
            Receipts::Shown { redact, .. } => text.map(|text| redact(json_of(text))),
        }
    }

    /// The receipt of an operation, as it is shown.
    #[must_use]
    pub fn whole_of(self, operation: &Operation) -> Option<Value> {
        self.whole(operation.outcome.as_ref()?.receipt.as_ref())
    }

    pub(super) fn part(self, text: Option<&String>) -> Option<Value> {
        match self {
            Receipts::Hidden | Receipts::Shown { parts: false, .. } => None,
            Receipts::Shown { parts: true, .. } => text.map(|text| json_of(text)),
        }
    }
}

/// With which eyes and when an operation is looked at.
#[derive(Clone, Copy)]
pub struct Lens<'a> {
    /// The daemon's time.
    pub now: Time,
    /// Who holds the target of an operation that met a holder there; nobody, where the reader may not see that one.
    pub blocker: &'a dyn Fn(&Operation, OperationId) -> Option<OperationId>,
    /// How receipts are shown; lists go without.
    pub receipts: Receipts<'a>,
}

/// The list form of an operation, and the answer to every command on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OperationView {
    /// Its id.
    pub id: OperationId,
    /// Where it stands.
    pub state: State,
    /// What the world looks like.
    pub effect: Effect,
    /// The effect in one sentence.
    pub effect_text: String,
    /// The tool.
    pub tool: String,
    /// `draft` or `write`.
    pub class: WriteClass,
    /// `major.minor` of its contract.
    pub version: String,
    /// What is written.
    pub target: TargetView,
    /// The run it belongs to.
    pub run: RunId,
    /// Who asks.
    pub requester: Actor,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// When it was proposed.
    pub created: Time,
    /// When it last changed.
    pub changed: Time,
    /// How many events made it; `?wait=…&after=N` waits for more.
    pub events: u32,
    /// What is approved: `approve` sends this back as `digest`.
    pub proposal_sha256: Digest,
    /// Approvals that count.
    pub approvals: u32,
    /// Approvals that are needed, of as many distinct persons.
    pub approvals_needed: u32,
    /// Decide-by and execute-by.
    pub clocks: ClocksView,
    /// When it is executed.
    pub commit: CommitMode,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<WaitView>,
    /// While its outcome is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DoubtView>,
    /// No further attempt starts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_more_attempts: bool,
    /// Somebody has to look at it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_operator: bool,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeView>,
    /// The operation that it replaces after a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<OperationId>,
    /// The operation that it would undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation_of: Option<OperationId>,
    /// The compensation of it that is open, or was the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<OperationId>,
}

impl OperationView {
    /// What a reader is shown of an operation.
    #[must_use]
    pub fn of(operation: &Operation, lens: Lens<'_>) -> OperationView {
        let proposal = operation.proposal.as_ref();
        OperationView {
            id: proposal.id,
            state: operation.state,
            effect: operation.effect,
            effect_text: proposal.effect_text.clone(),
            tool: proposal.tool.clone(),
            class: proposal.rules.class,
            version: proposal.version.clone(),
            target: TargetView::from(&proposal.target),
            run: proposal.run,
            requester: proposal.requester.clone(),
            on_behalf_of: proposal.on_behalf_of.clone(),
            created: proposal.created,
            changed: operation.changed,
            events: operation.events,
            proposal_sha256: proposal.proposal_sha256,
            approvals: counted(operation),
            approvals_needed: operation.requirement().persons(),
            clocks: clocks(operation, lens.now),
            commit: proposal.rules.commit,
            wait: operation
                .wait
                .as_ref()
                .map(|waiting| WaitView::of(waiting, |met| (lens.blocker)(operation, met))),
            doubt: operation.doubt.as_ref().map(|doubt| DoubtView::of(doubt, lens.now)),
            no_more_attempts: operation.no_more_attempts,
            needs_operator: operation.needs_operator(),
            outcome: operation.outcome.as_ref().map(|outcome| OutcomeView::of(outcome, lens.receipts)),
            supersedes: proposal.supersedes,
            compensation_of: proposal.compensation_of,
            compensation: operation.compensation,
        }
    }
}

/// Approvals of persons that count by what is asked for now.
fn counted(operation: &Operation) -> u32 {
    let requirement = operation.requirement();
    let counted = operation.approvals().filter(|decision| requirement.counts_decision(decision)).count();
    u32::try_from(counted).unwrap_or(u32::MAX)
}

fn clocks(operation: &Operation, now: Time) -> ClocksView {
    let decide_by = operation.proposal.decide_by;
    ClocksView {
        decide_by,
        decide_remaining_ms: (operation.state == State::Proposed).then(|| decide_by.since(now).0),
        expires: operation.proposal.expires,
        execute_by: operation.execute_by,
        execute_remaining_ms: operation
            .execute_by
            .filter(|_| operation.state == State::Approved)
            .map(|execute_by| execute_by.since(now).0),
        execute_within_ms: operation.proposal.rules.execute_within.0,
    }
}

/// Exactly what is sent; the credential is a reference.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestView {
    /// The named base; its credential is used.
    pub base: String,
    /// Scheme, host and port.
    pub origin: String,
    /// Upper-case method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl From<&RenderedRequest> for RequestView {
    fn from(request: &RenderedRequest) -> RequestView {
        RequestView {
            base: request.base.clone(),
            origin: request.origin.clone(),
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned()),
        }
    }
}

/// Everything that is shown of an operation. The members of [`OperationView`] stand beside these, on the same level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OperationDetail {
    /// The list form.
    #[serde(flatten)]
    pub summary: OperationView,
    /// Before → after, by field.
    pub changes: Vec<ChangeView>,
    /// Environment, recipients, affected count, …
    pub consequences: Value,
    /// Effects that the contract declares.
    pub direct: Vec<String>,
    /// Second-order effects.
    pub indirect: Vec<String>,
    /// `no`, `compensate` or `yes`.
    pub reversible: String,
    /// What remains even after a compensation.
    pub residual: Vec<String>,
    /// Why, in the requester's words: a claim, not a fact.
    pub purpose: String,
    /// The arguments that are claims: the requester says so, and no service checks it. JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// What differs from the proposal that it replaces: what that one said, and what this one says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_superseded: Option<Vec<ChangeView>>,
    /// What the policy table said, and who is still waited for.
    pub policy: PolicyView,
    /// The tenant.
    pub tenant: String,
    /// The person who owns the requesting agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Fingerprint of the contract.
    pub contract: Digest,
    /// What it was made from: the id that a preview tool gave its answer, else that of the read's call.
    pub preview: String,
    /// The canonical arguments.
    pub arguments: Value,
    /// SHA-256 of the canonical arguments.
    pub arguments_sha256: Digest,
    /// The trace that it belongs to: that of its run.
    pub trace_id: TraceId,
    /// Exactly what is sent.
    pub request: RequestView,
    /// SHA-256 of the rendered request.
    pub request_sha256: Digest,
    /// How the target's version is checked.
    pub check: TargetCheck,
    /// How an unknown outcome is settled.
    pub tier: RecoveryTier,
    /// Whether a further attempt may run.
    pub retry: RetryClass,
    /// Attempts in all.
    pub max_attempts: u32,
    /// What approvers said, in order; void ones stay.
    pub decisions: Vec<DecisionView>,
    /// What `assurance` on a decision proves, where one proves little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance_note: Option<String>,
    /// Execution tries, in order.
    pub attempts: Vec<AttemptView>,
    /// The service's own id of a long operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Answers after the end; the journal has all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_answers: Vec<LateView>,
    /// What it came to, as evidence; when it has ended after an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultView>,
}

/// Said wherever approvals by the local account can decide.
const LOCAL_UID_NOTE: &str =
    "local_uid: the account proves who spoke, not which person; one account may hold several names";

impl OperationDetail {
    /// Everything that a reader is shown of an operation.
    #[must_use]
    pub fn of(operation: &Operation, body: &Body, lens: Lens<'_>) -> OperationDetail {
        let proposal = operation.proposal.as_ref();
        let local = |actor: &Actor| actor.assurance == crate::domain::principal::Assurance::LocalUid;
        let weak =
            local(&proposal.requester) || operation.decisions.iter().any(|decision| local(&decision.by));
        OperationDetail {
            summary: OperationView::of(operation, lens),
            changes: body.changes.iter().map(ChangeView::from).collect(),
            consequences: json_of(&body.consequences),
            direct: body.direct.clone(),
            indirect: body.indirect.clone(),
            reversible: body.reversible.clone(),
            residual: body.residual.clone(),
            purpose: body.purpose.clone(),
            claims: body.claims.clone(),
            since_superseded: None,
            policy: PolicyView::of(operation),
            tenant: proposal.tenant.clone(),
            owner: proposal.owner.clone(),
            contract: proposal.contract,
            preview: body.preview.clone(),
            arguments: json_of(&body.arguments),
            arguments_sha256: proposal.arguments_sha256,
            trace_id: proposal.trace,
            request: RequestView::from(&body.request),
            request_sha256: proposal.request_sha256,
            check: proposal.rules.check,
            tier: proposal.rules.tier,
            retry: proposal.rules.retry,
            max_attempts: proposal.rules.max_attempts,
            decisions: operation.decisions.iter().map(DecisionView::from).collect(),
            assurance_note: weak.then(|| LOCAL_UID_NOTE.to_owned()),
            attempts: operation.attempts.iter().map(AttemptView::from).collect(),
            remote: operation.remote.clone(),
            late_answers: operation.late.iter().map(|late| LateView::of(late, lens.receipts)).collect(),
            result: None,
        }
    }
}

/// Whether a command changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandResult {
    /// Done as asked.
    Done,
    /// Nothing to do; the words say what is true.
    Already,
}

/// The answer to a command. The members of [`OperationView`] stand beside these, on the same level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CommandAnswer {
    /// Done, or already so.
    pub answer: CommandResult,
    /// What is true, for people.
    pub words: String,
    /// The operation after it.
    #[serde(flatten)]
    pub operation: OperationView,
}

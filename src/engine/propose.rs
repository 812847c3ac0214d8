//! From a request to a proposal: everything that defaulting, previewing and rendering do happens here, before the
//! digests. From then on the stored bytes are the only input to execution.

use std::sync::Arc;

use serde_json::{Value, json};

use super::budgets;
use super::call::{AskedBy, Previewed, no_such_tool, previewed};
use super::handle::Handle;
use super::message::Message;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::json::Canonical;
use crate::domain::operation::{
    Actor, Body, PROPOSAL_FORMAT, Proposal, Requirement, Rules, TargetCheck, proposal_digest, version_text,
    version_value,
};
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::domain::run::Run;
use crate::domain::{Code, Digest, Millis, Time};
use crate::ports::{Plan, PlanInput, Tool, ToolRules};
use crate::store::records::{Created, IdempotencyRecord, Stored};

/// The longest `Idempotency-Key`; services and clients use UUIDs and short paths.
pub(super) const MAX_KEY_CHARS: usize = 255;
/// The longest purpose: a sentence or two for the approver.
pub(super) const MAX_PURPOSE_CHARS: usize = 1000;

/// What an agent proposes.
#[derive(Clone, Debug)]
pub struct ProposeRequest {
    /// The tool.
    pub tool: String,
    /// Its major version.
    pub major: u32,
    /// Its arguments.
    pub arguments: Value,
    /// The version that the agent read.
    pub based_on: Option<Value>,
    /// Why, in the agent's words.
    pub purpose: String,
    /// The operation that this one replaces after a conflict.
    pub supersedes: Option<OperationId>,
    /// `Idempotency-Key`.
    pub key: Option<String>,
}

/// A stored proposal.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The operation.
    pub stored: Arc<Stored>,
    /// It was proposed before under the same key; this is what became of it.
    pub replayed: bool,
}

/// A key of our own API, in its scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApiKey {
    /// Digest of tenant, principal, run and key.
    pub(super) scope: Digest,
    /// Digest of the canonical request.
    pub(super) request: Digest,
}

impl ApiKey {
    pub(super) fn new(
        key: &str,
        by: &Principal,
        scope: &str,
        request: &Value,
    ) -> Result<ApiKey, Box<Problem>> {
        let fits = !key.is_empty()
            && key.len() <= MAX_KEY_CHARS
            && key.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        if !fits {
            let detail = format!("an Idempotency-Key has 1 to {MAX_KEY_CHARS} printable ASCII characters");
            return Err(invalid("/Idempotency-Key", &detail));
        }
        let scope = json!([by.tenant, by.name, scope, key]);
        let canonical = |value: &Value| Canonical::of(value).map_err(|error| Box::new(Problem::from(&error)));
        Ok(ApiKey { scope: canonical(&scope)?.digest(), request: canonical(request)?.digest() })
    }
}

/// A proposal that is ready to be stored.
pub(super) struct Draft {
    pub(super) proposal: Proposal,
    pub(super) body: Body,
    pub(super) contract: Vec<u8>,
    pub(super) key: Option<ApiKey>,
}

fn invalid(pointer: &str, detail: &str) -> Box<Problem> {
    let mut problem = Problem::new(Code::InvalidArgument, detail);
    problem.pointer = Some(pointer.to_owned());
    Box::new(problem)
}

impl Handle {
    /// Proposes a write. Nothing is executed; when this answers, the proposal is stored.
    ///
    /// # Errors
    /// The first thing that is wrong, with its pointer; nothing is stored and nothing but reads was sent.
    pub async fn propose(
        &self,
        run: RunId,
        by: &Principal,
        request: ProposeRequest,
    ) -> Result<Proposed, Box<Problem>> {
        let key = match &request.key {
            None => None,
            Some(key) => {
                let body = json!({
                    "tool": request.tool, "major": request.major, "arguments": request.arguments,
                    "based_on": request.based_on, "purpose": request.purpose, "supersedes": request.supersedes,
                });
                Some(ApiKey::new(key, by, &run.to_string(), &body)?)
            }
        };
        let known = self.known(key.as_ref(), by)?;
        if let Some((_, Some(replay))) = known {
            return Ok(replay);
        }
        let run = self.open_run_of(run, by)?;
        let admitted = self.admitted(&run, by, &request).await?;
        if let Some((record, None)) = known {
            // Whatever else is wrong with it on today's facts: it is another request.
            return Err(super::writer::conflict(&record, admitted.arguments.digest()));
        }
        let based_on = request.based_on.clone();
        let mut draft = self.prepared(&run, by, admitted, request).await?;
        check_based_on(&draft.proposal, based_on.as_ref())?;
        self.apply_policy(&mut draft.proposal, &draft.body)?;
        let budgets = self.parts.directory.budgets();
        draft.proposal.spends = budgets::spends(budgets, &draft.proposal, &draft.body)?;
        debug_assert_eq!(PROPOSAL_FORMAT, 1, "another format has other members");
        draft.proposal.proposal_sha256 = proposal_digest(&draft.proposal, &draft.body);
        draft.key = key;
        self.ask(|reply| Message::Propose { draft: Box::new(draft), reply }).await
    }

    /// Whether this may be proposed at all, and its arguments with their defaults.
    pub(super) async fn admitted(
        &self,
        run: &Run,
        by: &Principal,
        request: &ProposeRequest,
    ) -> Result<Admitted, Box<Problem>> {
        let tool = self.write_tool(run, by, request)?;
        let rules = tool.rules().ok_or_else(|| no_such_tool(&request.tool, request.major, "write"))?.clone();
        self.check_words(request, by)?;
        let arguments = super::admit::admit(&tool, &request.arguments).await?;
        Ok(Admitted { tool, rules, arguments })
    }

    /// Reads what the preview needs and plans. What the policy says of it is not asked, and nothing is stored.
    pub(super) async fn prepared(
        &self,
        run: &Run,
        by: &Principal,
        Admitted { tool, rules, arguments }: Admitted,
        request: ProposeRequest,
    ) -> Result<Draft, Box<Problem>> {
        // Only what the proposer said is a claim, not what a preview tool fills in.
        let claims = tool.claims(&arguments.value());
        let requester = Actor::from(by);
        let asked_by = AskedBy { run: run.id, requester: &requester, trace: run.trace };
        let Previewed { arguments, answer, id: preview, expires } =
            previewed(&self.parts, &tool, arguments, &asked_by).await?;
        let id = self.parts.ids.operation();
        let key_text = format!("{}:{id}", run.id);
        let plan = tool.plan(PlanInput {
            arguments: &arguments.value(),
            before: &answer,
            operation: id,
            run: run.id,
            requester: &by.name,
            on_behalf_of: run.on_behalf_of.as_deref(),
            key: &key_text,
        })?;
        let (purpose, supersedes) = (request.purpose, request.supersedes);
        let made = Made { id, key_text, arguments, claims, plan, preview, expires, purpose, supersedes };
        self.draft(by, run, tool.as_ref(), &rules, made)
    }

    /// What needs neither the contract nor the service.
    fn check_words(&self, request: &ProposeRequest, by: &Principal) -> Result<(), Box<Problem>> {
        if request.purpose.chars().count() > MAX_PURPOSE_CHARS {
            let detail = format!("a purpose has at most {MAX_PURPOSE_CHARS} characters");
            return Err(invalid("/purpose", &detail));
        }
        request.supersedes.map_or(Ok(()), |old| self.operation(old, by).map(|_| ()))
    }

    /// A repeat needs no preview: what its key names is answered at once. The writer decides the rest.
    fn known(&self, key: Option<&ApiKey>, by: &Principal) -> Result<Option<Known>, Box<Problem>> {
        let Some(key) = key else { return Ok(None) };
        let record = self.records().idempotency(key.scope);
        let record = record.map_err(|error| super::handle::unreadable(&error))?;
        let Some(record) = record else { return Ok(None) };
        let Created::Operation(id) = record.created else { return Ok(None) };
        // Absent means that its group is not synced yet: the writer answers after that.
        let Ok(stored) = self.operation(id, by) else { return Ok(None) };
        let same = record.request == key.request;
        Ok(Some((record, same.then_some(Proposed { stored, replayed: true }))))
    }

    fn write_tool(
        &self,
        run: &Run,
        by: &Principal,
        request: &ProposeRequest,
    ) -> Result<Arc<dyn Tool>, Box<Problem>> {
        let name = format!("{}.v{}", request.tool, request.major);
        let granted = super::grants::may_use(&self.parts, by, run.on_behalf_of.as_deref(), &name).is_ok();
        if !by.has(Role::Agent) || !granted || !run.tools.contains(&name) {
            // Whether the tool exists is not said to who may not use it.
            let detail = "this run may not propose this tool: a write tool is named when the run is opened";
            return Err(Box::new(Problem::new(Code::PermissionDenied, detail)));
        }
        self.tool_in(run, &request.tool, request.major)
            .filter(|tool| tool.is_write())
            .ok_or_else(|| no_such_tool(&request.tool, request.major, "write"))
    }

    fn draft(
        &self,
        by: &Principal,
        run: &Run,
        tool: &dyn Tool,
        rules: &ToolRules,
        made: Made,
    ) -> Result<Draft, Box<Problem>> {
        let now = self.parts.clock.now();
        still_holds(made.expires, now)?;
        let (decide_max, execute_max) = self.parts.directory.clock_bounds();
        let body = Body {
            arguments: made.arguments.as_str().to_owned(),
            changes: made.plan.changes,
            consequences: Canonical::of(&made.plan.consequences)
                .map(|canonical| canonical.as_str().to_owned())
                .unwrap_or_default(),
            preview: made.preview,
            claims: made.claims,
            purpose: made.purpose,
            direct: rules.direct.clone(),
            indirect: rules.indirect.clone(),
            reversible: rules.reversible.clone(),
            residual: rules.residual.clone(),
            request: made.plan.request,
        };
        let proposal = Proposal {
            id: made.id,
            run: run.id,
            tenant: by.tenant.clone(),
            requester: Actor::from(by),
            owner: self.parts.directory.owner_of(by),
            on_behalf_of: run.on_behalf_of.clone(),
            tool: tool.name().to_owned(),
            version: tool.version(),
            contract: tool.fingerprint(),
            target: made.plan.target,
            effect_text: made.plan.effect_text,
            arguments_sha256: made.arguments.digest(),
            request_sha256: body.request.digest(),
            proposal_sha256: Digest::ZERO,
            key: made.key_text,
            created: now,
            decide_by: bounded(
                bounded(now.plus(rules.decide_within.min(decide_max)), run.deadline),
                made.expires,
            ),
            expires: made.expires,
            rules: rules_of(rules, execute_max, self.parts.directory.escalate_after()),
            policy: Digest::ZERO,
            matched: Vec::new(),
            spends: Vec::new(),
            trace: run.trace,
            supersedes: made.supersedes,
            compensation_of: None,
        };
        Ok(Draft { proposal, body, contract: tool.body().to_vec(), key: None })
    }

    /// What the table says becomes part of what is proposed; what it forbids is not stored.
    fn apply_policy(&self, proposal: &mut Proposal, body: &Body) -> Result<(), Box<Problem>> {
        let now = proposal.created;
        let ruling = super::rulings::ruling(&self.parts, proposal, body, now);
        if let Some(refused) = ruling.refused {
            let detail = format!("the policy denies it (rule `{}`): {}", refused.rule, refused.reason);
            return Err(Box::new(Problem::new(Code::Denied, detail)));
        }
        if let Some(within) = ruling.decide_within {
            proposal.decide_by = proposal.decide_by.min(now.plus(within));
        }
        if let Some(within) = ruling.execute_within {
            proposal.rules.execute_within = proposal.rules.execute_within.min(within);
        }
        proposal.rules.approval = ruling.requirement;
        proposal.policy = ruling.version;
        proposal.matched = ruling.matched;
        Ok(())
    }
}

/// What a key names already; with the answer, if the request is the same.
type Known = (IdempotencyRecord, Option<Proposed>);

/// What may be proposed.
pub(super) struct Admitted {
    tool: Arc<dyn Tool>,
    rules: ToolRules,
    arguments: Canonical,
}

/// What was made of a request so far.
struct Made {
    id: OperationId,
    key_text: String,
    arguments: Canonical,
    claims: Vec<String>,
    plan: Plan,
    preview: String,
    expires: Option<Time>,
    purpose: String,
    supersedes: Option<OperationId>,
}

fn bounded(time: Time, deadline: Option<Time>) -> Time {
    deadline.map_or(time, |deadline| time.min(deadline))
}

/// The rules of its execution; who has to approve is said by the policy table.
fn rules_of(rules: &ToolRules, execute_max: Millis, escalate_after: Millis) -> Rules {
    Rules {
        class: rules.class,
        approval: Requirement::of(0),
        execute_within: rules.execute_within.min(execute_max),
        commit: rules.commit,
        check: rules.check,
        retry: rules.retry,
        max_attempts: rules.max_attempts,
        budget: rules.budget,
        backoff_initial: rules.backoff_initial,
        backoff_max: rules.backoff_max,
        tier: rules.tier,
        timeout: rules.timeout,
        escalate_after,
    }
}

/// What is stored can still be decided about.
fn still_holds(expires: Option<Time>, now: Time) -> Result<(), Box<Problem>> {
    let Some(expires) = expires.filter(|expires| now >= *expires) else { return Ok(()) };
    let detail = format!(
        "what the preview tool answered holds until {expires}, which has passed: nothing is stored. Propose it again; if \
         that is refused too, the clocks of the service and of this machine differ"
    );
    Err(Box::new(Problem::new(Code::PreconditionFailed, detail)))
}

/// A plan made on old facts never becomes a proposal on new ones by itself.
pub(super) fn check_based_on(proposal: &Proposal, based_on: Option<&Value>) -> Result<(), Box<Problem>> {
    match (proposal.rules.check, based_on) {
        (TargetCheck::Absent, None) => Ok(()),
        (TargetCheck::Absent, Some(_)) => {
            Err(invalid("/based_on", "this tool creates something: there is no version to be based on"))
        }
        (TargetCheck::IfMatch | TargetCheck::Read, None) => Err(invalid(
            "/based_on",
            "say which version of the target you read: a write is proposed on known facts",
        )),
        (TargetCheck::IfMatch | TargetCheck::Read, Some(read)) => {
            let read = version_text(read).ok_or_else(|| {
                invalid("/based_on", "a version is a text or a whole number, as the read answered it")
            })?;
            if proposal.target.version.as_deref() == Some(read.as_str()) {
                return Ok(());
            }
            let mut problem = Problem::new(
                Code::VersionConflict,
                "the target has another version than the one this is based on: read it again and plan anew",
            );
            problem.pointer = Some("/based_on".to_owned());
            problem.current_version = proposal.target.version.as_deref().map(version_value);
            Err(Box::new(problem))
        }
    }
}

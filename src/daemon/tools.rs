//! Contracts as the engine sees them: [`Toolbox`] and [`Tool`] over verified contracts and configured origins.

mod convert;
mod plan;
mod rules;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::convert::{ambiguous, answer_of, canonical_text, code_of, invalid, life, receipt_text, unrendered};
use self::rules::{rules, settlement};
use crate::contracts::{
    Actor as RenderActor, Catalog, Classified, Contract, EffectClass, Expect, Lifecycle, Quoted, ReadOutcome,
    StatusAnswer as Status, StatusContext, ToolRef,
};
use crate::domain::ids::RunId;
use crate::domain::json::Canonical;
use crate::domain::operation::command::{AttemptAnswer, StatusAnswer};
use crate::domain::operation::evidence::NamedEffect;
use crate::domain::operation::{Actor, Effect, Evidence, Loss, Proposal};
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::domain::{Code, Digest};
use crate::ports::{
    Audience, Life, Plan, PlanInput, PreviewRead, Quote, ReceiptFacts, Reply, Settlement, Tool, ToolError,
    ToolRules, Toolbox,
};

/// The loaded catalog over the configured bases.
pub(super) struct Tools {
    catalog: Catalog,
    origins: Arc<HashMap<String, String>>,
    tools: HashMap<(String, u32), Arc<dyn Tool>>,
}

impl Tools {
    pub(super) fn new(catalog: Catalog, origins: HashMap<String, String>) -> Tools {
        let origins = Arc::new(origins);
        let mut tools: HashMap<(String, u32), Arc<dyn Tool>> = HashMap::new();
        for contract in catalog.list() {
            let tool = contract.tool_ref();
            // The newest minor of a major is what a new proposal gets.
            if let Some(newest) = catalog.get(&tool) {
                let bound = Bound::new(newest, Arc::clone(&origins));
                tools.insert((tool.name, tool.major), Arc::new(bound));
            }
        }
        Tools { catalog, origins, tools }
    }

    /// The contracts.
    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}

impl Toolbox for Tools {
    fn current(&self, tool: &str, major: u32) -> Option<Arc<dyn Tool>> {
        self.tools.get(&(tool.to_owned(), major)).cloned()
    }

    fn agents_see(&self, tool: &str) -> bool {
        tool.parse().is_ok_and(|tool| self.catalog.role_sees("agent", &tool))
    }

    fn pinned(&self, fingerprint: Digest, body: &[u8]) -> Result<Arc<dyn Tool>, String> {
        let contract = Contract::from_body(body).map_err(|findings| {
            findings.first().map_or_else(|| "it is refused".to_owned(), |finding| finding.message.clone())
        })?;
        if contract.fingerprint() != fingerprint {
            return Err("its body has another fingerprint".to_owned());
        }
        Ok(Arc::new(Bound::new(Arc::new(contract), Arc::clone(&self.origins))))
    }

    fn fingerprint(&self) -> Digest {
        self.catalog.fingerprint()
    }

    fn all(&self) -> Vec<Arc<dyn Tool>> {
        let mut all: Vec<_> = self.tools.iter().collect();
        all.sort_by_key(|(name, _)| (*name).clone());
        all.into_iter().map(|(_, tool)| Arc::clone(tool)).collect()
    }
}

/// One contract, bound to where its service is.
struct Bound {
    contract: Arc<Contract>,
    origins: Arc<HashMap<String, String>>,
    rules: Option<ToolRules>,
}

impl Bound {
    fn new(contract: Arc<Contract>, origins: Arc<HashMap<String, String>>) -> Bound {
        let rules = rules(&contract);
        Bound { contract, origins, rules }
    }

    fn origin(&self) -> Result<&str, ToolError> {
        self.origins.get(self.contract.base()).map(String::as_str).ok_or_else(|| {
            let detail =
                format!("its base `{}` is not configured: add it to daemon.toml", self.contract.base());
            Box::new(Problem::new(Code::Unavailable, detail))
        })
    }

    fn expect<'a>(proposal: &'a Proposal, operation: &'a str, request: &RenderedRequest) -> Expect<'a> {
        Expect {
            key: &proposal.key,
            operation,
            body_sha256: Digest::of(request.body.as_deref().unwrap_or_default()),
            version: proposal.target.version.as_deref(),
        }
    }
}

impl Tool for Bound {
    fn name(&self) -> &str {
        &self.contract.tool
    }

    fn version(&self) -> String {
        self.contract.version.to_string()
    }

    fn fingerprint(&self) -> Digest {
        self.contract.fingerprint()
    }

    fn body(&self) -> &[u8] {
        self.contract.body()
    }

    fn is_write(&self) -> bool {
        match self.contract.class() {
            EffectClass::Draft | EffectClass::Write => true,
            EffectClass::Read => false,
        }
    }

    fn title(&self) -> &str {
        &self.contract.title
    }

    fn life(&self) -> Life {
        life(&self.contract.lifecycle)
    }

    fn rules(&self) -> Option<&ToolRules> {
        self.rules.as_ref()
    }

    fn timeout(&self) -> Duration {
        self.contract.timeout.to_std()
    }

    fn max_output(&self) -> usize {
        usize::try_from(self.contract.limits.max_output).unwrap_or(usize::MAX)
    }

    fn admit(&self, arguments: &Value) -> Result<Canonical, ToolError> {
        if let Lifecycle::Retired { successor } = &self.contract.lifecycle {
            let next = successor.as_ref().map(|next| format!("; use `{next}`")).unwrap_or_default();
            let detail = format!("this version is retired: nothing was executed{next}");
            return Err(Box::new(Problem::new(Code::ToolRetired, detail)));
        }
        self.contract.validate_input(arguments).map_err(|violations| invalid(&violations))?;
        let full = self.contract.with_defaults(arguments);
        self.contract.validate_input(&full).map_err(|violations| invalid(&violations))?;
        let canonical = Canonical::of(&full).map_err(|error| Box::new(Problem::from(&error)))?;
        let max = self.contract.limits.max_input;
        if u64::try_from(canonical.as_bytes().len()).unwrap_or(u64::MAX) > max {
            let detail = format!("the arguments are larger than the {max} bytes that this tool takes");
            return Err(Box::new(Problem::new(Code::PayloadTooLarge, detail)));
        }
        Ok(canonical)
    }

    fn preview(&self, arguments: &Value) -> Result<Option<PreviewRead>, ToolError> {
        let (tool, arguments) = self.contract.preview_read(arguments).map_err(|error| unrendered(&error))?;
        let ToolRef { name, major } = tool;
        Ok(Some(PreviewRead { tool: name, major, arguments }))
    }

    fn quote(&self, arguments: &Value, answer: &Value) -> Result<Quote, ToolError> {
        let Quoted { arguments, expires_at, id } =
            self.contract.quoted(arguments, answer).map_err(|error| unrendered(&error))?;
        Ok(Quote { arguments, expires: expires_at, id })
    }

    fn plan(&self, input: PlanInput<'_>) -> Result<Plan, ToolError> {
        plan::plan(&self.contract, self.origin()?, input)
    }

    fn read_request(
        &self,
        arguments: &Value,
        run: RunId,
        requester: &Actor,
    ) -> Result<RenderedRequest, ToolError> {
        let run = run.to_string();
        let actor =
            RenderActor { origin: self.origin()?, run: &run, requester: &requester.name, on_behalf_of: None };
        self.contract.render_read(arguments, &actor).map_err(|error| unrendered(&error))
    }

    fn read_result(&self, reply: &Reply) -> Result<Value, ToolError> {
        match self.contract.classify_read(&answer_of(reply, self.max_output())) {
            ReadOutcome::Output(data) => Ok(data),
            ReadOutcome::Failed { code, retry_after, detail } => {
                let mut problem = Problem::new(code_of(&code), detail);
                problem.effect = Effect::None;
                problem.retry_after = retry_after.map(|after| after.0.div_ceil(1000));
                Err(Box::new(problem))
            }
        }
    }

    fn version_in(&self, arguments: &Value, before: &Value) -> Result<Option<String>, ToolError> {
        let target = self.contract.target(arguments, before).map_err(|error| unrendered(&error))?;
        Ok(target.version)
    }

    fn classify(&self, proposal: &Proposal, request: &RenderedRequest, reply: &Reply) -> AttemptAnswer {
        let operation = proposal.id.to_string();
        let expect = Bound::expect(proposal, &operation, request);
        match self.contract.classify(&answer_of(reply, self.max_output()), &expect) {
            Classified::Receipt(receipt) => match receipt_text(&self.contract, &receipt) {
                Some(text) => AttemptAnswer::Receipt { receipt: text, new_version: receipt.new_version },
                None => ambiguous("the receipt has no canonical form"),
            },
            Classified::Failed { code, effect, current_version } => {
                let code = code_of(&code);
                AttemptAnswer::Failed { code, detail: None, effect, current_version }
            }
            Classified::Partial { code: _, effects } => AttemptAnswer::Partial {
                effects: effects
                    .into_iter()
                    .map(|part| NamedEffect {
                        name: part.name,
                        state: part.state,
                        // What may never be kept is named by places of the whole answer.
                        receipt: part
                            .receipt
                            .as_ref()
                            .filter(|_| !self.contract.keeps_less())
                            .and_then(|value| canonical_text(value).ok()),
                    })
                    .collect(),
            },
            Classified::Accepted { remote } => AttemptAnswer::Accepted { remote },
            Classified::NoEffectRetryable { code, retry_after } => {
                AttemptAnswer::NoEffect { code: code_of(&code), retry_after, evidence: Evidence::Answer }
            }
            Classified::Ambiguous { cause } if self.contract.claims_success(reply.status) => {
                AttemptAnswer::Ambiguous { cause: Loss::OutputInvalid(cause) }
            }
            Classified::Ambiguous { cause } => ambiguous(&cause),
        }
    }

    fn status_request(&self, proposal: &Proposal, arguments: &Value) -> Option<RenderedRequest> {
        let (operation, run) = (proposal.id.to_string(), proposal.run.to_string());
        let of = StatusContext {
            origin: self.origin().ok()?,
            key: &proposal.key,
            operation: &operation,
            run: &run,
            args: arguments,
        };
        self.contract.render_status(&of).ok()
    }

    fn classify_status(&self, proposal: &Proposal, request: &RenderedRequest, reply: &Reply) -> StatusAnswer {
        let operation = proposal.id.to_string();
        let expect = Bound::expect(proposal, &operation, request);
        match self.contract.classify_status(&answer_of(reply, self.max_output()), &expect) {
            Status::Succeeded(receipt) => match receipt_text(&self.contract, &receipt) {
                Some(text) => StatusAnswer::Succeeded { receipt: text, new_version: receipt.new_version },
                None => StatusAnswer::Inconclusive { cause: "the receipt has no canonical form".to_owned() },
            },
            Status::Failed { code, effect } => StatusAnswer::Failed { code: code_of(&code), effect },
            Status::InProgress { remote } => StatusAnswer::InProgress { remote },
            Status::NotFound => StatusAnswer::NotFound { proven: false },
            Status::Inconclusive { cause } => StatusAnswer::Inconclusive { cause },
        }
    }

    fn admit_receipt(
        &self,
        proposal: &Proposal,
        request: &RenderedRequest,
        receipt: &Value,
    ) -> Result<String, ToolError> {
        let operation = proposal.id.to_string();
        let expect = Bound::expect(proposal, &operation, request);
        let admitted = self.contract.admit_receipt(receipt, &expect).map_err(|cause| {
            let remedy = "give the service's whole answer, or leave it out and say in the note what you know";
            Box::new(Problem::new(Code::InvalidArgument, format!("{cause}; {remedy}")).pointer("/receipt"))
        })?;
        canonical_text(&self.contract.without_never_store(&admitted.data))
    }

    fn keep_raw(&self, reply: &Reply) -> Option<Vec<u8>> {
        if !self.contract.claims_success(reply.status) {
            return None;
        }
        // It does not have its form, so nobody knows where in it the things are that may not be kept.
        Some(if self.contract.keeps_less() { Vec::new() } else { reply.body.clone() })
    }

    fn wants_readback(&self) -> bool {
        self.contract.as_write().is_ok_and(|write| write.readback.is_some())
    }

    fn readback(&self, arguments: &Value, receipt: &Value) -> Result<Option<PreviewRead>, ToolError> {
        let read = self.contract.readback_read(arguments, receipt).map_err(|error| unrendered(&error))?;
        Ok(read.map(|(ToolRef { name, major }, arguments)| PreviewRead { tool: name, major, arguments }))
    }

    fn differences(
        &self,
        arguments: &Value,
        receipt: &Value,
        seen: &Value,
    ) -> Result<Vec<String>, ToolError> {
        let told = self.contract.readback_differences(arguments, receipt, seen);
        told.map_err(|error| unrendered(&error))
    }

    fn settlement(&self) -> Settlement {
        settlement(&self.contract)
    }

    fn claims(&self, arguments: &Value) -> Vec<String> {
        self.contract.claims(arguments)
    }

    fn redact(&self, audience: Audience, data: Value) -> Value {
        self.contract.redact_for(audience.as_str(), &data)
    }

    fn redacts(&self, audience: Audience) -> bool {
        self.contract.redacts_for(audience.as_str())
    }

    fn data_class(&self) -> &str {
        &self.contract.data_class
    }

    fn read_receipt(&self, receipt: &Value) -> ReceiptFacts {
        let read = self.contract.read_receipt(receipt);
        ReceiptFacts {
            id: read.id,
            previous_version: read.previous_version,
            new_version: read.new_version,
            changed_fields: read.changed_fields,
            committed_at: read.committed_at,
            expires_at: read.expires_at,
        }
    }
}

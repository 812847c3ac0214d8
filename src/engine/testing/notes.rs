//! The contracts of the notes: `get_note.v1` reads, `set_note.v1` writes on approval, `set_note_later.v1` when its
//! requester says so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::ids::RunId;
use crate::domain::json::Canonical;
use crate::domain::operation::command::{AttemptAnswer, StatusAnswer};
use crate::domain::operation::{
    Actor, Change, CommitMode, Effect, Loss, Proposal, RecoveryTier, RetryClass, Target, TargetCheck,
    WriteClass,
};
use crate::domain::problem::Problem;
use crate::domain::request::RenderedRequest;
use crate::domain::{Code, Digest, Millis};
use crate::ports::{
    Audience, Plan, PlanInput, PreviewRead, ReceiptFacts, Reply, Settlement, Tool, ToolError, ToolRules,
    Toolbox,
};

/// The contracts.
pub(crate) struct Notes(Vec<Arc<NoteTool>>);

impl Default for Notes {
    fn default() -> Notes {
        let tools = [
            NoteTool::new("get_note", None),
            NoteTool::new("set_note", Some(CommitMode::OnApproval)),
            NoteTool::new("set_note_later", Some(CommitMode::Explicit)),
            NoteTool::new("set_note_read", Some(CommitMode::OnApproval))
                .changed(|r| r.check = TargetCheck::Read),
            NoteTool::new("set_note_read_later", Some(CommitMode::Explicit))
                .changed(|r| r.check = TargetCheck::Read),
            NoteTool::new("set_note_brief", Some(CommitMode::OnApproval))
                .changed(|r| r.timeout = Millis(150)),
            NoteTool::new("draft_note", Some(CommitMode::OnApproval))
                .changed(|r| r.class = WriteClass::Draft),
            NoteTool::new("set_note_looked_at", Some(CommitMode::OnApproval)),
            NoteTool::new("set_note_again", Some(CommitMode::OnApproval)).changed(|r| {
                r.retry = RetryClass::Idempotent;
                r.max_attempts = 5;
                r.backoff_initial = Millis(20);
                r.backoff_max = Millis(40);
            }),
            NoteTool::new("set_note_brief_again", Some(CommitMode::OnApproval)).changed(|r| {
                r.timeout = Millis(400);
                r.retry = RetryClass::Idempotent;
                r.max_attempts = 5;
                r.backoff_initial = Millis(1);
                r.backoff_max = Millis(2);
            }),
        ];
        Notes(tools.map(Arc::new).to_vec())
    }
}

impl Toolbox for Notes {
    fn current(&self, tool: &str, major: u32) -> Option<Arc<dyn Tool>> {
        let found = self.0.iter().find(|known| known.name == tool && major == 1)?;
        Some(Arc::clone(found) as Arc<dyn Tool>)
    }

    fn pinned(&self, fingerprint: Digest, _: &[u8]) -> Result<Arc<dyn Tool>, String> {
        let found = self.0.iter().find(|known| known.fingerprint() == fingerprint);
        found.map(|tool| Arc::clone(tool) as Arc<dyn Tool>).ok_or_else(|| "another kind".to_owned())
    }

    fn fingerprint(&self) -> Digest {
        Digest::of(b"notes")
    }

    fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.0.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect()
    }
}

pub(crate) struct NoteTool {
    name: &'static str,
    body: Vec<u8>,
    rules: Option<ToolRules>,
}

impl NoteTool {
    fn new(name: &'static str, commit: Option<CommitMode>) -> NoteTool {
        let rules = commit.map(|commit| ToolRules {
            class: WriteClass::Write,
            decide_within: Millis::secs(600),
            execute_within: Millis::secs(600),
            commit,
            check: TargetCheck::IfMatch,
            retry: RetryClass::Never,
            max_attempts: 1,
            budget: Millis::secs(600),
            backoff_initial: Millis::secs(1),
            backoff_max: Millis::secs(1),
            tier: RecoveryTier::None,
            timeout: Millis::secs(5),
            direct: vec!["note.text".to_owned()],
            indirect: vec!["search.index".to_owned()],
            reversible: "yes".to_owned(),
            residual: vec!["readers may have seen it".to_owned()],
        });
        NoteTool { name, body: format!("{{\"tool\":\"{name}\"}}").into_bytes(), rules }
    }
}

impl NoteTool {
    fn changed(mut self, change: impl FnOnce(&mut ToolRules)) -> NoteTool {
        change(self.rules.as_mut().unwrap());
        self
    }
}

fn refused(code: Code, pointer: &str) -> ToolError {
    Box::new(Problem::new(code, "not like this").pointer(pointer))
}

fn text_of(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn rendered(
    method: &str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
) -> RenderedRequest {
    let (base, origin) = ("notes".to_owned(), "http://127.0.0.1:7499".to_owned());
    RenderedRequest { base, origin, method: method.to_owned(), path, headers, body }
}

impl Tool for NoteTool {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> String {
        "1.0".to_owned()
    }

    fn fingerprint(&self) -> Digest {
        Digest::of(&self.body)
    }

    fn body(&self) -> &[u8] {
        &self.body
    }

    fn is_write(&self) -> bool {
        self.rules.is_some()
    }

    fn title(&self) -> &str {
        "Notes"
    }

    fn rules(&self) -> Option<&ToolRules> {
        self.rules.as_ref()
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn max_output(&self) -> usize {
        1 << 16
    }

    fn admit(&self, arguments: &Value) -> Result<Canonical, ToolError> {
        if !arguments["id"].is_string() {
            return Err(refused(Code::InvalidArgument, "/arguments/id"));
        }
        if self.is_write() && !arguments["text"].is_string() {
            return Err(refused(Code::InvalidArgument, "/arguments/text"));
        }
        Canonical::of(arguments).map_err(|error| Box::new(Problem::from(&error)))
    }

    fn preview(&self, arguments: &Value) -> Result<Option<PreviewRead>, ToolError> {
        let arguments = json!({"id": arguments["id"]});
        Ok(Some(PreviewRead { tool: "get_note".to_owned(), major: 1, arguments }))
    }

    fn plan(&self, input: PlanInput<'_>) -> Result<Plan, ToolError> {
        let id = text_of(input.arguments, "id");
        let version = input.before["version"].to_string();
        let body = json!({"text": input.arguments["text"]}).to_string().into_bytes();
        let headers = vec![
            ("if-match".to_owned(), version.clone()),
            ("idempotency-key".to_owned(), input.key.to_owned()),
        ];
        let (before, after) = (input.before["text"].to_string(), input.arguments["text"].to_string());
        Ok(Plan {
            target: Target {
                kind: "note".to_owned(),
                id: id.clone(),
                scope: id.clone(),
                version: Some(version),
            },
            effect_text: format!("Replace the text of note {id}"),
            changes: vec![Change { field: "/text".to_owned(), before: Some(before), after: Some(after) }],
            consequences: json!({"environment": "test", "affected_count": 1}),
            request: rendered("PUT", format!("/notes/{id}"), headers, Some(body)),
        })
    }

    fn read_request(&self, arguments: &Value, _: RunId, _: &Actor) -> Result<RenderedRequest, ToolError> {
        Ok(rendered("GET", format!("/notes/{}", text_of(arguments, "id")), Vec::new(), None))
    }

    fn read_result(&self, reply: &Reply) -> Result<Value, ToolError> {
        match reply.status {
            200 => serde_json::from_slice(&reply.body).map_err(|_| refused(Code::OutputInvalid, "")),
            _ => Err(refused(Code::NotFound, "/arguments/id")),
        }
    }

    fn version_in(&self, _: &Value, before: &Value) -> Result<Option<String>, ToolError> {
        Ok(Some(before["version"].to_string()))
    }

    fn classify(&self, _: &Proposal, _: &RenderedRequest, reply: &Reply) -> AttemptAnswer {
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let version = Some(body["version"].to_string());
        match reply.status {
            200 => AttemptAnswer::Receipt { receipt: body.to_string(), new_version: version },
            409 => AttemptAnswer::Failed {
                code: Code::VersionConflict,
                detail: None,
                effect: Effect::None,
                current_version: version,
            },
            status => AttemptAnswer::Ambiguous { cause: Loss::Undeclared(status.to_string()) },
        }
    }

    fn status_request(&self, _: &Proposal, _: &Value) -> Option<RenderedRequest> {
        None
    }

    fn classify_status(&self, _: &Proposal, _: &RenderedRequest, _: &Reply) -> StatusAnswer {
        StatusAnswer::Inconclusive { cause: "there is no status protocol".to_owned() }
    }

    fn keep_raw(&self, reply: &Reply) -> Option<Vec<u8>> {
        (reply.status < 300).then(|| reply.body.clone())
    }

    fn admit_receipt(
        &self,
        proposal: &Proposal,
        _: &RenderedRequest,
        receipt: &Value,
    ) -> Result<String, ToolError> {
        match receipt["note"] == proposal.target.id.as_str() {
            true => Ok(receipt.to_string()),
            false => Err(refused(Code::InvalidArgument, "/receipt")),
        }
    }

    fn wants_readback(&self) -> bool {
        self.name.ends_with("_looked_at")
    }

    fn readback(&self, arguments: &Value, _: &Value) -> Result<Option<PreviewRead>, ToolError> {
        match self.wants_readback() {
            true => self.preview(arguments),
            false => Ok(None),
        }
    }

    fn differences(&self, arguments: &Value, _: &Value, seen: &Value) -> Result<Vec<String>, ToolError> {
        let same = seen["text"] == arguments["text"];
        Ok(if same { Vec::new() } else { vec!["/text".to_owned()] })
    }

    fn settlement(&self) -> Settlement {
        Settlement {
            not_found_is_no_effect: false,
            settle: Duration::ZERO,
            confirmations: 1,
            confirm_interval: Duration::ZERO,
        }
    }

    fn claims(&self, _: &Value) -> Vec<String> {
        Vec::new()
    }

    fn redact(&self, audience: Audience, mut data: Value) -> Value {
        if let Some(members) = data.as_object_mut().filter(|_| audience == Audience::Agent) {
            members.remove("secret");
        }
        data
    }

    fn redacts(&self, audience: Audience) -> bool {
        audience == Audience::Agent
    }

    fn data_class(&self) -> &'static str {
        "internal"
    }

    fn read_receipt(&self, receipt: &Value) -> ReceiptFacts {
        ReceiptFacts {
            new_version: Some(receipt["version"].to_string()),
            expires_at: receipt["expires_at"].as_str().map(str::to_owned),
            ..ReceiptFacts::default()
        }
    }
}

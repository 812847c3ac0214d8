//! The verified contract: the only form that leaves this module. Everything in it is compiled and fits together; it is
//! immutable, cheap to share and does no I/O. Its body is canonical JSON; the SHA-256 of the body is its fingerprint.

use serde_json::Value;

use super::finding::{Finding, FindingCode, Findings};
use super::model::{
    ActorHeaders, ApprovalSpec, Cancel, Commit, Compensation, DraftSpec, EffectClass, EffectSpec, ErrorEntry,
    HttpSpec, Idempotency, Lifecycle, Limits, PreviewSpec, Readback, ReceiptSpec, Recovery, Redact, Retry,
    Service, TargetSpec,
};
use super::render::RenderError;
use super::schema::{Schema, Violation};
use super::units::{Pointer, ToolRef, Version};
use super::verify;
use super::yaml::{Document, MAX_BYTES};
use super::{canonical, resolve};
use crate::domain::{Digest, Millis};

/// A verified contract.
#[derive(Debug)]
pub struct Contract {
    pub(super) body: Vec<u8>,
    pub(super) fingerprint: Digest,
    /// The name of the tool.
    pub tool: String,
    /// Its version.
    pub version: Version,
    /// One line for people.
    pub title: String,
    /// When to call, when not to, what ends it.
    pub description: String,
    /// Who answers for the contract.
    pub owner: String,
    /// The service behind it.
    pub service: Service,
    /// How sensitive its data is.
    pub data_class: String,
    /// The day on which somebody must look at it again (RFC 3339 date).
    pub review_by: Option<String>,
    /// Whether it may be used.
    pub lifecycle: Lifecycle,
    /// What it does to the world.
    pub effect: EffectSpec,
    pub(super) input: Schema,
    pub(super) output: Schema,
    /// Bounds.
    pub limits: Limits,
    /// Of one call.
    pub timeout: Millis,
    /// Retries.
    pub retry: Retry,
    /// The declared errors.
    pub errors: Vec<ErrorEntry>,
    pub(super) redact: Redact,
    /// Input members that may be logged.
    pub safe_fields: Vec<String>,
    pub(super) actor: ActorHeaders,
    pub(super) http: HttpSpec,
    pub(super) write: Option<WriteParts>,
}

/// What only a write has.
#[derive(Debug)]
pub struct WriteParts {
    /// The resource that is written.
    pub target: TargetSpec,
    /// How the proposal is made.
    pub preview: PreviewSpec,
    /// The two clocks.
    pub approval: ApprovalSpec,
    /// Who starts the commit.
    pub commit: Commit,
    /// How the key travels.
    pub idempotency: Idempotency,
    /// How an unknown outcome is settled.
    pub recovery: Recovery,
    pub(super) receipt: ReceiptSpec,
    /// Whether it can be stopped.
    pub cancel: Cancel,
    /// How it is undone.
    pub compensation: Compensation,
    /// An independent read after success.
    pub readback: Option<Readback>,
    /// That it ends by itself, and when; for drafts.
    pub draft: Option<DraftSpec>,
}

impl Contract {
    /// A contract from its stored canonical body. Only what is needed to execute it is checked: rules that became
    /// stricter since it was stored must not strand the operations that were proposed under it.
    ///
    /// # Errors
    /// Findings without file and line.
    pub fn from_body(body: &[u8]) -> Result<Contract, Vec<Finding>> {
        let mut findings = Findings::default();
        if body.len() > MAX_BYTES {
            findings.add(
                FindingCode::TooLarge,
                "",
                "the stored body is too large",
                "restore it from a backup",
            );
            return Err(findings.into_sorted());
        }
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            findings.add(
                FindingCode::YamlSyntax,
                "",
                "the stored body is not JSON",
                "restore it from a backup",
            );
            return Err(findings.into_sorted());
        };
        let document = Document::without_text(value);
        let declaration = resolve::resolve(&document.value, &mut findings);
        verify::required(&declaration, &document.value, &mut findings);
        let contract = verify::assemble(declaration, &document, &mut findings);
        match contract {
            Some(contract) if findings.is_empty() => Ok(contract),
            _ => Err(findings.into_sorted()),
        }
    }

    /// RFC 8785 of the contract as JSON; what the store keeps.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// SHA-256 of the body.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// The arguments of the declared examples.
    #[must_use]
    pub fn example_args(&self) -> Vec<Value> {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or(Value::Null);
        let examples = body.get("examples").and_then(Value::as_array);
        examples.into_iter().flatten().filter_map(|example| example.get("args").cloned()).collect()
    }

    /// Name and major version.
    #[must_use]
    pub fn tool_ref(&self) -> ToolRef {
        ToolRef { name: self.tool.clone(), major: self.version.major }
    }

    /// Whether it is out of use.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Retired { .. })
    }

    /// The class of its effect.
    #[must_use]
    pub fn class(&self) -> EffectClass {
        self.effect.class
    }

    /// The parts of a write.
    ///
    /// # Errors
    /// It is a read.
    pub fn as_write(&self) -> Result<&WriteParts, RenderError> {
        self.write.as_ref().ok_or(RenderError::NotAWrite)
    }

    /// The input schema.
    #[must_use]
    pub fn input(&self) -> &Schema {
        &self.input
    }

    /// The output schema.
    #[must_use]
    pub fn output(&self) -> &Schema {
        &self.output
    }

    /// The named base of its adapter.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.http.base
    }

    /// JSON pointers of the arguments that are claims.
    #[must_use]
    pub fn claims(&self, arguments: &Value) -> Vec<String> {
        self.input.claims(arguments)
    }

    /// Whether the arguments pass the input schema.
    ///
    /// # Errors
    /// All violations, without values, under two kilobytes.
    pub fn validate_input(&self, args: &Value) -> Result<(), Vec<Violation>> {
        self.input.validate(args)
    }

    /// The arguments with the declared defaults of absent members filled in: what is canonicalised and hashed.
    #[must_use]
    pub fn with_defaults(&self, args: &Value) -> Value {
        self.input.with_defaults(args)
    }

    /// Whether an answer passes the output schema.
    ///
    /// # Errors
    /// All violations, without values, under two kilobytes.
    pub fn validate_output(&self, output: &Value) -> Result<(), Vec<Violation>> {
        self.output.validate(output)
    }

    /// The value without what may never be kept.
    #[must_use]
    pub fn without_never_store(&self, value: &Value) -> Value {
        self.redact.stored(value)
    }

    /// Whether something of its answers may never be kept.
    #[must_use]
    pub fn keeps_less(&self) -> bool {
        !self.redact.never_store.is_empty()
    }

    /// Whether an audience sees less than everything.
    #[must_use]
    pub fn redacts_for(&self, audience: &str) -> bool {
        self.redact.audiences.get(audience).is_some_and(|rules| !rules.is_empty())
    }

    /// Redactions of what a receipt names as the version: every view shows that by itself.
    pub(super) fn redacted_versions(&self) -> Vec<(&str, &Pointer)> {
        let Some(parts) = &self.write else { return Vec::new() };
        let named = [&parts.receipt.previous_version, &parts.receipt.new_version];
        let rules = self.redact.audiences.iter().filter(|(audience, _)| *audience != "log");
        rules
            .flat_map(|(audience, rules)| rules.iter().map(|(pointer, _)| (audience.as_str(), pointer)))
            .filter(|(_, pointer)| {
                let covers = |named: &Pointer| {
                    pointer.0.len() <= named.0.len()
                        && pointer
                            .0
                            .iter()
                            .zip(&named.0)
                            .all(|(hidden, used)| hidden == used || hidden == "*")
                };
                named.iter().any(|named| named.as_ref().is_some_and(covers))
            })
            .collect()
    }

    /// Whether this status claims that it happened.
    #[must_use]
    pub fn claims_success(&self, status: u16) -> bool {
        self.http.success.contains(&status)
    }

    /// The value as an audience may see it: `agent`, `approver`, `operator`, `auditor`, `log`.
    #[must_use]
    pub fn redact_for(&self, audience: &str, value: &Value) -> Value {
        self.redact.apply(audience, value)
    }
}

/// The canonical body of a document.
pub(super) fn body_of(document: &Document, findings: &mut Findings) -> Option<Vec<u8>> {
    let body = canonical(&document.value);
    if body.is_none() {
        let message = "the contract holds a number that JSON cannot carry exactly";
        findings.add(FindingCode::InexactNumber, "", message, "stay within ±9007199254740992");
    }
    body
}

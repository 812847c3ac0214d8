//! How each body is read. The shapes are in [`super::wire::request`].

use super::strict::{Fields, FromFields, JsonObject, Text, Wait};
use super::wire::request::{
    ApproveBody, CallBody, CancelBody, CreateTokenBody, DenyBody, EmptyBody, ExplainBody, OpenRunBody,
    PauseBody, ProposeBody, ReasonBody, ResolveBody, ResolveOutcome, ResumeBody, RevokeBody,
};
use crate::domain::principal::Role;

fn optional_text(fields: &mut Fields, name: &'static str) -> Option<String> {
    fields.optional::<Text>(name).map(|text| text.0)
}

fn text(fields: &mut Fields, name: &'static str) -> Option<String> {
    fields.required::<Text>(name).map(|text| text.0)
}

// In all of these: every member is taken before the first `?`, so that all findings are told at once.

impl FromFields for OpenRunBody {
    fn read(fields: &mut Fields) -> Option<OpenRunBody> {
        let purpose = text(fields, "purpose");
        let tools = fields.optional("tools").unwrap_or_default();
        let deadline = fields.optional("deadline");
        Some(OpenRunBody { purpose: purpose?, tools, deadline })
    }
}

impl FromFields for CallBody {
    fn read(fields: &mut Fields) -> Option<CallBody> {
        let tool = fields.required("tool");
        let arguments = fields.required::<JsonObject>("arguments");
        Some(CallBody { tool: tool?, arguments: arguments?.0 })
    }
}

impl FromFields for ProposeBody {
    fn read(fields: &mut Fields) -> Option<ProposeBody> {
        let tool = fields.required("tool");
        let arguments = fields.required::<JsonObject>("arguments");
        let based_on: Option<serde_json::Value> = fields.optional("based_on");
        if based_on.as_ref().is_some_and(serde_json::Value::is_null) {
            fields.refuse("based_on", "null is no version: leave the member out for a create");
        }
        let purpose = text(fields, "purpose");
        let supersedes = fields.optional("supersedes");
        Some(ProposeBody { tool: tool?, arguments: arguments?.0, based_on, purpose: purpose?, supersedes })
    }
}

impl FromFields for PauseBody {
    fn read(fields: &mut Fields) -> Option<PauseBody> {
        let scope = fields.required("scope");
        let name = text(fields, "name");
        let reason = text(fields, "reason");
        Some(PauseBody { scope: scope?, name: name?, reason: reason? })
    }
}

impl FromFields for ResumeBody {
    fn read(fields: &mut Fields) -> Option<ResumeBody> {
        let scope = fields.required("scope");
        let name = text(fields, "name");
        Some(ResumeBody { scope: scope?, name: name? })
    }
}

impl FromFields for ExplainBody {
    fn read(fields: &mut Fields) -> Option<ExplainBody> {
        let run = fields.required("run");
        let tool = fields.required("tool");
        let arguments = fields.required::<JsonObject>("arguments");
        let based_on: Option<serde_json::Value> = fields.optional("based_on");
        if based_on.as_ref().is_some_and(serde_json::Value::is_null) {
            fields.refuse("based_on", "null is no version: leave the member out");
        }
        let purpose = optional_text(fields, "purpose").unwrap_or_default();
        Some(ExplainBody { run: run?, tool: tool?, arguments: arguments?.0, based_on, purpose })
    }
}

impl FromFields for ApproveBody {
    fn read(fields: &mut Fields) -> Option<ApproveBody> {
        let digest = fields.required("digest");
        let note = optional_text(fields, "note");
        Some(ApproveBody { digest: digest?, note })
    }
}

impl FromFields for ReasonBody {
    fn read(fields: &mut Fields) -> Option<ReasonBody> {
        Some(ReasonBody { reason: text(fields, "reason")? })
    }
}

impl FromFields for DenyBody {
    fn read(fields: &mut Fields) -> Option<DenyBody> {
        let reason = text(fields, "reason");
        let last = fields.optional("final").unwrap_or(false);
        Some(DenyBody { reason: reason?, last })
    }
}

impl FromFields for RevokeBody {
    const MAY_BE_EMPTY: bool = true;

    fn read(fields: &mut Fields) -> Option<RevokeBody> {
        Some(RevokeBody { approver: optional_text(fields, "approver") })
    }
}

impl FromFields for CancelBody {
    const MAY_BE_EMPTY: bool = true;

    fn read(fields: &mut Fields) -> Option<CancelBody> {
        Some(CancelBody { reason: optional_text(fields, "reason") })
    }
}

impl FromFields for ResolveBody {
    fn read(fields: &mut Fields) -> Option<ResolveBody> {
        let outcome: Option<ResolveOutcome> = fields.required("outcome");
        let retry = fields.optional::<bool>("retry");
        let receipt: Option<serde_json::Value> = fields.optional("receipt");
        let note = text(fields, "note");
        if retry.is_some() && outcome.is_some_and(|outcome| outcome != ResolveOutcome::NotApplied) {
            fields.refuse("retry", "only what was not applied can be tried again");
        }
        if receipt.is_some() && outcome.is_some_and(|outcome| outcome != ResolveOutcome::Applied) {
            fields.refuse("receipt", "only what was applied has a receipt");
        }
        Some(ResolveBody { outcome: outcome?, retry: retry.unwrap_or(false), receipt, note: note? })
    }
}

impl FromFields for CreateTokenBody {
    fn read(fields: &mut Fields) -> Option<CreateTokenBody> {
        let principal = text(fields, "principal");
        let roles = fields.optional::<Vec<Role>>("roles");
        let lifetime = fields.optional::<Wait>("expires_in");
        let on_behalf_of = optional_text(fields, "on_behalf_of");
        let expires_in = lifetime.map(|lifetime| lifetime.0);
        Some(CreateTokenBody { principal: principal?, roles, expires_in, on_behalf_of })
    }
}

impl FromFields for EmptyBody {
    const MAY_BE_EMPTY: bool = true;

    fn read(_: &mut Fields) -> Option<EmptyBody> {
        Some(EmptyBody {})
    }
}

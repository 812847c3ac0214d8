//! Target, preview, approval, key, compensation: the parts that only a write has.

use serde_json::{Map, Value};

use super::super::finding::{FindingCode, Findings};
use super::super::model::{
    ApprovalSpec, Commit, Compensation, CompensationSpec, Idempotency, PreviewSpec, PreviewTemplates,
    Readback, TargetSpec, VersionCheck,
};
use super::super::read::Fields;
use super::super::template::{Template, Text};
use super::super::units::{self, ToolRef};
use super::{NAMES_AFTER, NAMES_EFFECT, NAMES_PREVIEW, NAMES_RESULT, NAMES_WITH};

pub(super) fn text(
    fields: &mut Fields<'_>,
    name: &'static str,
    names: &[&str],
    findings: &mut Findings,
) -> Option<Text> {
    let text = fields.text(name, findings)?;
    Text::parse(&text, &fields.at(name), names, findings)
}

pub(super) fn template(
    fields: &mut Fields<'_>,
    name: &'static str,
    names: &[&str],
    findings: &mut Findings,
) -> Option<Template> {
    let value = fields.get(name)?;
    Template::parse(value, &fields.at(name), names, findings)
}

fn mapping(
    fields: &mut Fields<'_>,
    name: &'static str,
    names: &[&str],
    findings: &mut Findings,
) -> Option<Template> {
    match fields.get(name) {
        None => Some(Template::Literal(Value::Object(Map::new()))),
        Some(value @ Value::Object(_)) => Template::parse(value, &fields.at(name), names, findings),
        Some(other) => {
            super::super::read::wrong_type(&fields.at(name), "a mapping", other, findings);
            None
        }
    }
}

pub(super) fn target(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<TargetSpec> {
    let mut inner = fields.object("target", findings)?;
    let checks =
        [("if_match", VersionCheck::IfMatch), ("read", VersionCheck::Read), ("absent", VersionCheck::Absent)];
    let kind = inner.text("type", findings);
    let check = inner.one_of("check", &checks, findings);
    let scope = text(&mut inner, "scope", NAMES_PREVIEW, findings);
    let id = text(&mut inner, "id", NAMES_PREVIEW, findings);
    let version = template(&mut inner, "version", NAMES_PREVIEW, findings);
    let why = "a target has a type, a scope and a way to hold its version fast";
    for name in ["type", "scope", "check"] {
        inner.need(name, FindingCode::MissingTarget, why, findings);
    }
    if check != Some(VersionCheck::Absent) {
        inner.need("id", FindingCode::MissingTarget, "which record is written", findings);
        inner.need("version", FindingCode::MissingTarget, "the version that was approved", findings);
    } else if version.is_some() {
        let message = "a target that does not exist yet has no version";
        findings.add(FindingCode::BadValue, inner.at("version"), message, "remove `version`");
    }
    // A create is known by its scope until the service gave it an id.
    let id = match (id, inner.get("scope").and_then(Value::as_str)) {
        (Some(id), _) => Some(id),
        (None, Some(scope)) if check == Some(VersionCheck::Absent) && scope_is_fine(scope) => {
            Text::parse(scope, &inner.at("scope"), NAMES_PREVIEW, &mut Findings::default())
        }
        _ => None,
    };
    inner.done(findings);
    Some(TargetSpec { kind: kind?, id: id?, scope: scope?, version, check: check? })
}

fn scope_is_fine(scope: &str) -> bool {
    !scope.is_empty()
}

pub(super) fn preview(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<PreviewSpec> {
    let mut inner = fields.object("preview", findings)?;
    let called = inner.get("call").is_some();
    let read: Option<ToolRef> = match called {
        true => inner.parsed("call", findings, str::parse),
        false => inner.parsed("read", findings, str::parse),
    };
    let with = mapping(&mut inner, "with", NAMES_WITH, findings);
    let effect_text = text(&mut inner, "effect_text", NAMES_EFFECT, findings);
    let why = "the approver must see the exact effect";
    inner.need("effect_text", FindingCode::MissingPreview, why, findings);
    let templates = if called {
        answered(&mut inner, findings);
        Some(None)
    } else {
        let after = mapping(&mut inner, "after", NAMES_PREVIEW, findings);
        let consequences = mapping(&mut inner, "consequences", NAMES_PREVIEW, findings);
        for name in ["read", "after", "consequences"] {
            inner.need(name, FindingCode::MissingPreview, why, findings);
        }
        after.zip(consequences).map(|(after, consequences)| Some(PreviewTemplates { after, consequences }))
    };
    inner.done(findings);
    Some(PreviewSpec { read: read?, with: with?, effect_text: effect_text?, templates: templates? })
}

/// A preview tool is the only source of what it answers.
fn answered(inner: &mut Fields<'_>, findings: &mut Findings) {
    for name in ["read", "after", "consequences"] {
        if inner.get(name).is_some() {
            let message =
                format!("`{name}` beside `call`: the preview tool answers what stands before and after");
            let remedy = format!("remove `{name}`, or use `read` instead of `call`");
            findings.add(FindingCode::BadValue, inner.at(name), message, remedy);
        }
    }
}

pub(super) fn approval(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<ApprovalSpec> {
    let mut inner = fields.object("approval", findings)?;
    let decide_within = inner.parsed("decide_within", findings, units::duration);
    let execute_within = inner.parsed("execute_within", findings, units::duration);
    for name in ["decide_within", "execute_within"] {
        inner.need(name, FindingCode::MissingApproval, "silence is never consent", findings);
    }
    inner.done(findings);
    Some(ApprovalSpec { decide_within: decide_within?, execute_within: execute_within? })
}

pub(super) fn commit(fields: &mut Fields<'_>, findings: &mut Findings) -> Commit {
    let modes = [("on_approval", Commit::OnApproval), ("explicit", Commit::Explicit)];
    fields.one_of("commit", &modes, findings).unwrap_or(Commit::OnApproval)
}

pub(super) fn idempotency(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Idempotency> {
    let mut inner = fields.object("idempotency", findings)?;
    let carry = inner.one_of("carry", &[("header", ())], findings);
    let header = super::http::header_name(&mut inner, "name", findings);
    let key_window = inner.parsed("key_window", findings, units::duration);
    for name in ["carry", "name", "key_window"] {
        inner.need(
            name,
            FindingCode::MissingKey,
            "how the key travels and how long it is remembered",
            findings,
        );
    }
    inner.done(findings);
    carry?;
    Some(Idempotency { header: header?, key_window: key_window? })
}

pub(super) fn compensation(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Compensation> {
    let mut inner = fields.object("compensation", findings)?;
    if inner.get("none").is_some() {
        let reason = inner.text("none", findings);
        inner.done(findings);
        return reason.map(Compensation::None);
    }
    let tool: Option<ToolRef> = inner.parsed("tool", findings, str::parse);
    let with = mapping(&mut inner, "with", NAMES_AFTER, findings);
    let deadline = inner.parsed("deadline", findings, units::duration);
    let owner = inner.text("owner", findings);
    let drill_every = inner.parsed("drill_every", findings, units::duration);
    let drilled_on = inner.parsed("drilled_on", findings, super::date);
    for name in ["tool", "with", "deadline", "owner"] {
        let why = "a compensation names its tool, arguments, deadline and owner (or `none` with a reason)";
        inner.need(name, FindingCode::MissingCompensation, why, findings);
    }
    inner.done(findings);
    Some(Compensation::Tool(Box::new(CompensationSpec {
        tool: tool?,
        with: with?,
        deadline: deadline?,
        owner: owner?,
        drill_every,
        drilled_on,
    })))
}

pub(super) fn readback(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Readback> {
    let mut inner = fields.object("readback", findings)?;
    let read: Option<ToolRef> = inner.parsed("read", findings, str::parse);
    let with = inner.get("with").is_some();
    let with = if with { mapping(&mut inner, "with", NAMES_RESULT, findings) } else { None };
    let expect = mapping(&mut inner, "expect", NAMES_RESULT, findings);
    inner.need("expect", FindingCode::MissingField, "what it must see", findings);
    inner.need("read", FindingCode::MissingField, "which read looks at the result", findings);
    inner.done(findings);
    Some(Readback { read: read?, with, expect: expect? })
}

//! The error table: which answers are declared, and what they say about the world. Everything else is ambiguous.

use serde_json::Value;

use super::super::codes;
use super::super::finding::{FindingCode, Findings, child, suggestion};
use super::super::model::ErrorEntry;
use super::super::read::{Fields, wrong_type};
use super::super::units::Pointer;
use crate::domain::operation::Effect;

/// A longer table belongs into two tools.
const MAX_ENTRIES: usize = 64;

pub(super) fn errors(fields: &mut Fields<'_>, findings: &mut Findings) -> Vec<ErrorEntry> {
    let at = fields.at("errors");
    let items = fields.items("errors", findings);
    if items.len() > MAX_ENTRIES {
        let message = format!("the error table has {} lines; the limit is {MAX_ENTRIES}", items.len());
        findings.add(FindingCode::TooLarge, &at, message, "split the tool");
    }
    let mut out: Vec<ErrorEntry> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let place = child(&at, &i.to_string());
        let Some(entry) = entry(item, &place, findings) else { continue };
        let shadowed = out.iter().any(|earlier| {
            earlier.status == entry.status && earlier.body.iter().all(|member| entry.body.contains(member))
        });
        if shadowed {
            let message = "an earlier line takes every answer that this one describes";
            findings.add(FindingCode::BadErrorEntry, &place, message, "move it up, or remove it");
        }
        out.push(entry);
    }
    out
}

fn body(fields: &mut Fields<'_>, findings: &mut Findings) -> Vec<(Pointer, Value)> {
    let at = fields.at("body");
    let mut out = Vec::new();
    for (member, value) in fields.entries("body", findings) {
        let pointer =
            if member.starts_with('/') { member.parse() } else { Ok(Pointer(vec![member.to_owned()])) };
        let place = child(&at, member);
        match (pointer, value) {
            (_, Value::Array(_) | Value::Object(_)) => {
                wrong_type(&place, "text, a number, a boolean or null", value, findings);
            }
            (Ok(pointer), value) => out.push((pointer, value.clone())),
            (Err(wanted), _) => {
                let message = format!("this is not {}", wanted.0);
                findings.add(FindingCode::BadValue, place, message, "write a member name");
            }
        }
    }
    out
}

fn entry(item: &Value, at: &str, findings: &mut Findings) -> Option<ErrorEntry> {
    let mut fields = Fields::open(item, at, findings);
    let status = fields.count("status", 400..=599, findings);
    let body = body(&mut fields, findings);
    let code = fields.text("code", findings).filter(|code| {
        let known = codes::DOWNSTREAM.contains(&code.as_str());
        if !known {
            let message = format!("`{code}` is not a code that an answer can be mapped to");
            let remedy = suggestion(code, codes::DOWNSTREAM);
            findings.add(FindingCode::BadErrorEntry, child(at, "code"), message, remedy);
        }
        known
    });
    let effects = [
        ("none", Effect::None),
        ("applied", Effect::Applied),
        ("partial", Effect::Partial),
        ("unknown", Effect::Unknown),
    ];
    let effect = fields.one_of("effect", &effects, findings);
    let retry_after = fields.one_of("retry_after", &[("header", true)], findings).unwrap_or(false);
    let current_version = fields.parsed("current_version", findings, str::parse);
    let parts: Option<Pointer> = fields.parsed("effects", findings, str::parse);
    for name in ["status", "code", "effect"] {
        fields.need(name, FindingCode::BadErrorEntry, "a line says status, code and effect", findings);
    }
    if effect == Some(Effect::Partial) {
        fields.need("effects", FindingCode::BadErrorEntry, "where the answer lists what happened", findings);
    }
    fields.done(findings);
    Some(ErrorEntry {
        status: u16::try_from(status?).ok()?,
        body,
        code: code?,
        effect: effect?,
        retry_after,
        current_version,
        effects: parts,
    })
}

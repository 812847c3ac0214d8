//! Recovery and receipts: how an outcome is proven.

use super::super::finding::{FindingCode, Findings};
use super::super::model::{Evidence, NotFound, ReceiptSpec, Recovery, StatusProtocol};
use super::super::read::Fields;
use super::super::template::Condition;
use super::super::units;
use super::{NAMES_ANSWER, http};
use crate::domain::Millis;

/// More confirmations than this is a way of never deciding.
const MAX_CONFIRMATIONS: u32 = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    StatusByKey,
    ReplayByKey,
    Search,
    None,
}

pub(super) fn evidence(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Evidence> {
    let mut inner = fields.object("match", findings)?;
    let evidence = Evidence {
        key: inner.parsed("key", findings, str::parse),
        operation_id: inner.parsed("operation_id", findings, str::parse),
        request_sha256: inner.parsed("request_sha256", findings, str::parse),
    };
    let at = inner.pointer().to_owned();
    inner.done(findings);
    if evidence == Evidence::default() {
        let message = "nothing is matched, so any answer would be evidence";
        let remedy = "name where the answer says `operation_id`, `request_sha256` or `key`";
        findings.add(FindingCode::MissingReceipt, at, message, remedy);
        return None;
    }
    Some(evidence)
}

pub(super) fn receipt(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<ReceiptSpec> {
    let mut inner = fields.object("receipt", findings)?;
    let evidence = evidence(&mut inner, findings);
    inner.need(
        "match",
        FindingCode::MissingReceipt,
        "how the answer proves that it is about this call",
        findings,
    );
    let receipt = ReceiptSpec {
        evidence: Evidence::default(),
        id: inner.parsed("id", findings, str::parse),
        previous_version: inner.parsed("previous_version", findings, str::parse),
        new_version: inner.parsed("new_version", findings, str::parse),
        changed_fields: inner.parsed("changed_fields", findings, str::parse),
        committed_at: inner.parsed("committed_at", findings, str::parse),
    };
    inner.done(findings);
    evidence.map(|evidence| ReceiptSpec { evidence, ..receipt })
}

pub(super) fn recovery(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Recovery> {
    let mut inner = fields.object("recovery", findings)?;
    let tiers = [
        ("status_by_key", Tier::StatusByKey),
        ("replay_by_key", Tier::ReplayByKey),
        ("search", Tier::Search),
        ("none", Tier::None),
    ];
    let tier = inner.one_of("tier", &tiers, findings);
    inner.need("tier", FindingCode::MissingRecovery, "the tier is declared, never guessed", findings);
    let status = status(&mut inner, tier == Some(Tier::StatusByKey), findings);
    if let Some(Tier::ReplayByKey | Tier::Search) = tier {
        let message = "this recovery tier is not executed yet";
        findings.add(FindingCode::NotExecutable, inner.at("tier"), message, "use `status_by_key` or `none`");
    }
    inner.done(findings);
    match tier? {
        Tier::StatusByKey => status.map(|status| Recovery::StatusByKey(Box::new(status))),
        Tier::ReplayByKey | Tier::Search | Tier::None => Some(Recovery::None),
    }
}

fn status(inner: &mut Fields<'_>, needed: bool, findings: &mut Findings) -> Option<StatusProtocol> {
    let request = http::status_request(inner, findings);
    let outcomes = outcomes(inner, needed, findings);
    let meanings = [("no_effect", NotFound::NoEffect), ("inconclusive", NotFound::Inconclusive)];
    let not_found = inner.one_of("not_found", &meanings, findings);
    let settle = inner.parsed("settle", findings, units::duration);
    let confirmations = inner.count("confirmations", 1..=MAX_CONFIRMATIONS, findings);
    let confirm_interval = inner.parsed("confirm_interval", findings, units::duration);
    let evidence = evidence(inner, findings);
    let result = inner.parsed("result", findings, str::parse);
    let error = inner.parsed("error", findings, str::parse);
    let remote = inner.parsed("remote", findings, str::parse);
    if needed {
        let why = "a status by key says how to ask, what the answers mean and how they are matched";
        for name in ["request", "outcomes", "not_found", "settle", "match", "result"] {
            inner.need(name, FindingCode::MissingRecovery, why, findings);
        }
        if not_found == Some(NotFound::NoEffect) {
            for name in ["confirmations", "confirm_interval"] {
                let why = "evidence that nothing happened is confirmed";
                inner.need(name, FindingCode::MissingRecovery, why, findings);
            }
        }
    }
    let [succeeded, failed, in_progress, not_found_when] = outcomes;
    if needed && not_found == Some(NotFound::NoEffect) && not_found_when.is_none() {
        let message = "`outcomes.not_found` is missing: a bare 404 may come from a proxy or a wrong path";
        let remedy = "add it, such as `status == 404 && body.code == \"NO_SUCH_OPERATION\"`";
        findings.add(FindingCode::MissingRecovery, inner.at("outcomes"), message, remedy);
    }
    Some(StatusProtocol {
        request: request?,
        succeeded: succeeded?,
        failed: failed?,
        in_progress,
        not_found_when,
        not_found: not_found?,
        settle: settle?,
        confirmations: confirmations.unwrap_or(1),
        confirm_interval: confirm_interval.unwrap_or(Millis::secs(1)),
        evidence: evidence?,
        result,
        error,
        remote,
    })
}

fn outcomes(fields: &mut Fields<'_>, needed: bool, findings: &mut Findings) -> [Option<Condition>; 4] {
    let Some(mut inner) = fields.object("outcomes", findings) else { return [None, None, None, None] };
    let conditions = ["succeeded", "failed", "in_progress", "not_found"].map(|name| {
        let source = inner.text(name, findings)?;
        Condition::parse(&source, &inner.at(name), NAMES_ANSWER, findings)
    });
    if needed {
        for name in ["succeeded", "failed"] {
            inner.need(name, FindingCode::MissingRecovery, "which answer means this", findings);
        }
    }
    inner.done(findings);
    conditions
}

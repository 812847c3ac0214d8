//! Published vectors of the digests that are approved and sent, and the fields that they cover, one by one.

use std::collections::BTreeMap;

use crate::domain::budget::Spend;
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::proposal::{hashed, shown};
use crate::domain::operation::samples::{body, golden, proposal, request, rules};
use crate::domain::operation::{Body, CommitMode, MatchedRule, Proposal, RetryClass, proposal_digest};
use crate::domain::principal::Assurance;
use crate::domain::request::RenderedRequest;
use crate::domain::{Digest, Millis, Time};

type Both = fn(&mut Proposal, &mut Body);

/// Every field that an approver agrees to.
#[rustfmt::skip]
const COVERED: &[(&str, Both)] = &[
    ("proposal.id", |p, _| p.id = OperationId::from_u128(7)),
    ("proposal.run", |p, _| p.run = RunId::from_u128(7)),
    ("proposal.tenant", |p, _| p.tenant.push('x')),
    ("proposal.requester.name", |p, _| p.requester.name.push('x')),
    ("proposal.on_behalf_of", |p, _| p.on_behalf_of = Some("somebody else".into())),
    ("proposal.on_behalf_of, none", |p, _| p.on_behalf_of = None),
    ("proposal.on_behalf_of, empty", |p, _| p.on_behalf_of = Some(String::new())),
    ("proposal.tool", |p, _| p.tool.push('x')),
    ("proposal.contract", |p, _| p.contract = Digest::of(b"another")),
    ("proposal.target.kind", |p, _| p.target.kind.push('x')),
    ("proposal.target.id", |p, _| p.target.id.push('x')),
    ("proposal.target.scope", |p, _| p.target.scope.push('x')),
    ("proposal.target.version", |p, _| p.target.version = Some("8".into())),
    ("proposal.target.version, a create", |p, _| p.target.version = None),
    ("proposal.target.version, named absent", |p, _| p.target.version = Some("absent".into())),
    ("proposal.target.version, named null", |p, _| p.target.version = Some("null".into())),
    ("proposal.effect_text", |p, _| p.effect_text.push('x')),
    ("proposal.arguments_sha256", |p, _| p.arguments_sha256 = Digest::ZERO),
    ("proposal.request_sha256", |p, _| p.request_sha256 = Digest::ZERO),
    ("proposal.decide_by", |p, _| p.decide_by = p.decide_by.plus(Millis(1))),
    ("proposal.expires", |p, _| p.expires = Some(p.decide_by)),
    ("proposal.expires, later", |p, _| p.expires = Some(p.decide_by.plus(Millis(1)))),
    ("proposal.rules.approval", |p, _| p.rules.approval.needed[0].count += 1),
    ("proposal.rules.approval.assurance", |p, _| p.rules.approval.assurance = Assurance::Token),
    ("proposal.policy", |p, _| p.policy = Digest::ZERO),
    ("proposal.rules.execute_within", |p, _| p.rules.execute_within.0 += 1),
    ("proposal.compensation_of", |p, _| p.compensation_of = Some(OperationId::from_u128(7))),
    ("body.request.origin", |_, b| b.request.origin.push('1')),
    ("body.request.base", |_, b| b.request.base.push('x')),
    ("body.changes.field", |_, b| b.changes[0].field.push('x')),
    ("body.changes.before", |_, b| b.changes[0].before = Some("\"Genf\"".into())),
    ("body.changes.before, absent", |_, b| b.changes[0].before = None),
    ("body.changes.before, null", |_, b| b.changes[0].before = Some("null".into())),
    ("body.changes.after", |_, b| b.changes[0].after = Some("\"Genf\"".into())),
    ("body.changes, one more", |_, b| b.changes.push(b.changes[0].clone())),
    ("body.changes, none", |_, b| b.changes.clear()),
    ("body.consequences", |_, b| b.consequences = r#"{"affected_count":2}"#.into()),
    ("body.preview", |_, b| b.preview.push('x')),
    ("body.direct", |_, b| b.direct.push("x".into())),
    ("body.direct, split", |_, b| b.direct = vec!["customer".into(), ".shipping_address".into()]),
    ("body.direct, joined by a control", |_, b| b.direct[0].push_str("\u{1f}x")),
    ("body.direct, moved to indirect", |_, b| { let one = b.direct.remove(0); b.indirect.insert(0, one); }),
    ("body.indirect", |_, b| b.indirect.push("x".into())),
    ("body.reversible", |_, b| b.reversible = "no".into()),
    ("body.residual", |_, b| b.residual.clear()),
];

/// Fields that it does not cover, and why: a change of one must not void an approval.
#[rustfmt::skip]
const FREE: &[(&str, Both)] = &[
    // Who may approve is decided when somebody does, from the principals of then.
    ("proposal.owner", |p, _| p.owner = None),
    ("proposal.requester.person", |p, _| p.requester.person.push('x')),
    // The fingerprint of the contract stands for these.
    ("proposal.version", |p, _| p.version.push('1')),
    ("proposal.rules.retry", |p, _| p.rules.retry = RetryClass::Never),
    ("proposal.rules.commit", |p, _| p.rules.commit = CommitMode::Explicit),
    // The digest of the table stands for them.
    ("proposal.matched", |p, _| p.matched.push(MatchedRule { rule: "x".into(), says: "allow".into(), by_error: false })),
    // The arguments stand for them; the budgets are those of the claim.
    ("proposal.spends", |p, _| p.spends.push(Spend { budget: "x".into(), key: "y".into(), amount: 1 })),
    // The fingerprint of the contract and the arguments stand for them.
    ("body.claims", |_, b| b.claims.push("/destination".into())),
    // Made from run and operation.
    ("proposal.key", |p, _| p.key.push('x')),
    ("proposal.created", |p, _| p.created = Time::from_millis(1)),
    ("proposal.supersedes", |p, _| p.supersedes = Some(OperationId::from_u128(7))),
    // It would contain itself.
    ("proposal.proposal_sha256", |p, _| p.proposal_sha256 = Digest::ZERO),
    // A claim, shown as one.
    ("body.purpose", |_, b| b.purpose.push('x')),
    // Through their own digests in the proposal, which are compared before every attempt.
    ("body.arguments", |_, b| b.arguments.push(' ')),
    ("body.request.path", |_, b| b.request.path.push('x')),
    ("body.request.body", |_, b| b.request.body = None),
];

fn digest_after(change: Both) -> Digest {
    let (mut proposal, mut body) = (proposal(rules()), body());
    change(&mut proposal, &mut body);
    proposal_digest(&proposal, &body)
}

#[test]
fn each_covered_field_changes_what_is_approved_and_no_other_does() {
    let same = proposal_digest(&proposal(rules()), &body());
    assert_eq!(same, proposal(rules()).proposal_sha256);
    let mut seen = BTreeMap::from([(same, "unchanged")]);
    for (name, change) in COVERED {
        if let Some(other) = seen.insert(digest_after(*change), name) {
            panic!("{name} and {other} have one digest");
        }
    }
    for (name, change) in FREE {
        assert_eq!(digest_after(*change), same, "{name}");
    }
}

type One = fn(&mut RenderedRequest);

/// Everything that is sent.
#[rustfmt::skip]
const SENT: &[(&str, One)] = &[
    ("origin", |r| r.origin = "https://crm.example:443".into()),
    ("method", |r| r.method = "POST".into()),
    ("path", |r| r.path.push('x')),
    ("header name", |r| r.headers[0].0 = "content-typo".into()),
    ("header value", |r| r.headers[0].1.push('x')),
    ("header split elsewhere", |r| r.headers[0] = ("content-type: application".into(), "json".into())),
    ("header order", |r| r.headers.swap(0, 1)),
    ("header twice", |r| r.headers.push(r.headers[0].clone())),
    ("no headers", |r| r.headers.clear()),
    ("body", |r| r.body = Some(br#"{"city":"Basel"}"#.to_vec())),
    ("empty body", |r| r.body = Some(Vec::new())),
    ("no body", |r| r.body = None),
    ("path moved to method", |r| { r.method.push_str(&r.path); r.path.clear(); }),
];

#[test]
fn each_part_of_the_request_changes_its_digest() {
    let mut seen = BTreeMap::from([(request().digest(), "unchanged")]);
    for (name, change) in SENT {
        let mut one = request();
        change(&mut one);
        if let Some(other) = seen.insert(one.digest(), name) {
            panic!("{name} and {other} have one digest");
        }
    }
    // The credential's reference is covered by the proposal.
    let mut other = request();
    other.base = "erp".into();
    assert_eq!(other.digest(), request().digest());
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn the_published_vectors_of_requests_hold() {
    let mut text = String::from(
        "# request_sha256 = SHA-256 over parts, each behind its length as 8 bytes, most significant first:\n\
         # \"writd request 1\", origin, method, path, name and value of each header, one byte 0 or 1 (body), the body.\n",
    );
    let get = RenderedRequest { method: "GET".into(), headers: Vec::new(), body: None, ..request() };
    let empty = RenderedRequest { body: Some(Vec::new()), ..get.clone() };
    for (name, request) in [("put", request()), ("get", get), ("empty body", empty)] {
        text += &format!("\n## {name}\n{}\nrequest_sha256 {}\n", pretty(&request), request.digest());
    }
    golden("digests/request.txt", &text);
}

#[test]
fn the_published_vectors_of_proposals_hold() {
    let mut text = String::from(
        "# proposal_sha256 = SHA-256 over RFC 8785 of `hashed`; its `consequences` = SHA-256 over the three lines of\n\
         # `shown` without the last line break: changes, consequences, effects.\n",
    );
    let mut create = (proposal(rules()), body());
    create.0.target.version = None;
    create.0.on_behalf_of = None;
    for (name, (proposal, body)) in [("replace", (proposal(rules()), body())), ("create", create)] {
        text += &format!(
            "\n## {name}\nproposal {}\nbody {}\nshown\n{}\nhashed {}\nproposal_sha256 {}\n",
            pretty(&proposal),
            pretty(&body),
            String::from_utf8(shown(&proposal, &body)).unwrap(),
            pretty(&hashed(&proposal, &body)),
            proposal_digest(&proposal, &body),
        );
    }
    golden("digests/proposal.txt", &text);
}

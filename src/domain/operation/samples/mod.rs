//! Samples for tests: an operation in every state and in the sub-states that differ, one command of each kind with its
//! variants, one event of each kind. Every list is a `match` over its enum: what has no sample does not compile.
//! Who may call it: tests. It never reaches a shipped binary.

mod commands;
mod events;
mod operations;
mod people;

pub(crate) use commands::{Asked, When, commands_of, preconditions};
pub(crate) use events::event_of;
pub(crate) use operations::all;
pub(crate) use people::{Person, actor, principal};

use std::path::Path;

use crate::domain::ids::{AttemptId, OperationId, RunId};
use crate::domain::operation::record::Operation;
use crate::domain::operation::{
    Actor, Body, Change, CommitMode, Event, Proposal, Recorded, RecoveryTier, Requirement, RetryClass, Rules,
    Target, TargetCheck, WriteClass, evolve, proposal_digest, propose,
};
use crate::domain::request::RenderedRequest;
use crate::domain::trace::TraceId;
use crate::domain::{Digest, Millis, Time};

/// When the samples are proposed: 2026-07-19T00:00:00Z.
pub(crate) fn start() -> Time {
    time(0)
}

/// So many milliseconds after the samples were proposed.
pub(crate) fn time(ms: i64) -> Time {
    Time::from_millis(1_784_419_200_000 + ms)
}

/// The nth attempt of a sample.
pub(crate) const fn attempt(n: u128) -> AttemptId {
    AttemptId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0a00 + n)
}

/// The nth operation.
pub(crate) const fn operation(n: u128) -> OperationId {
    OperationId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0b00 + n)
}

/// A receipt.
pub(crate) const RECEIPT: &str = r#"{"version":"8"}"#;

/// The request that is sent.
pub(crate) fn request() -> RenderedRequest {
    RenderedRequest {
        base: "crm".into(),
        origin: "http://127.0.0.1:7401".into(),
        method: "PUT".into(),
        path: "/customers/c-1/shipping-address".into(),
        headers: vec![
            ("content-type".into(), "application/json".into()),
            ("if-match".into(), "\"7\"".into()),
        ],
        body: Some(br#"{"city":"Bern"}"#.to_vec()),
    }
}

/// The bodies.
pub(crate) fn body() -> Body {
    Body {
        arguments: r#"{"customer_id":"c-1","destination":{"city":"Bern"}}"#.into(),
        request: request(),
        changes: vec![Change {
            field: "/shipping_address/city".into(),
            before: Some("\"Basel\"".into()),
            after: Some("\"Bern\"".into()),
        }],
        consequences: r#"{"affected_count":1,"environment":"production","recipients":[]}"#.into(),
        preview: "call_01h455vb4pex5vsknk084sn02q".into(),
        purpose: "the customer moved".into(),
        claims: Vec::new(),
        direct: vec!["customer.shipping_address".into()],
        indirect: vec!["fulfilment.route".into()],
        reversible: "compensate".into(),
        residual: vec!["parcels already labelled keep the old address".into()],
    }
}

/// The rules: one approval, three attempts, decide within a minute, execute within a quarter of an hour.
pub(crate) fn rules() -> Rules {
    Rules {
        class: WriteClass::Write,
        approval: Requirement::of(1),
        execute_within: Millis::secs(900),
        commit: CommitMode::OnApproval,
        check: TargetCheck::IfMatch,
        retry: RetryClass::Idempotent,
        max_attempts: 3,
        budget: Millis::secs(600),
        backoff_initial: Millis::secs(1),
        backoff_max: Millis::secs(60),
        tier: RecoveryTier::StatusByKey,
        timeout: Millis::secs(5),
        escalate_after: Millis::secs(300),
    }
}

/// What is proposed, with these rules.
pub(crate) fn proposal(rules: Rules) -> Proposal {
    let body = body();
    let run = RunId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0c01);
    let mut proposal = Proposal {
        id: operation(1),
        run,
        tenant: "acme".into(),
        requester: actor(Person::Planner),
        owner: Some("otto".into()),
        on_behalf_of: Some("carla".into()),
        tool: "commit_address_change".into(),
        version: "2.1".into(),
        contract: Digest::of(b"contract"),
        target: Target {
            kind: "customer".into(),
            id: "c-1".into(),
            scope: "c-1".into(),
            version: Some("7".into()),
        },
        effect_text: "Replace the shipping address of customer c-1".into(),
        arguments_sha256: Digest::of(body.arguments.as_bytes()),
        request_sha256: body.request.digest(),
        proposal_sha256: Digest::ZERO,
        key: format!("{run}:{}", operation(1)),
        created: start(),
        decide_by: start().plus(Millis::secs(60)),
        expires: None,
        rules,
        policy: Digest::of(b"policy"),
        matched: Vec::new(),
        spends: Vec::new(),
        trace: TraceId::of_run(run),
        supersedes: None,
        compensation_of: None,
    };
    proposal.proposal_sha256 = proposal_digest(&proposal, &body);
    proposal
}

/// An operation and the events that made it.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) operation: Operation,
    pub(crate) recorded: Vec<Recorded>,
}

impl Story {
    /// Proposed, with these rules.
    pub(crate) fn with(rules: Rules) -> Story {
        let mut events = propose(proposal(rules), start()).into_iter();
        let record = |event| Recorded { at: start(), by: actor(Person::Planner), event };
        let first = record(events.next().unwrap());
        let story = Story { operation: evolve(None, &first).unwrap(), recorded: vec![first] };
        events.fold(story, |story, event| story.then(0, actor(Person::Planner), event))
    }

    /// Something happened, `ms` after it was proposed.
    pub(crate) fn then(mut self, ms: i64, by: Actor, event: Event) -> Story {
        let recorded = Recorded { at: time(ms), by, event };
        self.operation = evolve(Some(&self.operation), &recorded).unwrap();
        self.recorded.push(recorded);
        self
    }

    /// Something that the daemon did.
    pub(crate) fn daemon(self, ms: i64, event: Event) -> Story {
        self.then(ms, Actor::daemon(), event)
    }
}

/// Compares with a file under tests/golden; UPDATE=1 rewrites it.
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "golden file {name}; UPDATE=1 rewrites it");
}

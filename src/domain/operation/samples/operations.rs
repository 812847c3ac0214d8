//! Operations in every state and in the sub-states that differ.

use super::{Person, RECEIPT, Story, actor, attempt, operation, proposal, rules, time};
use crate::domain::operation::evidence::NamedEffect;
use crate::domain::operation::{
    Clock, Effect, Event, Evidence, Loss, Readback, Requirement, Rules, State, StatusSummary, Wait,
    WriteClass,
};
use crate::domain::{Code, Millis};

/// A named operation.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) story: Story,
}

/// Every sample of every state.
pub(crate) fn all() -> Vec<Sample> {
    State::ALL.into_iter().flat_map(samples_of).collect()
}

/// The samples of one state.
pub(crate) fn samples_of(state: State) -> Vec<Sample> {
    let named = match state {
        State::Proposed => proposed(),
        State::Approved => approved(),
        State::Executing => executing(),
        State::Succeeded => succeeded(),
        State::Failed => failed(),
        State::Unknown => unknown(),
        State::Abandoned => vec![("abandoned", abandon(lost()))],
        State::Denied => denied(),
        State::Expired => expired(),
        State::Cancelled => vec![
            ("cancelled", cancel(fresh())),
            ("cancelled after an attempt without effect", cancel(back_off())),
        ],
        State::Compensating => vec![
            ("compensating", compensating(success())),
            ("compensating, again", compensating(compensation_failed(compensating(success())))),
        ],
        State::Compensated => {
            vec![("compensated", compensating(success()).daemon(9_000, Event::CompensationSucceeded))]
        }
        State::CompensationFailed => {
            vec![("compensation_failed", compensation_failed(compensating(success())))]
        }
    };
    for (name, story) in &named {
        assert_eq!(story.operation.state, state, "{name}");
    }
    named.into_iter().map(|(name, story)| Sample { name, story }).collect()
}

type Named = (&'static str, Story);

/// A draft: nobody decides about it.
fn admitted() -> Story {
    let draft = Rules { class: WriteClass::Draft, approval: Requirement::of(0), ..rules() };
    Story::with(draft)
}

fn fresh() -> Story {
    Story::with(rules())
}

fn two() -> Rules {
    Rules { approval: Requirement::of(2), ..rules() }
}

fn approve(story: Story, ms: i64, by: Person) -> Story {
    let proposal = &story.operation.proposal;
    let digest = proposal.proposal_sha256;
    let counted = story.operation.approvals().count() + 1;
    let first = story.operation.approvals().map(|known| known.at).min().unwrap_or(time(ms));
    let execute_by = proposal.execute_by(first);
    let event = if counted < story.operation.requirement().persons() as usize {
        Event::ApprovalRecorded { digest, note: None, groups: Vec::new() }
    } else {
        Event::Approved { digest, note: None, execute_by, groups: Vec::new() }
    };
    story.then(ms, actor(by), event)
}

fn ready() -> Story {
    approve(fresh(), 1_000, Person::Ada)
}

fn start(story: Story, ms: i64, n: u128) -> Story {
    let deadline = time(ms).plus(story.operation.proposal.rules.timeout);
    story.daemon(ms, Event::ExecutionStarted { attempt: attempt(n), deadline })
}

fn first() -> Story {
    start(ready(), 2_000, 1)
}

fn back_off() -> Story {
    let event = Event::AttemptHadNoEffect { code: Code::RateLimited, retry_at: time(5_000) };
    first().daemon(3_000, event)
}

fn lost() -> Story {
    first().daemon(7_000, Event::OutcomeLost { cause: Loss::Deadline })
}

fn pause(story: Story) -> Story {
    story.daemon(307_000, Event::Escalated)
}

fn abandon(story: Story) -> Story {
    story.then(8_000, actor(Person::Olga), Event::Abandoned { reason: "the service is gone".into() })
}

fn success() -> Story {
    first().daemon(
        3_000,
        Event::Succeeded {
            receipt: Some(RECEIPT.into()),
            new_version: Some("8".into()),
            evidence: Evidence::Answer,
        },
    )
}

fn differing() -> Story {
    success().daemon(4_000, Event::ReadBack { found: Readback::Differs(vec!["/city".into()]) })
}

fn failure(story: Story, ms: i64, effect: Effect, effects: Vec<NamedEffect>) -> Story {
    let code = if effect == Effect::Partial { Code::PartialEffect } else { Code::Unavailable };
    let detail = None;
    let (current_version, evidence) = (None, Evidence::Answer);
    story.daemon(ms, Event::Failed { code, detail, effect, effects, current_version, evidence })
}

pub(super) fn parts() -> Vec<NamedEffect> {
    vec![
        NamedEffect { name: "order".into(), state: Effect::Applied, receipt: Some(RECEIPT.into()) },
        NamedEffect { name: "notification".into(), state: Effect::None, receipt: None },
    ]
}

fn cancel(story: Story) -> Story {
    story.then(4_000, actor(Person::Planner), Event::Cancelled { reason: None, effect: Effect::None })
}

fn compensating(story: Story) -> Story {
    story.daemon(8_000, Event::CompensationStarted { operation: operation(2) })
}

fn compensation_failed(story: Story) -> Story {
    story.daemon(9_000, Event::CompensationFailed { residual: vec!["the parcel has left".into()] })
}

fn proposed() -> Vec<Named> {
    let revoked = Event::ApprovalRevoked { approver: "ada".into() };
    vec![
        ("proposed", fresh()),
        ("proposed, one of two approvals", approve(Story::with(two()), 1_000, Person::Ada)),
        (
            "proposed again after an attempt without effect",
            back_off().then(4_000, actor(Person::Ada), revoked),
        ),
    ]
}

fn approved() -> Vec<Named> {
    let busy = Event::Deferred { wait: Wait::TargetBusy(operation(9)), until: None };
    let explicit = Rules { commit: crate::domain::operation::CommitMode::Explicit, ..rules() };
    let proven = Event::NoEffectProven { evidence: Evidence::Status, retry_at: time(9_000) };
    vec![
        ("approved", ready()),
        ("approved, no approval needed", admitted()),
        ("approved, explicit commit", approve(Story::with(explicit), 1_000, Person::Ada)),
        ("approved, target busy", ready().daemon(2_000, busy)),
        ("approved, in back-off", back_off()),
        ("approved, back-off over", back_off().daemon(6_000, late_failure())),
        ("approved, after a lost attempt proven without effect", lost().daemon(8_000, proven)),
    ]
}

/// A late answer that proves nothing; here it only moves the time of the sample behind its back-off.
fn late_failure() -> Event {
    Event::LateAnswer { answer: StatusSummary::Failed("RATE_LIMITED".into()), effect: None }
}

fn executing() -> Vec<Named> {
    let remote = || Event::RemoteAccepted { remote: "job-1".into() };
    vec![
        ("executing", first()),
        ("executing, no approval needed", start(admitted(), 2_000, 1)),
        ("executing, second attempt", start(back_off(), 6_000, 2)),
        ("executing, remote", first().daemon(3_000, remote())),
        ("executing, remote, after unknown", lost().daemon(8_000, remote())),
        ("executing, asked to stop", first().daemon(3_000, Event::NoMoreAttempts { reason: None })),
    ]
}

fn succeeded() -> Vec<Named> {
    let word = Event::Succeeded { receipt: None, new_version: None, evidence: Evidence::Operator };
    vec![
        ("succeeded", success()),
        ("succeeded, seen otherwise", differing()),
        ("succeeded on an operator's word", lost().then(8_000, actor(Person::Olga), word)),
    ]
}

fn failed() -> Vec<Named> {
    let conflict =
        Event::PreconditionFailed { code: Code::VersionConflict, current_version: Some("9".into()) };
    let late =
        Event::LateAnswer { answer: StatusSummary::Succeeded(RECEIPT.into()), effect: Some(Effect::Applied) };
    vec![
        ("failed, none", failure(first(), 3_000, Effect::None, Vec::new())),
        ("failed, none, before an attempt", ready().daemon(2_000, conflict)),
        ("failed, partial", failure(first(), 3_000, Effect::Partial, parts())),
        (
            "failed, applied by a late answer",
            failure(first(), 3_000, Effect::None, Vec::new()).daemon(4_000, late),
        ),
    ]
}

fn unknown() -> Vec<Named> {
    let restarted = Event::OutcomeLost { cause: Loss::Restarted };
    let stop = Event::NoMoreAttempts { reason: None };
    let second = start(back_off(), 6_000, 2).daemon(11_000, Event::OutcomeLost { cause: Loss::Deadline });
    let spent = Rules { max_attempts: 1, ..rules() };
    let spent = start(approve(Story::with(spent), 1_000, Person::Ada), 2_000, 1)
        .daemon(7_000, Event::OutcomeLost { cause: Loss::Deadline });
    vec![
        ("unknown", lost()),
        ("unknown, restarted", first().daemon(3_000, restarted)),
        ("unknown, second attempt", second),
        ("unknown, attempts used up", spent),
        ("unknown, asked to stop", lost().daemon(8_000, stop)),
        ("unknown, paused", pause(lost())),
        ("unknown, from a backup, no attempts", ready().daemon(3_000, Event::Restored { epoch: 1 })),
        ("unknown, from a backup, executing", first().daemon(3_000, Event::Restored { epoch: 1 })),
    ]
}

fn denied() -> Vec<Named> {
    let no = || Event::Denied { reason: "the wrong customer".into(), last: false };
    let revoked = Event::ApprovalRevoked { approver: "ada".into() };
    let again = back_off().then(4_000, actor(Person::Ada), revoked).then(5_000, actor(Person::Bob), no());
    vec![
        ("denied", fresh().then(1_000, actor(Person::Ada), no())),
        ("denied after an attempt without effect", again),
    ]
}

fn expired() -> Vec<Named> {
    let decide = Event::Expired { clock: Clock::DecideBy };
    let execute = || Event::Expired { clock: Clock::ExecuteBy };
    let end = i64::try_from((Millis::secs(900).0) + 1_000).unwrap();
    debug_assert_eq!(proposal(rules()).decide_by, time(60_000));
    vec![
        ("expired, nobody decided", fresh().daemon(60_000, decide)),
        ("expired, approved but not executed", ready().daemon(end, execute())),
        ("expired in back-off", back_off().daemon(end, execute())),
    ]
}

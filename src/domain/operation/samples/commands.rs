//! One command of each kind with its variants.

use super::operations::parts;
use super::{Person, RECEIPT, attempt, operation, proposal, rules};
use crate::domain::budget::UsedUp;
use crate::domain::operation::command::{
    AttemptAnswer, CommandKind, CompensationResult, PolicyNow, Preconditions, Resolution, RunStanding,
    StatusAnswer, VersionCheck,
};
use crate::domain::operation::{Command, Effect, Evidence, Loss, Readback, Requirement};
use crate::domain::principal::Assurance;
use crate::domain::{Code, Digest, Millis};

/// When it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// A millisecond after the last event.
    Soon,
    /// Exactly when the operation is due; a millisecond after the last event where it is not.
    Due,
}

/// A command that somebody gives.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    pub(crate) by: Person,
    pub(crate) when: When,
    pub(crate) command: Command,
}

fn asked(name: &'static str, by: Person, command: Command) -> Asked {
    Asked { name, by, when: When::Soon, command }
}

fn due(name: &'static str, by: Person, command: Command) -> Asked {
    Asked { name, by, when: When::Due, command }
}

/// The samples of one kind.
pub(crate) fn commands_of(kind: CommandKind) -> Vec<Asked> {
    let samples = match kind {
        CommandKind::Approve => approve(),
        CommandKind::Deny => deny(),
        CommandKind::Revoke => revoke(),
        CommandKind::Cancel => cancel(),
        CommandKind::Commit => [commit(), commit_by_version()].concat(),
        CommandKind::RecordAnswer => answers(),
        CommandKind::RecordStatus => statuses(),
        CommandKind::RecordReadback => vec![
            asked("readback: agrees", Person::Daemon, Command::RecordReadback { found: Readback::Agrees }),
            asked(
                "readback: differs",
                Person::Daemon,
                Command::RecordReadback { found: Readback::Differs(vec!["/city".into()]) },
            ),
        ],
        CommandKind::Reconcile => vec![
            asked("reconcile", Person::Olga, Command::Reconcile),
            asked("reconcile by nobody", Person::Nobody, Command::Reconcile),
        ],
        CommandKind::Resolve => resolve(),
        CommandKind::Abandon => vec![
            asked("abandon", Person::Olga, Command::Abandon { reason: "it is gone".into() }),
            asked("abandon by its requester", Person::Planner, Command::Abandon { reason: "gone".into() }),
            asked("abandon without a reason", Person::Olga, Command::Abandon { reason: " ".into() }),
        ],
        CommandKind::Tick => vec![
            asked("tick", Person::Daemon, Command::Tick),
            due("tick when due", Person::Daemon, Command::Tick),
        ],
        CommandKind::Restart => vec![asked("restart", Person::Daemon, Command::Restart)],
        CommandKind::ChangePolicy => vec![
            asked("policy wants as many", Person::Daemon, change_policy(1)),
            asked("policy wants more", Person::Daemon, change_policy(3)),
        ],
        CommandKind::StartCompensation => {
            let operation = operation(2);
            vec![asked("start compensation", Person::Daemon, Command::StartCompensation { operation })]
        }
        CommandKind::SettleCompensation => settle(),
        CommandKind::Restore => vec![asked("restore", Person::Daemon, Command::Restore { epoch: 2 })],
    };
    assert!(samples.iter().all(|sample| sample.command.kind() == kind));
    samples
}

fn change_policy(persons: u32) -> Command {
    let requirement = Box::new(Requirement::of(persons));
    Command::ChangePolicy { requirement, policy: Digest::of(b"another") }
}

fn approve() -> Vec<Asked> {
    let two = super::Rules { approval: Requirement::of(2), ..rules() };
    let yes = || Command::Approve { digest: proposal(rules()).proposal_sha256, note: None };
    // The number of approvals is part of what is approved; the sample that needs two has its own digest.
    let yes_of_two = Command::Approve { digest: proposal(two).proposal_sha256, note: None };
    vec![
        asked("approve", Person::Bob, yes()),
        asked("approve (two needed)", Person::Bob, yes_of_two.clone()),
        asked("approve (two needed) again", Person::AdaToo, yes_of_two),
        asked(
            "approve what is not shown",
            Person::Bob,
            Command::Approve { digest: Digest::ZERO, note: None },
        ),
        asked("approve by its requester", Person::Planner, yes()),
        asked("approve by the agent's owner", Person::Otto, yes()),
        asked("approve by the beneficiary", Person::Carla, yes()),
        asked("approve without the role", Person::Olga, yes()),
        due("approve when due", Person::Bob, yes()),
        due("approve without the role when due", Person::Olga, yes()),
    ]
}

fn deny() -> Vec<Asked> {
    let no = || Command::Deny { reason: "the wrong customer".into(), last: false };
    vec![
        asked("deny", Person::Bob, no()),
        asked("deny for good", Person::Bob, Command::Deny { reason: "never".into(), last: true }),
        asked("deny without a reason", Person::Bob, Command::Deny { reason: String::new(), last: false }),
        asked("deny without the role", Person::Olga, no()),
        due("deny when due", Person::Bob, no()),
        due("deny without the role when due", Person::Olga, no()),
    ]
}

fn revoke() -> Vec<Asked> {
    let whose = |name: &str| Command::Revoke { approver: Some(name.into()) };
    vec![
        asked("revoke one's own", Person::Ada, Command::Revoke { approver: None }),
        asked("revoke as admin", Person::Root, whose("ada")),
        asked("revoke somebody's", Person::Bob, whose("ada")),
        asked("revoke what is not there", Person::Bob, Command::Revoke { approver: None }),
        due("revoke when due", Person::Ada, Command::Revoke { approver: None }),
    ]
}

fn cancel() -> Vec<Asked> {
    let cancel = || Command::Cancel { reason: None };
    vec![
        asked("cancel", Person::Planner, cancel()),
        asked("cancel as operator", Person::Olga, cancel()),
        asked("cancel by the daemon", Person::Daemon, cancel()),
        asked("cancel by nobody", Person::Nobody, cancel()),
        due("cancel when due", Person::Planner, cancel()),
        due("cancel by nobody when due", Person::Nobody, cancel()),
    ]
}

/// Nothing stands in the way.
pub(crate) fn preconditions() -> Preconditions {
    Preconditions {
        attempt: attempt(7),
        explicit: false,
        entitled: true,
        run: RunStanding::Open,
        paused: None,
        approvers: ["ada", "bob", "ada-ops"].map(|name| (name.to_owned(), Some(Vec::new()))).to_vec(),
        policy: PolicyNow {
            version: Digest::of(b"policy"),
            requirement: Requirement::of(0),
            execute_within: rules().execute_within,
        },
        digests_equal: true,
        target_busy: None,
        capacity: true,
        budget: None,
        version: VersionCheck::ByService,
    }
}

fn commit_with(explicit: bool, change: fn(&mut Preconditions)) -> Command {
    let mut facts = Preconditions { explicit, ..preconditions() };
    change(&mut facts);
    Command::Commit(Box::new(facts))
}

fn commit() -> Vec<Asked> {
    let by = Person::Planner;
    vec![
        asked("commit by the daemon", Person::Daemon, commit_with(false, |_| {})),
        asked("commit", by, commit_with(true, |_| {})),
        due("commit when due", by, commit_with(true, |_| {})),
        asked("commit, not entitled", by, commit_with(true, |f| f.entitled = false)),
        asked("commit, run cancelled", by, commit_with(true, |f| f.run = RunStanding::Cancelled)),
        asked(
            "commit, run too late",
            Person::Daemon,
            commit_with(false, |f| f.run = RunStanding::DeadlinePassed),
        ),
        asked("commit, run unreadable", by, commit_with(true, |f| f.run = RunStanding::Unreadable)),
        asked("commit, paused", by, commit_with(true, |f| f.paused = Some("by hand".into()))),
        asked(
            "commit, approver gone",
            by,
            commit_with(true, |f| f.approvers.iter_mut().for_each(|a| a.1 = None)),
        ),
        asked(
            "commit, policy stricter",
            by,
            commit_with(true, |f| {
                f.policy.requirement = Requirement { assurance: Assurance::Console, ..Requirement::of(1) }
            }),
        ),
        asked(
            "commit, policy denies",
            by,
            commit_with(true, |f| f.policy.requirement.denied = Some("never".into())),
        ),
        asked(
            "commit, approval too old by policy",
            by,
            commit_with(true, |f| f.policy.execute_within = Millis(0)),
        ),
        asked("commit, digests differ", by, commit_with(true, |f| f.digests_equal = false)),
        asked("commit, target busy", by, commit_with(true, |f| f.target_busy = Some(operation(9)))),
        asked(
            "commit, budget used up",
            by,
            commit_with(true, |f| {
                f.budget = Some(UsedUp { budget: "refunds".into(), until: Some(super::time(60_000)) });
            }),
        ),
        asked("commit, no place", by, commit_with(true, |f| f.capacity = false)),
        asked(
            "commit, version equal",
            by,
            commit_with(true, |f| f.version = VersionCheck::Read(Some("7".into()))),
        ),
    ]
}

fn commit_by_version() -> Vec<Asked> {
    let by = Person::Planner;
    vec![
        asked(
            "commit, version moved",
            by,
            commit_with(true, |f| f.version = VersionCheck::Read(Some("9".into()))),
        ),
        asked("commit, target gone", by, commit_with(true, |f| f.version = VersionCheck::Read(None))),
        asked("commit, version is read next", by, commit_with(true, |f| f.version = VersionCheck::Asked)),
        due(
            "commit when due, version is read next",
            by,
            commit_with(true, |f| f.version = VersionCheck::Asked),
        ),
        asked(
            "commit, version unavailable",
            by,
            commit_with(true, |f| f.version = VersionCheck::Unavailable),
        ),
    ]
}

fn answers() -> Vec<Asked> {
    let to = |n: u128, answer: AttemptAnswer| Command::RecordAnswer { attempt: attempt(n), answer };
    let answer = |name: &'static str, n: u128, answer| asked(name, Person::Daemon, to(n, answer));
    let receipt = || AttemptAnswer::Receipt { receipt: RECEIPT.into(), new_version: Some("8".into()) };
    let failed = |code, effect| AttemptAnswer::Failed { code, detail: None, effect, current_version: None };
    let nothing = |code, evidence| AttemptAnswer::NoEffect { code, retry_after: None, evidence };
    let stale = || failed(Code::VersionConflict, Effect::None);
    let limited = || nothing(Code::RateLimited, Evidence::Answer);
    let unsent = nothing(Code::Unavailable, Evidence::NothingSent);
    let lost = AttemptAnswer::Ambiguous { cause: Loss::ConnectionLost("reset".into()) };
    vec![
        answer("answer 1: receipt", 1, receipt()),
        answer("answer 2: receipt", 2, receipt()),
        due("answer 1: receipt, when due", Person::Daemon, to(1, receipt())),
        answer("answer 1: conflict", 1, stale()),
        answer("answer 2: conflict", 2, stale()),
        answer("answer 1: refused", 1, failed(Code::InvalidArgument, Effect::None)),
        answer("answer 2: refused", 2, failed(Code::InvalidArgument, Effect::None)),
        answer("answer 1: failed, applied", 1, failed(Code::Internal, Effect::Applied)),
        answer("answer 1: failed, unknown", 1, failed(Code::Internal, Effect::Unknown)),
        answer("answer 1: failed, partial, unnamed", 1, failed(Code::PartialEffect, Effect::Partial)),
        answer("answer 1: partial", 1, AttemptAnswer::Partial { effects: parts() }),
        answer("answer 2: partial", 2, AttemptAnswer::Partial { effects: parts() }),
        answer("answer 1: partial, unnamed", 1, AttemptAnswer::Partial { effects: Vec::new() }),
        answer("answer 1: no effect", 1, limited()),
        answer("answer 2: no effect", 2, limited()),
        answer("answer 2: no effect, but a conflict", 2, nothing(Code::Conflict, Evidence::Answer)),
        answer("answer 2: nothing sent", 2, unsent),
        answer("answer 1: accepted", 1, AttemptAnswer::Accepted { remote: "job-1".into() }),
        answer("answer 1: ambiguous", 1, lost),
        answer("answer of no attempt", 6, receipt()),
    ]
}

fn statuses() -> Vec<Asked> {
    let status = |name: &'static str, answer| asked(name, Person::Daemon, Command::RecordStatus { answer });
    let receipt = || StatusAnswer::Succeeded { receipt: RECEIPT.into(), new_version: None };
    let failed = |effect| StatusAnswer::Failed { code: Code::Internal, effect };
    vec![
        status("status: succeeded", receipt()),
        due("status: succeeded, when due", Person::Daemon, Command::RecordStatus { answer: receipt() }),
        status("status: failed, none", failed(Effect::None)),
        status("status: failed, applied", failed(Effect::Applied)),
        status("status: failed, partial", failed(Effect::Partial)),
        status("status: failed, unknown", failed(Effect::Unknown)),
        status("status: in progress", StatusAnswer::InProgress { remote: None }),
        status("status: in progress as a job", StatusAnswer::InProgress { remote: Some("job-1".into()) }),
        status("status: not found yet", StatusAnswer::NotFound { proven: false }),
        status("status: not found, proven", StatusAnswer::NotFound { proven: true }),
        status("status: inconclusive", StatusAnswer::Inconclusive { cause: "503".into() }),
    ]
}

fn resolve() -> Vec<Asked> {
    let resolve = |resolution| Command::Resolve { resolution, note: "seen at the service".into() };
    let applied = || Resolution::Applied { receipt: None };
    let proven = Resolution::Applied { receipt: Some(RECEIPT.into()) };
    let silent = Command::Resolve { resolution: applied(), note: String::new() };
    vec![
        asked("resolve: applied", Person::Olga, resolve(applied())),
        asked("resolve: applied, receipt", Person::Olga, resolve(proven)),
        asked("resolve: not applied", Person::Olga, resolve(Resolution::NotApplied { retry: false })),
        asked("resolve: not applied, retry", Person::Olga, resolve(Resolution::NotApplied { retry: true })),
        asked("resolve: failed", Person::Olga, resolve(Resolution::Failed)),
        asked("resolve without a note", Person::Olga, silent),
        asked("resolve by its requester", Person::Planner, resolve(applied())),
        asked("resolve by an approver", Person::Bob, resolve(applied())),
    ]
}

fn settle() -> Vec<Asked> {
    let settle =
        |name: &'static str, result| asked(name, Person::Daemon, Command::SettleCompensation { result });
    vec![
        settle("compensation withdrawn", CompensationResult::Withdrawn),
        settle("compensation succeeded", CompensationResult::Succeeded),
        settle("compensation failed", CompensationResult::Failed { residual: vec!["a parcel".into()] }),
        settle("compensation failed, nothing listed", CompensationResult::Failed { residual: Vec::new() }),
    ]
}

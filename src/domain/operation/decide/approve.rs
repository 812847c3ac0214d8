//! Approve: an eligible person says yes to exactly what was shown.

use super::Decided;
use crate::domain::operation::command::Facts;
use crate::domain::operation::record::Decision;
use crate::domain::operation::{Actor, Effect, Event, NotCounted, Operation, Requirement, State, Verdict};
use crate::domain::principal::{Assurance, PrincipalKind, Role};
use crate::domain::{Code, Digest};

pub(super) fn decide(op: &Operation, digest: Digest, note: Option<&str>, facts: &Facts<'_>) -> Decided {
    if let Err(refused) = may_decide(op, facts) {
        return refused;
    }
    match op.state {
        State::Proposed => proposed(op, digest, note, facts),
        State::Executing
        | State::Unknown
        | State::Failed
        | State::Abandoned
        | State::Compensating
        | State::CompensationFailed
        | State::Succeeded
        | State::Compensated
            if op.approvals().next().is_none() && op.requirement().asks_somebody() =>
        {
            Decided::invalid(
                op,
                "be approved: an import has voided its approvals, its outcome is settled first",
            )
        }
        State::Approved
        | State::Executing
        | State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed
            if op.approvals().next().is_none() =>
        {
            Decided::already("it needs no approval")
        }
        State::Approved
        | State::Executing
        | State::Succeeded
        | State::Failed
        | State::Unknown
        | State::Abandoned
        | State::Compensating
        | State::Compensated
        | State::CompensationFailed => Decided::already(format!("it was approved by {}", approvers(op))),
        State::Denied => {
            let who =
                op.decisions.iter().find(|decision| decision.verdict == Verdict::Deny && !decision.void);
            let who = who.map_or("an approver", |decision| decision.by.name.as_str());
            Decided::refused(Code::Denied, format!("{who} has denied it; that stands"))
        }
        State::Expired => {
            let mut decided = Decided::refused(
                expiry_code(op),
                "it has expired; nothing is executed. Propose it again if it is still wanted",
            );
            if !said_too_late(op, Verdict::Approve, facts) {
                let note = note.map(str::to_owned);
                decided.events.push(Event::LateDecision { verdict: Verdict::Approve, note });
            }
            decided
        }
        State::Cancelled => Decided::refused(Code::Cancelled, "it was withdrawn; nothing is executed"),
    }
}

fn proposed(op: &Operation, digest: Digest, note: Option<&str>, facts: &Facts<'_>) -> Decided {
    if digest != op.proposal.proposal_sha256 {
        return Decided::refused(
            Code::ProposalChanged,
            "the digest is not that of this proposal: look at it again and approve what is shown",
        );
    }
    let requirement = op.requirement();
    if let Some(rule) = &requirement.denied {
        return Decided::refused(
            Code::PolicyChanged,
            format!("the policy has changed since it was proposed: its rule `{rule}` forbids this write"),
        );
    }
    let (who, groups) = ((facts.by.name.as_str(), facts.by.person.as_str()), facts.by.groups.as_slice());
    if let Err(why) = requirement.counts(who, facts.by.assurance, groups, note) {
        return not_counted(requirement, why, facts);
    }
    let of_person = |known: &&Decision| known.by.person == facts.by.person;
    if op.decisions.iter().filter(of_person).any(|known| requirement.counts_decision(known)) {
        return Decided::already("this person has approved it; another person is needed");
    }
    if op.effect != Effect::None {
        return Decided::refused(
            Code::OutcomeUnknown,
            "an answer that came late says that it has happened already: nothing more is sent",
        );
    }
    let (note, groups) = (note.map(str::to_owned), groups.to_vec());
    let this = Decision {
        by: Actor::from(facts.by),
        at: facts.now,
        groups: groups.clone(),
        verdict: Verdict::Approve,
        digest: Some(digest),
        note: note.clone(),
        void: false,
    };
    if !requirement.is_satisfied(op.decisions.iter().chain([&this])) {
        return Decided::done(vec![Event::ApprovalRecorded { digest, note, groups }]);
    }
    let first = op.first_approval().unwrap_or(facts.now);
    let execute_by = op.proposal.execute_by(first);
    Decided::done(vec![Event::Approved { digest, note, execute_by, groups }])
}

/// Why this approval would not count, and what would.
fn not_counted(requirement: &Requirement, why: NotCounted, facts: &Facts<'_>) -> Decided {
    let refuse = |words: String| Decided::refused(Code::ApproverNotAuthorized, words);
    match why {
        NotCounted::Excluded => refuse("a rule of the policy excludes you from approving it".to_owned()),
        NotCounted::OtherGroup => refuse(format!("it asks for the approval of {}", asked_of(requirement))),
        NotCounted::Assurance => refuse(format!(
            "the policy asks for an approver known by `{}`, and you are known by `{}` only",
            requirement.assurance.as_str(),
            facts.by.assurance.as_str()
        )),
        NotCounted::NoReason => Decided::refused(
            Code::InvalidArgument,
            "the policy asks for a reason with each approval: say it in the note",
        ),
    }
}

fn asked_of(requirement: &Requirement) -> String {
    requirement.needed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// Separation of duties: the requester, the person behind it, the one it acts for and its owner cannot decide; agents
/// and services never do, and neither do people whom nobody asks or whom a rule excludes.
pub(super) fn may_decide(op: &Operation, facts: &Facts<'_>) -> Result<(), Decided> {
    let by = facts.by;
    let refuse = |why: &str| Err(Decided::refused(Code::ApproverNotAuthorized, why));
    match by.kind {
        PrincipalKind::User | PrincipalKind::Operator => {}
        PrincipalKind::Agent | PrincipalKind::Service => return refuse("agents and services never decide"),
    }
    if !by.has(Role::Approver) {
        return refuse("this needs the role `approver`");
    }
    let requester = &op.proposal.requester;
    if by.name == requester.name || by.person == requester.person {
        return refuse("who asks for a write cannot approve it: ask somebody else");
    }
    if op.proposal.on_behalf_of.as_deref().is_some_and(|user| user == by.name || user == by.person) {
        return refuse("the person for whom a write is made cannot approve it: ask somebody else");
    }
    if op.proposal.owner.as_deref().is_some_and(|owner| owner == by.name || owner == by.person) {
        return refuse("the owner of the requesting agent cannot approve its writes: ask somebody else");
    }
    let requirement = op.requirement();
    let who = (by.name.as_str(), by.person.as_str());
    // How surely somebody is known, and their words, are asked for with a yes only.
    match requirement.counts(who, Assurance::Daemon, &by.groups, Some("-")) {
        Err(why) if !requirement.needed.is_empty() => Err(not_counted(requirement, why, facts)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether this principal's late word of this kind is recorded already: an operation does not grow with each click.
pub(super) fn said_too_late(op: &Operation, verdict: Verdict, facts: &Facts<'_>) -> bool {
    op.decisions.iter().any(|known| {
        known.void && known.digest.is_none() && known.verdict == verdict && known.by.name == facts.by.name
    })
}

/// Which clock ran out, as a code.
pub(super) fn expiry_code(op: &Operation) -> Code {
    op.outcome.as_ref().and_then(|outcome| outcome.code).unwrap_or(Code::ProposalExpired)
}

fn approvers(op: &Operation) -> String {
    op.approvals().map(|known| known.by.name.as_str()).collect::<Vec<_>>().join(", ")
}

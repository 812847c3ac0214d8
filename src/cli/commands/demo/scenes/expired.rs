//! An approval after decide-by.

use super::{HURRIED, Play, journal, propose, settle};
use crate::api::wire::OperationDetail;
use crate::cli::commands::demo::stage::refusal;
use crate::cli::failure::Failure;
use crate::domain::Code;
use crate::domain::operation::{Effect, State};

const CUSTOMER: &str = "C-6001";
const WHAT: &str = "too late";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-6", HURRIED, CUSTOMER, "Drottninggatan 6", WHAT).await?;
    play.story.who("daemon", "gives one second for the decision")?;
    let id = detail.summary.id;
    let expired = |seen: &OperationDetail| seen.summary.state == State::Expired;
    play.stage.people.until(id, "expired", expired).await?;
    let answer = play.stage.people.approve(id, detail.summary.proposal_sha256).await;
    let problem = refusal("the late approval", answer)?;
    play.checks.same("late approval: code", problem.code, Code::ProposalExpired);
    play.checks.same("late approval: effect", problem.effect, Effect::None);
    play.story.warned("alice", format!("approves after that: {}", problem.code))?;
    let seen = play.stage.people.show(id).await?;
    play.checks.equal("approvals that count", seen.summary.approvals, 0);
    journal(play, id, WHAT, &["proposed", "expired", "late_decision"]).await?;
    play.checks.equal("attempts", seen.attempts.len(), 0);
    settle(play, &seen, WHAT, (State::Expired, Effect::None), 0, 0).await
}

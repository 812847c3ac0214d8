//! The customer changes under the agent's feet: before the proposal, before the execution, and in the last moment.

use serde_json::json;

use super::{CHANGE, CHECKED, Play, approve, journal, propose, settle, version};
use crate::api::wire::OperationDetail;
use crate::cli::commands::demo::stage::{Written, refusal};
use crate::cli::failure::Failure;
use crate::domain::Code;
use crate::domain::operation::{Effect, State, Verdict};

const CUSTOMER: &str = "C-1842";
const CHECKED_WHAT: &str = "version moved";
const RACED_WHAT: &str = "version raced";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    stale(play).await?;
    before_execution(play).await?;
    in_the_last_moment(play).await
}

/// A plan on old facts does not become a proposal on new ones.
async fn stale(play: &mut Play) -> Result<(), Failure> {
    let before = play.stage.people.operations().await?.len();
    let write = Written {
        key: "scene-4-stale",
        tool: CHANGE,
        customer: CUSTOMER,
        based_on: json!(17),
        line1: "Odengatan 4",
    };
    play.story.who("agent", format!("proposes for {CUSTOMER} on the version 17 that it remembers"))?;
    let problem = refusal("the stale proposal", play.stage.people.propose(play.run, &write).await)?;
    play.checks.same("stale proposal: code", problem.code, Code::VersionConflict);
    play.checks.equal("stale proposal: where", &problem.pointer, Some("/based_on"));
    play.checks.equal("stale proposal: version now", &problem.current_version, Some(18));
    play.checks.equal("stale proposal: nothing stored", play.stage.people.operations().await?.len(), before);
    play.story.warned(
        "daemon",
        format!(
            "{}: it is at version {} now; nothing was stored",
            problem.code,
            version(&problem.current_version)
        ),
    )
}

/// Between the approval view and the execution; the version is read just before the write.
async fn before_execution(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-4", CHECKED, CUSTOMER, "Odengatan 4", CHECKED_WHAT).await?;
    let moved = play.stage.world.bump(CUSTOMER).await?;
    play.story.who("colleague", format!("changes {CUSTOMER}: version {moved}"))?;
    approve(play, &detail).await?;
    let done = ended(play, &detail).await?;
    let outcome = done.summary.outcome.as_ref();
    play.checks.equal("moved: code", outcome.and_then(|outcome| outcome.code), Some(Code::VersionConflict));
    play.checks.equal(
        "moved: version now",
        outcome.and_then(|outcome| outcome.current_version.clone()),
        Some(moved),
    );
    play.checks.equal("moved: attempts", done.attempts.len(), 0);
    let counted = done.decisions.iter().filter(|one| one.verdict == Verdict::Approve && !one.void).count();
    play.checks.equal("moved: approvals that stand, used by no attempt", counted, 1);
    // No attempt began, and the first attempt is what uses an approval up.
    let must = ["proposed", "approved", "precondition_failed"];
    journal(play, detail.summary.id, CHECKED_WHAT, &must).await?;
    play.story.warned("daemon", "VERSION_CONFLICT: nothing was sent, and the approval is not used up")?;
    settle(play, &done, CHECKED_WHAT, (State::Failed, Effect::None), 0, 0).await
}

/// After the last look: the service compares the version together with the write.
async fn in_the_last_moment(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-4-race", CHANGE, CUSTOMER, "Odengatan 4", RACED_WHAT).await?;
    play.stage.world.fault(&json!({"fault": "version_bump", "match": {"customer_id": CUSTOMER}})).await?;
    approve(play, &detail).await?;
    play.story.who("colleague", format!("changes {CUSTOMER} just before the write arrives"))?;
    let done = ended(play, &detail).await?;
    let outcome = done.summary.outcome.as_ref();
    play.checks.equal("raced: code", outcome.and_then(|outcome| outcome.code), Some(Code::VersionConflict));
    play.checks.equal(
        "raced: version now",
        outcome.and_then(|outcome| outcome.current_version.clone()),
        Some(20),
    );
    play.story.warned("daemon", "VERSION_CONFLICT: the service refused the write, which had no effect")?;
    settle(play, &done, RACED_WHAT, (State::Failed, Effect::None), 0, 1).await
}

async fn ended(play: &Play, detail: &OperationDetail) -> Result<OperationDetail, Failure> {
    play.stage.people.until(detail.summary.id, "ended", |seen| seen.summary.state.is_ended()).await
}

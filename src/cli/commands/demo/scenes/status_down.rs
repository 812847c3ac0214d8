//! The answer is lost and the status endpoint is down: unknown, paused, the target busy, and a person with evidence.

use serde_json::{Value, json};

use super::{CHANGE, Play, approve, journal, propose, settle, version};
use crate::api::wire::OperationDetail;
use crate::api::wire::request::{ResolveBody, ResolveOutcome};
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;
use crate::domain::operation::{Effect, Evidence, State};

const CUSTOMER: &str = "C-3001";
const FIRST: &str = "unknown outcome";
const SECOND: &str = "write behind it";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let first = propose(play, "scene-3", CHANGE, CUSTOMER, "Hamngatan 3", FIRST).await?;
    play.stage.world.fault(&json!({"fault": "apply_then_drop", "match": {"customer_id": CUSTOMER}})).await?;
    play.stage.world.fault(&json!({"fault": "status_down", "times": Value::Null})).await?;
    play.story.who("sandbox", "will lose the next answer; its status endpoint is down")?;
    approve(play, &first).await?;
    let id = first.summary.id;
    let paused =
        |seen: &OperationDetail| seen.summary.doubt.as_ref().is_some_and(|doubt| doubt.paused.is_some());
    let unknown = play.stage.people.until(id, "unknown and paused", paused).await?;
    play.checks.same("paused: state", unknown.summary.state, State::Unknown);
    play.checks.same("paused: effect", unknown.summary.effect, Effect::Unknown);
    play.checks.equal("paused: an operator is needed", unknown.summary.needs_operator, true);
    play.checks.equal("paused: writes sent", play.stage.world.writes_of(id).await?.len(), 1);
    play.story
        .warned("daemon", "outcome unknown. Nobody can say more, so it pauses and asks for an operator")?;
    let second = behind(play, id).await?;
    resolve(play, id).await?;
    let ended = |seen: &OperationDetail| seen.summary.state.is_ended();
    let done = play.stage.people.until(second, "ended", ended).await?;
    let new_version = done.summary.outcome.as_ref().and_then(|outcome| outcome.new_version.clone());
    play.checks.equal("the write behind it: new version", &new_version, Some(3));
    play.story.who(
        "daemon",
        format!("the target is free: the second write goes on to version {}", version(&new_version)),
    )?;
    settle(play, &done, SECOND, (State::Succeeded, Effect::Applied), 1, 1).await
}

/// A similar write under a new key waits for the first and says so.
async fn behind(play: &mut Play, first: OperationId) -> Result<OperationId, Failure> {
    let second = propose(play, "scene-3-again", CHANGE, CUSTOMER, "Hamngatan 3 B", SECOND).await?;
    approve(play, &second).await?;
    let waits = |seen: &OperationDetail| seen.summary.wait.is_some();
    let waiting = play.stage.people.until(second.summary.id, "waiting", waits).await?;
    let wait = waiting.summary.wait.as_ref();
    play.checks.equal(
        "the write behind it waits because",
        wait.map(|wait| wait.reason.as_str()),
        Some("target_busy"),
    );
    play.checks.equal("the write behind it is blocked by", wait.and_then(|wait| wait.blocker), Some(first));
    play.checks.equal(
        "the write behind it: sent",
        play.stage.world.writes_of(second.summary.id).await?.len(),
        0,
    );
    play.story.warned("daemon", format!("the target is busy: it waits, not sent, behind {first}"))?;
    Ok(second.summary.id)
}

/// The operator looks at the service and says what happened.
async fn resolve(play: &mut Play, id: OperationId) -> Result<(), Failure> {
    let note = "The service shows the new address at version 2; I have looked.";
    let customer = play.stage.world.customer(CUSTOMER).await?;
    play.checks.equal("what the operator sees: version", &customer["version"], 2);
    play.story.who("oscar", format!("settles it as applied: \"{note}\""))?;
    let body =
        ResolveBody { outcome: ResolveOutcome::Applied, retry: false, receipt: None, note: note.to_owned() };
    play.stage.people.resolve(id, &body).await?;
    let seen = play.stage.people.show(id).await?;
    let evidence = seen.summary.outcome.as_ref().and_then(|outcome| outcome.evidence);
    play.checks.equal("where the proof came from", evidence, Some(Evidence::Operator));
    let must = ["proposed", "approved", "execution_started", "outcome_lost", "escalated", "succeeded"];
    journal(play, id, FIRST, &must).await?;
    settle(play, &seen, FIRST, (State::Succeeded, Effect::Applied), 1, 1).await?;
    play.stage.world.clear_faults().await
}

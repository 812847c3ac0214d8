//! SIGKILL while a write is under way: its effect is there, its answer is not.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{CHANGE, Play, approve, journal, loss, propose, settle};
use crate::api::wire::OperationDetail;
use crate::cli::failure::Failure;
use crate::domain::operation::{Effect, Evidence, State};

const CUSTOMER: &str = "C-5001";
const WHAT: &str = "killed daemon";
/// How long the sandbox holds the answer back: the daemon is killed long before.
const HELD_BACK_MS: u64 = 4000;
/// Between two looks at the ledger.
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-5", CHANGE, CUSTOMER, "Birger Jarlsgatan 5", WHAT).await?;
    let slow = json!({"fault": "apply_then_delay", "ms": HELD_BACK_MS, "match": {"customer_id": CUSTOMER}});
    play.stage.world.fault(&slow).await?;
    approve(play, &detail).await?;
    let id = detail.summary.id;
    let until = Instant::now() + Duration::from_millis(HELD_BACK_MS);
    while play.stage.world.effects_of(id).await?.is_empty() {
        if Instant::now() > until {
            return Err(Failure::internal("the write does not arrive at the sandbox"));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let seen = play.stage.people.show(id).await?;
    play.checks.same("state when it is killed", seen.summary.state, State::Executing);
    play.story.who("sandbox", "has applied the write and holds the answer back")?;
    let (before, _) = play.stage.processes();
    play.stage.kill_daemon();
    play.story.warned("you", format!("kill -9 {before}"))?;
    play.stage.start_daemon().await?;
    let (after, _) = play.stage.processes();
    play.checks.equal("another process", before != after, true);
    play.story
        .who("daemon", format!("starts again as process {after} and finds a write without an outcome"))?;
    let ended = |seen: &OperationDetail| seen.summary.state.is_ended();
    let done = play.stage.people.until(id, "settled", ended).await?;
    let evidence = done.summary.outcome.as_ref().and_then(|outcome| outcome.evidence);
    play.checks.equal("where the proof came from", evidence, Some(Evidence::Status));
    play.checks.equal("attempts", done.attempts.len(), 1);
    let must = ["proposed", "approved", "execution_started", "outcome_lost", "succeeded"];
    journal(play, id, WHAT, &must).await?;
    let cause = loss(play, id).await?;
    play.story.who("daemon", format!("does not send it again ({cause}); it asks by the key: succeeded"))?;
    settle(play, &done, WHAT, (State::Succeeded, Effect::Applied), 1, 1).await
}

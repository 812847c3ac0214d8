//! The service applies the write and closes the connection: no answer, an effect.

use serde_json::json;

use super::{CHANGE, Play, approve, journal, loss, propose, settle};
use crate::api::wire::OperationDetail;
use crate::cli::failure::Failure;
use crate::domain::operation::{Effect, Evidence, State};

const CUSTOMER: &str = "C-2001";
const WHAT: &str = "lost answer";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-2", CHANGE, CUSTOMER, "Storgatan 2", WHAT).await?;
    play.stage.world.fault(&json!({"fault": "apply_then_drop", "match": {"customer_id": CUSTOMER}})).await?;
    play.story.who("sandbox", "will apply the next write and then close the connection without a byte")?;
    approve(play, &detail).await?;
    let id = detail.summary.id;
    let ended = |seen: &OperationDetail| seen.summary.state.is_ended();
    let done = play.stage.people.until(id, "settled", ended).await?;
    let must = ["proposed", "approved", "execution_started", "outcome_lost", "succeeded"];
    journal(play, id, WHAT, &must).await?;
    let cause = loss(play, id).await?;
    play.story
        .warned("daemon", format!("outcome unknown ({cause}): it sends nothing again, it asks by the key"))?;
    let evidence = done.summary.outcome.as_ref().and_then(|outcome| outcome.evidence);
    play.checks.equal("where the proof came from", evidence, Some(Evidence::Status));
    play.story.who("daemon", "the service knows the key and shows the receipt: it has succeeded")?;
    settle(play, &done, WHAT, (State::Succeeded, Effect::Applied), 1, 1).await
}

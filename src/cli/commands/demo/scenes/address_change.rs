//! The main job.

use serde_json::json;

use super::{CHANGE, Play, approve, propose, settle};
use crate::cli::failure::Failure;
use crate::cli::view;
use crate::domain::Digest;
use crate::domain::operation::{Effect, State};

const CUSTOMER: &str = "C-1842";
const WHAT: &str = "address change";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, "scene-1", CHANGE, CUSTOMER, "Sveavägen 44", WHAT).await?;
    play.checks.equal("target version", &detail.summary.target.version, Some(17));
    play.checks.equal("what is shown has the digests that it shows", view::digests_hold(&detail), true);
    play.story.who("alice", "looks at it with `writd op show`:")?;
    play.story.page(&view::operation(&detail))?;
    play.story.says("")?;
    approve(play, &detail).await?;
    let ended = |seen: &crate::api::wire::OperationDetail| seen.summary.state.is_ended();
    let done = play.stage.people.until(detail.summary.id, "ended", ended).await?;
    let outcome = done.summary.outcome.as_ref();
    let receipt = outcome.and_then(|outcome| outcome.receipt.clone()).unwrap_or_default();
    play.checks.equal("new version", outcome.and_then(|outcome| outcome.new_version.clone()), Some(18));
    play.checks.equal(
        "receipt: operation",
        &receipt["receipt"]["operation_id"],
        detail.summary.id.to_string(),
    );
    let body = detail.request.body.clone().unwrap_or_default();
    let digest = Digest::of(body.as_bytes()).to_string();
    play.checks.equal("receipt: digest of the body", &receipt["receipt"]["request_sha256"], digest);
    let customer = play.stage.world.customer(CUSTOMER).await?;
    play.checks.equal("version at the service", &customer["version"], 18);
    play.checks.equal(
        "address at the service",
        &customer["shipping_address"],
        super::super::stage::address("Sveavägen 44"),
    );
    let id = receipt["receipt"]["id"].as_str().unwrap_or("none").to_owned();
    play.story
        .who("daemon", format!("sends it once; {CUSTOMER} goes from version 17 to 18, receipt {id}"))?;
    play.checks.equal("attempts", done.attempts.len(), 1);
    play.checks.equal(
        "other keys with more than one effect",
        &play.stage.world.effects().await?["keys_with_more_than_one"],
        json!([]),
    );
    settle(play, &done, WHAT, (State::Succeeded, Effect::Applied), 1, 1).await
}

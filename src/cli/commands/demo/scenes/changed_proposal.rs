//! The client changes its own copy after it has proposed. What is sent is what is stored, byte for byte.

use serde_json::Value;

use super::{CHANGE, Play, approve, propose, settle, short};
use crate::api::wire::{OperationDetail, RequestView};
use crate::cli::commands::demo::stage::{Written, refusal};
use crate::cli::failure::Failure;
use crate::domain::json::Canonical;
use crate::domain::operation::{Effect, State};
use crate::domain::request::RenderedRequest;
use crate::domain::{Code, Digest};

const CUSTOMER: &str = "C-7001";
const KEY: &str = "scene-7";
const WHAT: &str = "changed copy";

pub(super) async fn play(play: &mut Play) -> Result<(), Failure> {
    let detail = propose(play, KEY, CHANGE, CUSTOMER, "Vasagatan 7", WHAT).await?;
    let id = detail.summary.id;
    let based_on = detail.summary.target.version.clone().unwrap_or_default();
    let changed =
        Written { key: KEY, tool: CHANGE, customer: CUSTOMER, based_on, line1: "Somewhere else 99" };
    play.story.who("agent", "changes its copy: \"Somewhere else 99\"")?;
    let problem = refusal("the changed proposal", play.stage.people.propose(play.run, &changed).await)?;
    play.checks.same("the changed copy under the same key: code", problem.code, Code::IdempotencyConflict);
    play.story.warned("daemon", format!("{}: that key stands for other arguments", problem.code))?;
    let arguments =
        Canonical::of(&changed.arguments()).map_err(|error| Failure::internal(error.to_string()))?;
    let other = Digest::of(arguments.as_str().as_bytes());
    let problem = refusal("the other digest", play.stage.people.approve(id, other).await)?;
    play.checks.same("approval of another digest: code", problem.code, Code::ProposalChanged);
    let seen = play.stage.people.show(id).await?;
    play.checks.same("approval of another digest: state", seen.summary.state, State::Proposed);
    play.story.warned("alice", format!("approves {}: {}", short(&other.to_string()), problem.code))?;
    approve(play, &detail).await?;
    let ended = |seen: &OperationDetail| seen.summary.state.is_ended();
    let done = play.stage.people.until(id, "ended", ended).await?;
    byte_for_byte(play, &detail).await?;
    settle(play, &done, WHAT, (State::Succeeded, Effect::Applied), 1, 1).await
}

/// The request that was shown before the approval, against the one that arrived.
async fn byte_for_byte(play: &mut Play, shown: &OperationDetail) -> Result<(), Failure> {
    let writes = play.stage.world.writes_of(shown.summary.id).await?;
    let arrived = writes.first().cloned().unwrap_or_default();
    play.checks.equal("body that arrived", &arrived["body"], &shown.request.body);
    let digest = rebuilt(&shown.request, &arrived).digest();
    play.checks.same("digest of the request that arrived", digest, shown.request_sha256);
    let effects = play.stage.world.effects_of(shown.summary.id).await?;
    let body = shown.request.body.clone().unwrap_or_default();
    let said = effects.first().map(|effect| effect["request_sha256"].clone());
    play.checks.equal(
        "digest of the body, as the service took it",
        said,
        Digest::of(body.as_bytes()).to_string(),
    );
    let words = format!("what arrived has the digest that was approved: {}", short(&digest.to_string()));
    play.story.proven("ledger", words)
}

/// The request as it arrived, in the form whose digest was approved. Names of headers are those that were shown: the
/// transport adds its own (`host`, `content-length`), which are not part of the digest.
fn rebuilt(shown: &RequestView, arrived: &Value) -> RenderedRequest {
    let text = |value: &Value| value.as_str().unwrap_or("(absent)").to_owned();
    let header = |name: &String| (name.clone(), text(&arrived["headers"][name.as_str()]));
    RenderedRequest {
        base: shown.base.clone(),
        origin: shown.origin.clone(),
        method: text(&arrived["method"]),
        path: text(&arrived["path"]),
        headers: shown.headers.iter().map(|(name, _)| header(name)).collect(),
        body: arrived["body"].as_str().map(|body| body.as_bytes().to_vec()),
    }
}

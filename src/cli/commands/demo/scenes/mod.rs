//! The scenes, one file each. A scene acts through the people of the stage, tells what happened, and checks every fact
//! that it tells. Later scenes build on what earlier ones left behind at the customer C-1842 only.

mod address_change;
mod changed_proposal;
mod expired;
mod killed;
mod lost_answer;
mod moved_version;
mod status_down;

use serde_json::Value;

use super::Play;
use super::stage::Written;
use crate::api::wire::OperationDetail;
use crate::cli::failure::Failure;
use crate::domain::ids::OperationId;
use crate::domain::operation::evidence::Loss;
use crate::domain::operation::{Effect, State};

/// The shipped write.
const CHANGE: &str = "commit_address_change.v2";
/// The same write, with the version read just before it.
const CHECKED: &str = "change_address_after_a_look.v2";
/// The same write, to be decided within a second.
const HURRIED: &str = "change_address_at_once.v2";
/// What the agent's run may propose.
pub(super) const TOOLS: [&str; 3] = [CHANGE, CHECKED, HURRIED];

/// Plays all of them.
pub(super) async fn all(play: &mut Play) -> Result<(), Failure> {
    address_change::play(begin(play, 1, "An address change, from the proposal to the receipt")?).await?;
    lost_answer::play(begin(play, 2, "The answer is lost after the write was applied")?).await?;
    status_down::play(begin(play, 3, "Nobody can say what happened: an operator decides")?).await?;
    moved_version::play(begin(play, 4, "Somebody else was faster")?).await?;
    killed::play(begin(play, 5, "The daemon is killed while it executes")?).await?;
    expired::play(begin(play, 6, "Silence is not consent: a decision that came too late")?).await?;
    changed_proposal::play(begin(play, 7, "The agent changes its mind after it has proposed")?).await
}

fn begin<'a>(play: &'a mut Play, number: u32, title: &str) -> Result<&'a mut Play, Failure> {
    play.checks.scene = number;
    play.story.scene(number, title)?;
    Ok(play)
}

/// The agent reads the customer and proposes another address for the version that it saw.
async fn propose(
    play: &mut Play,
    key: &str,
    tool: &str,
    customer: &str,
    line1: &str,
    what: &'static str,
) -> Result<OperationDetail, Failure> {
    let read = play.stage.people.read(play.run, customer).await?;
    let based_on = read["version"].clone();
    let write = Written { key, tool, customer, based_on, line1 };
    let proposed = play.stage.people.propose(play.run, &write).await?;
    play.wrote(proposed.id, what);
    play.checks.same(format!("{what}: state after the proposal"), proposed.state, State::Proposed);
    let from = version(&proposed.target.version);
    play.story
        .who("agent", format!("proposes \"{line1}\" for {customer}, which it read at version {from}"))?;
    play.stage.people.show(proposed.id).await
}

/// Alice approves exactly what the detail shows.
async fn approve(play: &mut Play, seen: &OperationDetail) -> Result<(), Failure> {
    let digest = seen.summary.proposal_sha256;
    play.stage.people.approve(seen.summary.id, digest).await?;
    play.story.who("alice", format!("approves what she was shown: {}", short(&digest.to_string())))
}

/// Holds a write against the ledger: what it became, what it had for effects, how often it was sent.
async fn settle(
    play: &mut Play,
    seen: &OperationDetail,
    what: &str,
    must: (State, Effect),
    effects: usize,
    sent: usize,
) -> Result<(), Failure> {
    let id = seen.summary.id;
    play.checks.same(format!("{what}: state"), seen.summary.state, must.0);
    play.checks.same(format!("{what}: effect"), seen.summary.effect, must.1);
    let applied = play.stage.world.effects_of(id).await?.len();
    let writes = play.stage.world.writes_of(id).await?.len();
    play.checks.equal(format!("{what}: effects in the ledger"), applied, effects);
    play.checks.equal(format!("{what}: writes that reached the service"), writes, sent);
    play.story.proven("ledger", format!("writes received: {writes}, effects: {applied}"))
}

/// Holds the journal of a write against what must stand there. How often the status was asked depends on the clock, so
/// these entries are not counted.
async fn journal(play: &mut Play, id: OperationId, what: &str, must: &[&str]) -> Result<(), Failure> {
    let events = play.stage.people.events(id).await?;
    let names: Vec<&str> =
        events.iter().map(|event| event.name.as_str()).filter(|name| *name != "status_checked").collect();
    play.checks.equal(format!("{what}: journal"), names, must);
    Ok(())
}

/// How the outcome of a write was lost, as its journal has it.
async fn loss(play: &Play, id: OperationId) -> Result<String, Failure> {
    let events = play.stage.people.events(id).await?;
    let lost = events.iter().find(|event| event.name == "outcome_lost").and_then(|event| event.data.clone());
    let cause = lost.and_then(|data| serde_json::from_value::<Loss>(data["cause"].clone()).ok());
    Ok(cause.map_or_else(|| "not in the journal".to_owned(), |cause| cause.to_string()))
}

/// A version as text.
fn version(version: &Option<Value>) -> String {
    version.as_ref().map_or_else(|| "none".to_owned(), Value::to_string)
}

/// The first digits of a digest or the last ones of an id are enough to tell them apart by eye.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(12).collect();
    format!("{cut}…")
}

//! The engine over a real store and a service with a ledger.

mod budgets;
mod check_read;
mod clicks;
mod clocks;
mod drafts;
mod faults;
mod governance;
mod idempotency;
mod late;
mod pages;
mod published;
mod queue;
mod readback;
mod recovery;
mod runs;
mod stop;
mod waits;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::testing::{World, principal};
use super::{CommandDone, OpenRun, ProposeRequest};
use crate::domain::ids::{OperationId, RunId};
use crate::domain::operation::{Command, State, Wait};
use crate::domain::principal::{Principal, PrincipalKind, Role};
use crate::domain::problem::Problem;
use crate::store::records::Stored;

/// Longer than anything here takes on a busy machine; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(60);

fn agent() -> Principal {
    principal("planner", PrincipalKind::Agent, &[Role::Agent])
}

fn ada() -> Principal {
    principal("ada", PrincipalKind::User, &[Role::Approver])
}

fn olga() -> Principal {
    principal("olga", PrincipalKind::Operator, &[Role::Operator])
}

const TOOLS: [&str; 9] = [
    "set_note.v1",
    "set_note_later.v1",
    "set_note_read.v1",
    "set_note_read_later.v1",
    "set_note_brief.v1",
    "set_note_again.v1",
    "set_note_brief_again.v1",
    "draft_note.v1",
    "set_note_looked_at.v1",
];

fn all_tools() -> OpenRun {
    OpenRun { tools: TOOLS.map(str::to_owned).to_vec(), ..OpenRun::default() }
}

async fn run(world: &World) -> RunId {
    world.handle.open_run(&agent(), all_tools()).await.unwrap().run.id
}

fn request(tool: &str, note: &str, text: &str) -> ProposeRequest {
    ProposeRequest {
        tool: tool.to_owned(),
        major: 1,
        arguments: json!({"id": note, "text": text}),
        based_on: Some(json!(1)),
        purpose: String::new(),
        supersedes: None,
        key: None,
    }
}

/// Proposes a change of a note at version 1, which is put there first.
async fn propose(world: &World, run: RunId, tool: &str, note: &str) -> OperationId {
    let proposed = world.handle.propose(run, &agent(), request(tool, note, "new")).await.unwrap();
    proposed.stored.operation.id()
}

async fn try_approve(world: &World, id: OperationId) -> Result<CommandDone, Box<Problem>> {
    let digest = world.handle.operation(id, &ada())?.operation.proposal.proposal_sha256;
    world.handle.command(id, Command::Approve { digest, note: None }, &ada()).await
}

async fn approve(world: &World, id: OperationId) {
    try_approve(world, id).await.unwrap();
}

async fn until(world: &World, id: OperationId, what: impl Fn(&Stored) -> bool) -> Arc<Stored> {
    let stored = world.handle.wait(id, &olga(), &what, LONG).await.unwrap();
    assert!(what(&stored), "not reached: {:?}", stored.operation);
    stored
}

async fn until_state(world: &World, id: OperationId, state: State) -> Arc<Stored> {
    until(world, id, |stored| stored.operation.state == state).await
}

fn waits_for(stored: &Stored, wait: &Wait) -> bool {
    stored.operation.wait.as_ref().is_some_and(|waiting| waiting.wait == *wait)
}

fn cancel() -> Command {
    Command::Cancel { reason: None }
}

//! Answers after their time.

use super::*;
use crate::domain::Code;
use crate::domain::operation::Effect;
use crate::domain::operation::command::{Resolution, StatusAnswer};
use crate::engine::testing::Behaviour;

async fn timed_out(world: &World, tool: &str, behaviour: Behaviour) -> OperationId {
    world.service.put("n", 1, "old");
    world.service.behave(behaviour);
    let id = propose(world, run(world).await, tool, "n").await;
    approve(world, id).await;
    until_state(world, id, State::Unknown).await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_after_the_deadline_settles_it() {
    let world = World::start();
    let id = timed_out(&world, "set_note_brief", Behaviour::Hangs).await;
    world.service.behave(Behaviour::Hangs);
    // The connection is kept for as long again: the answer is given at once.
    world.service.release();
    let done = until(&world, id, |s| s.operation.state != State::Unknown).await;
    assert_eq!((done.operation.state, done.operation.effect), (State::Succeeded, Effect::Applied));
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_after_failed_without_effect_opens_a_ticket_and_flips_no_state() {
    let world = World::start();
    let id = timed_out(&world, "set_note_brief", Behaviour::Hangs).await;
    let not_applied = Resolution::NotApplied { retry: false };
    let resolve = Command::Resolve { resolution: not_applied, note: "I looked".to_owned() };
    let done = world.handle.command(id, resolve, &olga()).await.unwrap();
    assert_eq!((done.stored.operation.state, done.stored.operation.effect), (State::Failed, Effect::None));
    let receipt = r#"{"note":"n","version":2}"#.to_owned();
    let late = StatusAnswer::Succeeded { receipt, new_version: None };
    world.handle.record_status(id, late.clone(), None).unwrap();
    let after = until(&world, id, |s| s.operation.effect == Effect::Applied).await;
    assert_eq!(after.operation.state, State::Failed);
    assert_eq!(after.operation.outcome.as_ref().unwrap().code, Some(Code::Unavailable));
    assert!(after.operation.needs_operator());
    world.handle.record_status(id, late, None).unwrap();
    world.handle.commit(id, &agent()).await.unwrap_err();
    let again = world.handle.operation(id, &olga()).unwrap();
    // The commit went through the writer after the second answer: it was looked at, and said nothing new.
    assert_eq!((again.operation.late.len(), again.operation.events), (1, after.operation.events));
    world.service.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_second_attempt_while_the_connection_of_the_first_is_open() {
    let world = World::start();
    let id = timed_out(&world, "set_note_brief_again", Behaviour::Silent).await;
    world.service.behave(Behaviour::Works);
    let resolution = Resolution::NotApplied { retry: true };
    let resolve = Command::Resolve { resolution, note: "I looked".to_owned() };
    world.handle.command(id, resolve, &olga()).await.unwrap();
    let second = |s: &Stored| s.operation.attempts.len() == 2 && s.operation.state != State::Executing;
    let done = until(&world, id, second).await;
    // The first had its effect: a version that has moved may be our own doing, and proves nothing.
    assert_eq!(done.operation.state, State::Unknown);
    assert_eq!((world.service.writes(), world.service.most_at_once()), (2, 1));
}

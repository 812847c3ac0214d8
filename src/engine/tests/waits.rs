//! What an approved write waits for, and that nobody waits for ever.

use std::sync::Arc;

use super::*;
use crate::domain::Code;
use crate::domain::operation::command::Resolution;
use crate::engine::Limits;
use crate::engine::testing::Behaviour;

/// A write on the note hangs, a second one waits for it.
async fn blocked(world: &World, tool: &str) -> (OperationId, OperationId) {
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Hangs);
    let run = run(world).await;
    let first = propose(world, run, "set_note_brief", "n").await;
    world.service.put("n", 1, "old");
    let second = propose(world, run, tool, "n").await;
    approve(world, first).await;
    until_state(world, first, State::Unknown).await;
    approve(world, second).await;
    (first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_writes_on_one_target_run_one_after_the_other() {
    let world = World::start();
    let (first, second) = blocked(&world, "set_note").await;
    until(&world, second, |s| waits_for(s, &Wait::TargetBusy(first))).await;
    assert_eq!(world.service.writes(), 1);
    world.service.behave(Behaviour::Works);
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    // The first has moved the version: the service refuses the second by it.
    let second = until_state(&world, second, State::Failed).await;
    assert_eq!(second.operation.outcome.as_ref().unwrap().code, Some(Code::VersionConflict));
    assert_eq!((world.service.writes(), world.service.ledger().len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocker_that_is_settled_by_an_operator_frees_its_target() {
    for abandon in [true, false] {
        let world = World::start();
        let (first, second) = blocked(&world, "set_note").await;
        until(&world, second, |s| waits_for(s, &Wait::TargetBusy(first))).await;
        world.service.behave(Behaviour::Works);
        let command = if abandon {
            Command::Abandon { reason: "gone".to_owned() }
        } else {
            let resolution = Resolution::Applied { receipt: None };
            Command::Resolve { resolution, note: "seen".to_owned() }
        };
        world.handle.command(first, command, &olga()).await.unwrap();
        until(&world, second, |s| s.operation.state.is_ended()).await;
        assert_eq!(world.service.writes(), 2);
        world.service.release();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_that_may_not_start_when_its_target_is_free_stops_nobody() {
    let world = World::start();
    let (first, second) = blocked(&world, "set_note").await;
    until(&world, second, |s| waits_for(s, &Wait::TargetBusy(first))).await;
    world.directory.ban("planner");
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    // The writer still answers, and the other was not executed.
    let done = world.handle.command(second, cancel(), &olga()).await.unwrap();
    assert_eq!(done.stored.operation.state, State::Cancelled);
    assert_eq!(world.service.writes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_commit_that_had_to_wait_goes_on_by_itself() {
    let world = World::start();
    let (first, second) = blocked(&world, "set_note_later").await;
    let refused = world.handle.commit(second, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::TargetBusy);
    assert!(
        refused.detail.contains(&first.to_string()),
        "its own operation: it may know: {}",
        refused.detail
    );
    world.service.behave(Behaviour::Works);
    world.service.release();
    until(&world, second, |s| s.operation.state.is_ended()).await;
    assert_eq!(world.service.writes(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_a_target_is_not_told_to_who_may_not_see_it() {
    let world = World::start();
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Hangs);
    let first = propose(&world, run(&world).await, "set_note", "n").await;
    world.service.put("n", 1, "old");
    let other = principal("other", PrincipalKind::Agent, &[Role::Agent]);
    let others = world.handle.open_run(&other, all_tools()).await.unwrap().run.id;
    let second = world.handle.propose(others, &other, request("set_note_later", "n", "x")).await.unwrap();
    let second = second.stored.operation.id();
    approve(&world, first).await;
    approve(&world, second).await;
    let refused = world.handle.commit(second, &other).await.unwrap_err();
    assert_eq!(refused.code, Code::TargetBusy);
    assert!(!refused.detail.contains("op_"), "{}", refused.detail);
    world.service.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_place_is_offered_until_somebody_takes_it() {
    let world = World::with(Limits { attempts: 1, ..Limits::default() }, |store| Arc::new(store));
    world.service.behave(Behaviour::Hangs);
    let run = run(&world).await;
    let mut ids = Vec::new();
    for note in ["a", "b", "c", "d"] {
        world.service.put(note, 1, "old");
        ids.push(propose(&world, run, "set_note", note).await);
    }
    for id in &ids {
        approve(&world, *id).await;
    }
    for id in &ids[1..] {
        until(&world, *id, |s| waits_for(s, &Wait::Limit)).await;
    }
    assert_eq!(world.service.writes(), 1);
    // The next in line has ended before its turn.
    world.handle.command(ids[1], cancel(), &agent()).await.unwrap();
    world.service.behave(Behaviour::Works);
    world.service.release();
    until_state(&world, ids[2], State::Succeeded).await;
    until_state(&world, ids[3], State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_back_off_ends_and_the_same_key_is_sent_again() {
    let world = World::start();
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Down);
    let id = propose(&world, run(&world).await, "set_note_again", "n").await;
    approve(&world, id).await;
    until(&world, id, |s| !s.operation.attempts.is_empty() && s.operation.state == State::Approved).await;
    world.service.behave(Behaviour::Works);
    let done = until(&world, id, |s| s.operation.state.is_ended()).await;
    assert_eq!(done.operation.state, State::Succeeded);
    assert_eq!(world.service.ledger(), [(done.operation.proposal.key.clone(), "n".to_owned())]);
}

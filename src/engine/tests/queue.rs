//! Many writes at one target: each in its turn, and a long queue costs no more than its length.

use super::*;
use crate::engine::Limits;
use crate::engine::testing::Behaviour;

/// Proposed, approved, waits, starts, ends; one that reads a version first may say once more that it waits for it.
const MOST_EVENTS: u32 = 6;

/// The first write on the note hangs in the world, and as many others wait behind it.
async fn queue(world: &World, tool: &str, waiters: usize) -> (OperationId, Vec<OperationId>) {
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Hangs);
    let run = run(world).await;
    let first = propose(world, run, "set_note", "n").await;
    let mut behind = Vec::new();
    for _ in 0..waiters {
        behind.push(propose(world, run, tool, "n").await);
    }
    approve(world, first).await;
    until(world, first, |s| s.operation.state == State::Executing).await;
    for id in &behind {
        approve(world, *id).await;
        until(world, *id, |s| waits_for(s, &Wait::TargetBusy(first))).await;
    }
    (first, behind)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_queue_is_worked_off_one_after_the_other() {
    for tool in ["set_note", "set_note_read"] {
        let world = World::start();
        let (first, behind) = queue(&world, tool, 40).await;
        world.service.behave(Behaviour::Works);
        world.service.release();
        until_state(&world, first, State::Succeeded).await;
        let mut ends = Vec::new();
        for id in &behind {
            let ended = until(&world, *id, |s| s.operation.state.is_ended()).await;
            assert!(ended.operation.events <= MOST_EVENTS, "{tool}: {:?}", ended.operation);
            ends.push(ended.operation.changed);
        }
        assert!(ends.is_sorted(), "{tool}: the oldest goes first: {ends:?}");
        assert_eq!(world.service.most_at_once(), 1, "{tool}");
        assert_eq!(world.service.ledger().len(), 1, "{tool}: all had seen the version before");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_take_its_turn_passes_it_on() {
    let world = World::start();
    let (first, behind) = queue(&world, "set_note", 5).await;
    world.handle.command(behind[0], cancel(), &agent()).await.unwrap();
    world.handle.command(behind[2], cancel(), &agent()).await.unwrap();
    world.service.behave(Behaviour::Works);
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    for id in [behind[1], behind[3], behind[4]] {
        until_state(&world, id, State::Failed).await;
    }
    assert_eq!(world.service.writes(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_survives_that_there_is_no_free_place() {
    let world = World::with(Limits { attempts: 1, ..Limits::default() }, |store| Arc::new(store));
    let (first, behind) = queue(&world, "set_note", 12).await;
    let run = run(&world).await;
    world.service.put("other", 1, "old");
    let mut others = Vec::new();
    for _ in 0..4 {
        let other = propose(&world, run, "set_note", "other").await;
        approve(&world, other).await;
        until(&world, other, |s| waits_for(s, &Wait::Limit)).await;
        others.push(other);
    }
    world.service.behave(Behaviour::Works);
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    for id in behind.iter().chain(&others) {
        let ended = until(&world, *id, |s| s.operation.state.is_ended()).await;
        assert!(ended.operation.events <= MOST_EVENTS, "{:?}", ended.operation);
    }
    assert_eq!(world.service.ledger().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_is_told_who_holds_the_target_now() {
    let world = World::start();
    let (first, behind) = queue(&world, "set_note", 2).await;
    let published = world.handle.published();
    let holder = |of: usize| {
        let stored = world.handle.operation(behind[of], &ada()).unwrap();
        published.holder(&stored.operation, first)
    };
    assert_eq!(holder(1), Some(first));
    // The next one hangs, too.
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    until_state(&world, behind[0], State::Executing).await;
    assert_eq!((holder(0), holder(1)), (None, Some(behind[0])));
    world.service.behave(Behaviour::Works);
    world.service.release();
    until(&world, behind[1], |s| s.operation.state.is_ended()).await;
    assert_eq!(holder(1), None);
}

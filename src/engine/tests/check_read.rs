//! Contracts whose target's version is read just before the attempt.

use super::*;
use crate::domain::{Code, Millis};

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_has_moved_ends_it_before_anything_is_sent() {
    for (tool, explicit) in [("set_note_read", false), ("set_note_read_later", true)] {
        let world = World::start();
        world.service.put("n", 1, "old");
        let id = propose(&world, run(&world).await, tool, "n").await;
        world.service.put("n", 2, "another");
        approve(&world, id).await;
        if explicit {
            world.handle.commit(id, &agent()).await.unwrap();
        }
        let failed = until_state(&world, id, State::Failed).await;
        let outcome = failed.operation.outcome.as_ref().unwrap();
        assert_eq!(
            (outcome.code, outcome.current_version.as_deref()),
            (Some(Code::VersionConflict), Some("2"))
        );
        assert!(failed.operation.attempts.is_empty(), "nothing is consumed");
        assert_eq!(world.service.writes(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_commit_executes_after_the_read() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note_read_later", "n").await;
    approve(&world, id).await;
    assert_eq!(world.handle.operation(id, &ada()).unwrap().operation.state, State::Approved);
    world.handle.commit(id, &agent()).await.unwrap();
    until_state(&world, id, State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_cannot_be_read_is_waited_for() {
    for (tool, explicit) in [("set_note_read", false), ("set_note_read_later", true)] {
        let world = World::start();
        world.service.put("n", 1, "old");
        let id = propose(&world, run(&world).await, tool, "n").await;
        world.service.unreadable(true);
        approve(&world, id).await;
        if explicit {
            world.handle.commit(id, &agent()).await.unwrap();
        }
        until(&world, id, |s| waits_for(s, &Wait::VersionUnavailable)).await;
        assert_eq!(world.service.writes(), 0);
        world.service.unreadable(false);
        until_state(&world, id, State::Succeeded).await;
        assert_eq!(world.service.ledger().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_another_write_overtook_is_made_again() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let of = run(&world).await;
    let first = propose(&world, of, "set_note", "n").await;
    let second = propose(&world, of, "set_note_read", "n").await;
    world.service.slow_reads(true);
    let reads = world.service.reads();
    approve(&world, second).await;
    while world.service.reads() == reads {
        tokio::task::yield_now().await;
    }
    // The read has seen version 1 and is on its way; meanwhile the other write moves it to 2.
    approve(&world, first).await;
    until_state(&world, first, State::Succeeded).await;
    world.service.slow_reads(false);
    world.service.release_read();
    let failed = until_state(&world, second, State::Failed).await;
    assert_eq!(failed.operation.outcome.as_ref().unwrap().code, Some(Code::VersionConflict));
    assert!(failed.operation.attempts.is_empty(), "no attempt began on the version that was");
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_commit_is_not_forgotten_when_the_daemon_dies_during_the_read() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note_read_later", "n").await;
    approve(&world, id).await;
    world.service.slow_reads(true);
    let done = world.handle.commit(id, &agent()).await.unwrap();
    assert!(done.stored.operation.wait.is_some(), "what is acknowledged is stored");
    world.service.slow_reads(false);
    let world = world.restart().await;
    until_state(&world, id, State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_commit_after_its_time_is_told_so_and_reads_nothing() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note_read_later", "n").await;
    approve(&world, id).await;
    let reads = world.service.reads();
    world.clock.forward(Millis::secs(601));
    let refused = world.handle.commit(id, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::ApprovalExpired);
    assert_eq!(world.handle.operation(id, &ada()).unwrap().operation.state, State::Expired);
    assert_eq!((world.service.reads(), world.service.writes()), (reads, 0));
}

//! A stop starts nothing, and loses nothing.

use super::*;
use crate::domain::Code;
use crate::domain::operation::Loss;
use crate::engine::Limits;
use crate::engine::message::Message;
use crate::engine::testing::Behaviour;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_while_it_stops_is_started_by_the_next_daemon() {
    let world = World::start();
    for note in ["n", "m"] {
        world.service.put(note, 1, "old");
    }
    let run = run(&world).await;
    let by_itself = propose(&world, run, "set_note", "n").await;
    let by_hand = propose(&world, run, "set_note_later", "m").await;
    world.handle.send(Message::Drain).unwrap();
    approve(&world, by_itself).await;
    approve(&world, by_hand).await;
    let refused = world.handle.commit(by_hand, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    for id in [by_itself, by_hand] {
        let stored = world.handle.operation(id, &olga()).unwrap();
        assert_eq!(stored.operation.state, State::Approved, "no intent is stored while it stops");
    }
    let world = world.restart().await;
    assert_eq!(world.report.lost, 0);
    until_state(&world, by_itself, State::Succeeded).await;
    world.handle.commit(by_hand, &agent()).await.unwrap();
    until_state(&world, by_hand, State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_while_it_stops_is_stored() {
    let world = World::start();
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Hangs);
    let id = propose(&world, run(&world).await, "set_note", "n").await;
    approve(&world, id).await;
    while world.service.writes() == 0 {
        tokio::task::yield_now().await;
    }
    world.service.release();
    let world = world.restart().await;
    let stored = world.handle.operation(id, &olga()).unwrap();
    assert_eq!((stored.operation.state, world.report.lost), (State::Succeeded, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_that_is_lost_at_the_stop_is_unknown_after_it() {
    let limits = Limits { grace: Duration::from_millis(1), ..Limits::default() };
    let world = World::with(limits, |store| Arc::new(store));
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::Hangs);
    let id = propose(&world, run(&world).await, "set_note", "n").await;
    approve(&world, id).await;
    while world.service.writes() == 0 {
        tokio::task::yield_now().await;
    }
    let world = world.restart().await;
    let stored = world.handle.operation(id, &olga()).unwrap();
    assert_eq!((stored.operation.state, world.report.lost), (State::Unknown, 1));
    assert_eq!(stored.operation.doubt.as_ref().unwrap().cause, Loss::Restarted);
    assert_eq!((world.service.writes(), world.service.ledger().len()), (1, 1));
}

//! Clicks that race: each other, and the clock.

use super::*;
use crate::domain::operation::{EventKind, Verdict};
use crate::domain::{Code, Millis, Time};

#[tokio::test(flavor = "multi_thread")]
async fn the_last_millisecond_counts_and_a_late_denial_stays_one() {
    for (late_by, approved) in [(-1, true), (0, false), (1, false)] {
        let world = World::start();
        world.service.put("n", 1, "old");
        let id = propose(&world, run(&world).await, "set_note_later", "n").await;
        let decide_by = world.handle.operation(id, &ada()).unwrap().operation.proposal.decide_by;
        world.clock.set(Time::from_millis(decide_by.as_millis() + late_by));
        let answer = try_approve(&world, id).await;
        assert_eq!(answer.is_ok(), approved);
        if !approved {
            assert_eq!(answer.unwrap_err().code, Code::ProposalExpired);
            world.clock.set(decide_by.plus(Millis::secs(1)));
            for _ in 0..20 {
                let deny = Command::Deny { reason: "no".to_owned(), last: false };
                world.handle.command(id, deny, &ada()).await.unwrap();
            }
            let stored = world.handle.operation(id, &ada()).unwrap();
            assert_eq!(stored.operation.state, State::Expired);
            let verdicts: Vec<_> = stored.operation.decisions.iter().map(|d| (d.verdict, d.void)).collect();
            assert_eq!(
                verdicts,
                [(Verdict::Approve, true), (Verdict::Deny, true)],
                "repeats say nothing new"
            );
        }
        assert_eq!(world.service.writes(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sweeper_and_click_give_one_end_a_thousand_times() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let proposals = (0..1_000).map(|_| propose(&world, run, "set_note_later", "n"));
    let ids = futures_join(proposals).await;
    let clocks =
        ids.iter().map(|id| world.handle.operation(*id, &ada()).unwrap().operation.proposal.decide_by);
    let mut clocks: Vec<_> = clocks.collect();
    clocks.sort();
    // In the middle of them: some clicks are in time, and the sweeper runs beside them.
    world.clock.set(clocks[500]);
    let answers = futures_join(ids.iter().map(|id| try_approve(&world, *id))).await;
    world.clock.set(clocks[999]);
    for (id, answer) in ids.iter().zip(answers) {
        let state = if answer.is_ok() { State::Approved } else { State::Expired };
        let stored = until_state(&world, *id, state).await;
        let history = world.handle.history(*id, &ada()).unwrap();
        let count = |kind: EventKind| history.iter().filter(|entry| entry.name == kind.as_str()).count();
        assert_eq!(count(EventKind::Expired) + count(EventKind::Approved), 1, "{:?}", stored.operation);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_clicks_are_one_decision_and_one_effect() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note", "n").await;
    let answers = futures_join((0..20).map(|_| try_approve(&world, id))).await;
    assert!(answers.iter().all(Result::is_ok), "losers are told what is true, as no error");
    let done = until_state(&world, id, State::Succeeded).await;
    assert_eq!((done.operation.decisions.len(), world.service.ledger().len()), (1, 1));
}

async fn futures_join<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        let mut all = true;
        for (future, done) in pending.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            match future.as_mut().poll(cx) {
                std::task::Poll::Ready(value) => *done = Some(value),
                std::task::Poll::Pending => all = false,
            }
        }
        if all { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().map(Option::unwrap).collect()
}

//! A store that fails at every commit of an operation's life, in every way that leaves the daemon alive.

use std::sync::Arc;

use super::*;
use crate::domain::operation::invariants::check;
use crate::domain::{Code, Time};
use crate::engine::Limits;
use crate::store::faulty::{Fault, Faulty, Plan};

const FAULTS: [Fault; 6] = [
    Fault::NotWritten,
    Fault::Full,
    Fault::FullInDoubt { written: false },
    Fault::FullInDoubt { written: true },
    Fault::MayBeWritten { written: false },
    Fault::MayBeWritten { written: true },
];

fn world(call: u64, fault: Fault) -> World {
    let plan = Plan::default().commit(call, fault);
    World::with(Limits::default(), |store| Arc::new(Faulty::new(store, plan)))
}

/// A client that asks again with the same key until it is answered, as the refusal says.
async fn persistent(world: &World, told: &mut Vec<OperationId>) -> OperationId {
    let open = || OpenRun { key: Some("run".to_owned()), ..all_tools() };
    let run = loop {
        match world.handle.open_run(&agent(), open()).await {
            Ok(opened) => break opened.run.id,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let request = || ProposeRequest { key: Some("k".to_owned()), ..request("set_note_again", "n", "new") };
    let id = loop {
        match world.handle.propose(run, &agent(), request()).await {
            Ok(proposed) => break proposed.stored.operation.id(),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    told.push(id);
    while try_approve(world, id).await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_commit_fails_there_is_one_effect_and_nothing_acknowledged_is_lost() {
    for fault in FAULTS {
        for call in 1..=6 {
            let world = world(call, fault);
            world.service.put("n", 1, "old");
            let mut told = Vec::new();
            let id = persistent(&world, &mut told).await;
            let done = until(&world, id, |s| s.operation.state.is_ended()).await;
            let case = format!("{fault:?} at {call}: {:?}", done.operation);
            assert_eq!(done.operation.state, State::Succeeded, "{case}");
            let ledger = world.service.ledger();
            assert_eq!(ledger, [(done.operation.proposal.key.clone(), "n".to_owned())], "{case}");
            assert_eq!(world.service.writes(), 1, "{case}");
            assert_eq!(check(&done.operation, None::<Time>), [], "{case}");
            let history = world.handle.history(id, &olga()).unwrap();
            assert_eq!(history.len(), done.operation.events as usize, "{case}");
            assert!(history.iter().zip(1..).all(|(entry, n)| entry.number == n), "{case}");
            // What was told is there after a start.
            let world = world.restart().await;
            for id in told {
                assert_eq!(world.handle.operation(id, &olga()).unwrap().operation, done.operation, "{case}");
            }
            assert_eq!(world.report.lost, 0, "{case}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_of_the_space_is_for_outcomes() {
    let mut kept = None;
    let world = World::with(Limits::default(), |store| {
        let store = Arc::new(Faulty::new(store, Plan::default()));
        kept = Some(Arc::clone(&store));
        store
    });
    let store = kept.unwrap();
    world.service.put("n", 1, "old");
    let open = || OpenRun { key: Some("run".to_owned()), ..all_tools() };
    let run = world.handle.open_run(&agent(), open()).await.unwrap().run;
    let id = propose(&world, run.id, "set_note", "n").await;
    store.low(true);
    let commits = store.commits();
    for refused in [
        world.handle.open_run(&agent(), all_tools()).await.map(|_| ()),
        world.handle.propose(run.id, &agent(), request("set_note", "n", "x")).await.map(|_| ()),
    ] {
        assert_eq!(refused.unwrap_err().code, Code::StorageFull);
    }
    let again = world.handle.open_run(&agent(), open()).await.unwrap();
    assert!(again.secret.is_none(), "a repeat is answered all the same, without a token");
    assert_eq!(store.commits(), commits, "nothing was written for them");
    approve(&world, id).await;
    until_state(&world, id, State::Succeeded).await;
    store.low(false);
    world.handle.open_run(&agent(), all_tools()).await.unwrap();
}

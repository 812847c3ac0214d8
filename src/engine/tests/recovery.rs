//! N starts are one start, and a start sends nothing.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::domain::operation::Loss;
use crate::engine::Limits;
use crate::engine::testing::Behaviour;
use crate::store::records::{Records, keys};
use crate::store::{Batch, Record, codec};

const KINDS: [&str; 5] = ["proposed", "waiting", "executing", "blocked", "cancelled"];

fn abrupt() -> World {
    World::with(Limits { grace: Duration::ZERO, ..Limits::default() }, |store| Arc::new(store))
}

/// Operations in mixed states; those that execute never get their answer.
async fn mixed(world: &World, each: usize) -> Vec<OperationId> {
    let run = run(world).await;
    let mut ids = Vec::new();
    world.service.behave(Behaviour::Hangs);
    for n in 0..each {
        for kind in KINDS {
            let note = if kind == "blocked" { format!("executing-{n}") } else { format!("{kind}-{n}") };
            world.service.put(&note, 1, "old");
            let tool = if kind == "waiting" { "set_note_later" } else { "set_note" };
            let id = propose(world, run, tool, &note).await;
            ids.push(id);
        }
        // Everything is proposed on what was read before anything is executed.
        let mine = ids[ids.len() - KINDS.len()..].to_vec();
        for (kind, id) in KINDS.into_iter().zip(mine) {
            match kind {
                "proposed" => {}
                "cancelled" => drop(world.handle.command(id, cancel(), &agent()).await.unwrap()),
                _ => approve(world, id).await,
            }
        }
    }
    ids
}

fn picture(world: &World, ids: &[OperationId]) -> Vec<Arc<Stored>> {
    ids.iter().map(|id| world.handle.operation(*id, &olga()).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_starts_are_one_start() {
    let world = abrupt();
    let ids = mixed(&world, 40).await;
    for id in ids.iter().skip(2).step_by(5) {
        until_state(&world, *id, State::Executing).await;
    }
    let writes = world.service.writes();
    let mut world = world.restart().await;
    assert_eq!((world.report.open, world.report.lost), (160, 40));
    // A member through the writer: everything that the start queued has been looked at.
    run(&world).await;
    let first = picture(&world, &ids);
    for stored in first.iter().skip(2).step_by(5) {
        assert_eq!(stored.operation.state, State::Unknown);
        assert_eq!(stored.operation.doubt.as_ref().unwrap().cause, Loss::Restarted);
    }
    for _ in 0..4 {
        world = world.restart().await;
        assert_eq!((world.report.open, world.report.lost), (160, 0));
        run(&world).await;
        assert_eq!(picture(&world, &ids), first, "nothing has happened to any of them");
    }
    assert_eq!(world.service.writes(), writes, "a start sends nothing");
    let again = ids[3];
    until(&world, again, |s| waits_for(s, &Wait::TargetBusy(ids[2]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_keeps_its_target_busy_and_hides_no_other() {
    let world = abrupt();
    world.service.put("n", 1, "old");
    world.service.put("other", 1, "old");
    let run = run(&world).await;
    let damaged = propose(&world, run, "set_note", "n").await;
    let same = propose(&world, run, "set_note", "n").await;
    let other = propose(&world, run, "set_note", "other").await;
    let record = Record { version: 1, payload: b"not an operation".to_vec() };
    world.store.commit(&Batch::default().put(keys::open(damaged), record)).unwrap();
    let world = world.restart().await;
    assert_eq!(world.report.quarantined.len(), 1);
    assert_eq!(world.report.quarantined[0].id, damaged);
    approve(&world, same).await;
    approve(&world, other).await;
    until_state(&world, other, State::Succeeded).await;
    until(&world, same, |s| waits_for(s, &Wait::TargetBusy(damaged))).await;
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_restore_releases_the_imported_and_not_what_cannot_be_read() {
    for damaged in [false, true] {
        let world = abrupt();
        world.service.put("n", 1, "old");
        world.service.put("other", 1, "old");
        let run = run(&world).await;
        let lost = propose(&world, run, "set_note", "n").await;
        let other = propose(&world, run, "set_note", "other").await;
        let records = Records(world.store.as_ref());
        let (mut meta, version) = records.meta().unwrap();
        meta.held = true;
        let held = Record { version: version + 1, payload: codec::encode(&meta).unwrap() };
        let mut batch = Batch::default().put(keys::meta(), held);
        if damaged {
            // Neither its record nor the journal says any more what it was about.
            let garbage = || Record { version: 9, payload: b"garbage".to_vec() };
            let page = world.handle.history(lost, &olga()).unwrap()[0].seq;
            batch = batch.put(keys::open(lost), garbage()).put(keys::page(page), garbage());
        }
        world.store.commit(&batch).unwrap();
        let world = world.restart().await;
        assert!(world.report.held);
        approve(&world, other).await;
        until(&world, other, |s| s.operation.wait.is_some()).await;
        world.handle.accept_restore(&agent()).await.unwrap_err();
        world.handle.accept_restore(&olga()).await.unwrap();
        if damaged {
            // A member after it: whatever the acceptance queued has been looked at.
            assert!(try_approve(&world, lost).await.is_err());
            run_again(&world).await;
            let stored = world.handle.operation(other, &olga()).unwrap();
            assert_eq!((stored.operation.state, world.service.writes()), (State::Approved, 0));
        } else {
            until_state(&world, other, State::Succeeded).await;
            assert_eq!(world.service.ledger().len(), 1);
        }
    }
}

/// A member through the writer.
async fn run_again(world: &World) {
    run(world).await;
}

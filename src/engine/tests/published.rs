//! Readers see what was synced, and nothing before.

use super::*;
use crate::domain::Code;
use crate::domain::run::RunEnd;
use crate::engine::Limits;
use crate::store::faulty::{Fault, Faulty, Plan};
use crate::store::sled::SledStore;

/// A world whose commit number `call` is in the store and not yet reported as synced until it is let go.
fn held(call: u64) -> (World, Arc<Faulty<SledStore>>) {
    let mut kept = None;
    let world = World::with(Limits::default(), |store| {
        let faulty = Arc::new(Faulty::new(store, Plan::default().commit(call, Fault::Held)));
        kept = Some(Arc::clone(&faulty));
        faulty
    });
    (world, kept.unwrap())
}

async fn until_held(store: &Faulty<SledStore>) {
    while !store.holds() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_when_its_opening_is_synced() {
    let (world, store) = held(1);
    let handle = world.handle.clone();
    let opened = tokio::spawn(async move { handle.open_run(&agent(), all_tools()).await.unwrap().run.id });
    until_held(&store).await;
    let rows = world.store.scan(&crate::store::Range::prefix(&crate::store::records::keys::space(b'r')), 9);
    let (key, _) = rows.unwrap().remove(0);
    let id = RunId::from_u128(u128::from_be_bytes(key.as_bytes()[1..].try_into().unwrap()));
    assert_eq!(world.handle.run(id, &agent()).unwrap_err().code, Code::NotFound);
    store.let_go();
    assert_eq!(opened.await.unwrap(), id);
    assert!(world.handle.run(id, &agent()).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_as_open_until_its_cancellation_is_synced() {
    let (world, store) = held(2);
    let id = run(&world).await;
    let handle = world.handle.clone();
    let cancelled = tokio::spawn(async move { handle.cancel_run(id, &agent()).await.unwrap() });
    until_held(&store).await;
    assert!(world.handle.run(id, &agent()).unwrap().ended.is_none());
    store.let_go();
    assert!(matches!(cancelled.await.unwrap().ended, Some((_, RunEnd::Cancelled))));
    assert!(world.handle.run(id, &agent()).unwrap().ended.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_shown_as_it_was_until_the_next_version_is_synced() {
    // Run, proposal, then the approval.
    let (world, store) = held(3);
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note_later", "n").await;
    let before = world.handle.operation(id, &ada()).unwrap();
    let (handle, digest) = (world.handle.clone(), before.operation.proposal.proposal_sha256);
    let approved = tokio::spawn(async move {
        handle.command(id, Command::Approve { digest, note: None }, &ada()).await.unwrap()
    });
    until_held(&store).await;
    assert_eq!(world.handle.operation(id, &ada()).unwrap(), before);
    assert_eq!(world.handle.history(id, &ada()).unwrap().len(), 1);
    store.let_go();
    assert_eq!(approved.await.unwrap().stored.operation.state, State::Approved);
    assert_eq!(world.handle.operation(id, &ada()).unwrap().operation.state, State::Approved);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_and_went_away_leaves_nothing_behind() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "set_note_later", "n").await;
    for _ in 0..50 {
        world
            .handle
            .wait(id, &ada(), |stored| stored.operation.state == State::Proposed, LONG)
            .await
            .unwrap();
        world.handle.wait(id, &ada(), |_| false, Duration::ZERO).await.unwrap();
    }
    assert!(world.handle.published().waiting() <= 1, "{}", world.handle.published().waiting());
}

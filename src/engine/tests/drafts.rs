//! Drafts: nobody decides about them, and everything else of a write holds.

use super::*;
use crate::domain::operation::EventKind;
use crate::domain::operation::WriteClass;
use crate::engine::testing::Behaviour;

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_executed_without_an_approval() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let id = propose(&world, run(&world).await, "draft_note", "n").await;
    let done = until_state(&world, id, State::Succeeded).await;
    assert_eq!(done.operation.proposal.rules.class, WriteClass::Draft);
    assert_eq!((done.operation.requirement().persons(), done.operation.approvals().count()), (0, 0));
    let by = &done.operation.decisions[0].by.name;
    assert!(by.starts_with("policy:"), "the rules that allow it are the decision: {by}");
    let names: Vec<_> =
        world.handle.history(id, &olga()).unwrap().into_iter().map(|entry| entry.name).collect();
    let wanted =
        [EventKind::Proposed, EventKind::Admitted, EventKind::ExecutionStarted, EventKind::Succeeded];
    assert_eq!(names, wanted.map(EventKind::as_str));
    assert_eq!(world.service.ledger().len(), 1);
    let again = try_approve(&world, id).await.unwrap();
    assert!(matches!(again.answer, crate::domain::operation::Answer::Already(_)), "{:?}", again.answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_draft_is_the_same_draft() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let of = run(&world).await;
    let draft = || ProposeRequest { key: Some("k".to_owned()), ..request("draft_note", "n", "new") };
    let first = world.handle.propose(of, &agent(), draft()).await.unwrap();
    until_state(&world, first.stored.operation.id(), State::Succeeded).await;
    let second = world.handle.propose(of, &agent(), draft()).await.unwrap();
    assert!(second.replayed);
    assert_eq!(second.stored.operation.id(), first.stored.operation.id());
    assert_eq!((world.service.writes(), world.service.ledger().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_waits_for_an_unknown_write_on_its_target_and_a_lost_draft_is_unknown() {
    let world = World::start();
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::LosesAnswers);
    let of = run(&world).await;
    let lost = propose(&world, of, "draft_note", "n").await;
    until_state(&world, lost, State::Unknown).await;
    world.service.behave(Behaviour::Works);
    let next = ProposeRequest { based_on: Some(json!(2)), ..request("draft_note", "n", "x") };
    let next = world.handle.propose(of, &agent(), next).await.unwrap().stored.operation.id();
    until(&world, next, |s| waits_for(s, &Wait::TargetBusy(lost))).await;
    assert_eq!(world.service.writes(), 1);
    let world = world.restart().await;
    let waiting = world.handle.operation(next, &olga()).unwrap();
    assert_eq!((waiting.operation.state, world.service.writes()), (State::Approved, 1));
}

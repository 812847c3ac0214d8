//! Policies that change, pauses, and denials for good.

use super::*;
use crate::domain::Code;
use crate::domain::operation::Requirement;
use crate::domain::pause::PauseScope;

fn bob() -> Principal {
    principal("bob", PrincipalKind::User, &[Role::Approver])
}

async fn note(world: &World, tool: &str) -> OperationId {
    world.service.put("n", 1, "old");
    let run = run(world).await;
    propose(world, run, tool, "n").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_became_stricter_is_met_at_the_claim() {
    let world = World::start();
    let id = note(&world, "set_note_later").await;
    approve(&world, id).await;
    world.policy.asks(Requirement::of(2));
    let refused = world.handle.commit(id, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::PolicyChanged, "{refused:?}");
    let waits = world.handle.operation(id, &ada()).unwrap();
    assert_eq!((waits.operation.state, waits.operation.approvals().count()), (State::Proposed, 1));
    assert_eq!(world.service.writes(), 0);
    let digest = waits.operation.proposal.proposal_sha256;
    world.handle.command(id, Command::Approve { digest, note: None }, &bob()).await.unwrap();
    world.handle.commit(id, &agent()).await.unwrap();
    until_state(&world, id, State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_policy_denies_is_not_stored() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    world.policy.denies("friday", "nobody writes on Fridays");
    let refused = world.handle.propose(run, &agent(), request("set_note", "n", "new")).await.unwrap_err();
    assert_eq!(refused.code, Code::Denied);
    assert!(refused.detail.contains("nobody writes on Fridays"), "{}", refused.detail);
    assert!(world.handle.published().open().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_waits_at_the_claim_and_goes_on() {
    for (scope, name) in [
        (PauseScope::Tool, "set_note"),
        (PauseScope::Tool, "set_note.v1"),
        (PauseScope::Tenant, "default"),
        (PauseScope::Adapter, "notes"),
    ] {
        let world = World::start();
        let id = note(&world, "set_note").await;
        let reason = "it misbehaves".to_owned();
        let paused = world.handle.pause(&olga(), scope, name.to_owned(), reason).await.unwrap();
        assert_eq!(paused.len(), 1);
        approve(&world, id).await;
        let waits = |s: &Stored| {
            s.operation.wait.as_ref().is_some_and(|waiting| matches!(&waiting.wait, Wait::Paused(_)))
        };
        until(&world, id, waits).await;
        // A pause is nothing of memory.
        let world = world.restart().await;
        until(&world, id, waits).await;
        assert_eq!(world.service.writes(), 0, "{scope:?} {name}");
        let left = world.handle.resume(&olga(), scope, name.to_owned()).await.unwrap();
        assert!(left.is_empty());
        until_state(&world, id, State::Succeeded).await;
        assert_eq!(world.service.ledger().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_operators_pause_and_only_their_own_tenant() {
    let world = World::start();
    let pause = |by: Principal, scope, name: &str| {
        let (name, handle) = (name.to_owned(), world.handle.clone());
        async move { handle.pause(&by, scope, name, "so".to_owned()).await.map(|_| ()) }
    };
    for by in [agent(), ada()] {
        let refused = pause(by, PauseScope::Tool, "set_note").await.unwrap_err();
        assert_eq!(refused.code, Code::PermissionDenied);
    }
    let refused = pause(olga(), PauseScope::Tenant, "other").await.unwrap_err();
    assert_eq!(refused.code, Code::PermissionDenied);
    let root = principal("root", PrincipalKind::Operator, &[Role::Admin]);
    pause(root.clone(), PauseScope::Tenant, "other").await.unwrap();
    assert_eq!(world.handle.pauses(&root).await.unwrap().len(), 1);
    assert!(
        world.handle.pauses(&olga()).await.unwrap().is_empty(),
        "another tenant is none of their business"
    );
    let nothing = world.handle.resume(&olga(), PauseScope::Tool, "set_note".to_owned()).await.unwrap_err();
    assert_eq!(nothing.code, Code::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_denied_for_good_is_not_proposed_again() {
    let world = World::start();
    let id = note(&world, "set_note").await;
    let last = Command::Deny { reason: "never this".to_owned(), last: true };
    world.handle.command(id, last.clone(), &ada()).await.unwrap();
    let world = world.restart().await;
    let run = run(&world).await;
    world.service.put("n", 1, "old");
    for key in [None, Some("another".to_owned())] {
        let again = ProposeRequest { key, ..request("set_note", "n", "new") };
        let refused = world.handle.propose(run, &agent(), again).await.unwrap_err();
        assert_eq!(refused.code, Code::Denied);
        assert!(refused.detail.contains("never this"), "{}", refused.detail);
    }
    // Another text is another write.
    let other = world.handle.propose(run, &agent(), request("set_note", "n", "other")).await.unwrap();
    approve(&world, other.stored.operation.id()).await;
    until_state(&world, other.stored.operation.id(), State::Succeeded).await;
    let late = world.handle.command(other.stored.operation.id(), last, &ada()).await.unwrap_err();
    assert_eq!(late.code, Code::InvalidTransition);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_is_gone_keeps_an_approved_write_from_starting() {
    let world = World::start();
    let id = note(&world, "set_note_later").await;
    approve(&world, id).await;
    world.directory.ban("planner set_note_later.v1");
    let refused = world.handle.commit(id, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::PermissionDenied);
    assert_eq!(world.service.writes(), 0);
    let open = OpenRun { tools: vec!["set_note_later.v1".to_owned()], ..OpenRun::default() };
    let refused = world.handle.open_run(&agent(), open).await.unwrap_err();
    assert_eq!((refused.code, refused.pointer.as_deref()), (Code::PermissionDenied, Some("/tools/0")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stricter_policy_still_asks_no_name_of_the_requesters_account() {
    let world = World::start();
    world.directory.one_account(&["bob"]);
    let id = note(&world, "set_note_later").await;
    approve(&world, id).await;
    world.policy.asks(Requirement::of(2));
    let refused = world.handle.commit(id, &agent()).await.unwrap_err();
    assert_eq!(refused.code, Code::PolicyChanged);
    let digest = world.handle.operation(id, &ada()).unwrap().operation.proposal.proposal_sha256;
    let by_bob = world.handle.command(id, Command::Approve { digest, note: None }, &bob()).await.unwrap_err();
    assert_eq!(by_bob.code, Code::ApproverNotAuthorized);
    assert_eq!(world.service.writes(), 0);
}

//! Our own API's keys.

use super::*;
use crate::domain::{Code, Digest};

fn keyed(key: &str, text: &str) -> ProposeRequest {
    ProposeRequest { key: Some(key.to_owned()), ..request("set_note", "n", text) }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_twins_are_one_operation_and_the_others_are_told_so() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let mut twins = tokio::task::JoinSet::new();
    for n in 0..50 {
        let handle = world.handle.clone();
        let text = if n % 2 == 0 { "A" } else { "B" };
        twins.spawn(async move { handle.propose(run, &agent(), keyed("k", text)).await });
    }
    let answers = twins.join_all().await;
    let stored: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    let first = stored[0].stored.operation.id();
    assert!(stored.iter().all(|proposed| proposed.stored.operation.id() == first));
    assert_eq!(stored.len(), 25);
    assert_eq!(stored.iter().filter(|proposed| !proposed.replayed).count(), 1);
    let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert_eq!(refused.len(), 25);
    for problem in refused {
        assert_eq!(problem.code, Code::IdempotencyConflict);
    }
    assert_eq!(world.handle.open_operations(&olga()).len(), 1);
    approve(&world, first).await;
    until_state(&world, first, State::Succeeded).await;
    let text = if stored[0].stored.operation.proposal.arguments_sha256 == arguments("A") { "A" } else { "B" };
    // After the end, and although the version has moved: the stored result, or the conflict.
    let again = world.handle.propose(run, &agent(), keyed("k", text)).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.stored.operation.state, State::Succeeded);
    let other = if text == "A" { "B" } else { "A" };
    let conflict = world.handle.propose(run, &agent(), keyed("k", other)).await.unwrap_err();
    assert_eq!(conflict.code, Code::IdempotencyConflict);
    for text in ["A", "B"] {
        assert!(conflict.detail.contains(&arguments(text).to_string()), "{}", conflict.detail);
    }
    assert_eq!(world.service.ledger().len(), 1);
}

fn arguments(text: &str) -> Digest {
    Digest::of(format!(r#"{{"id":"n","text":"{text}"}}"#).as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_counts_within_its_principal_and_run() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let other = principal("other", PrincipalKind::Agent, &[Role::Agent]);
    let (one, two) = (run(&world).await, run(&world).await);
    let three = world.handle.open_run(&other, all_tools()).await.unwrap().run.id;
    let mut ids = std::collections::BTreeSet::new();
    for (run, by) in [(one, agent()), (two, agent()), (three, other)] {
        let proposed = world.handle.propose(run, &by, keyed("k", "A")).await.unwrap();
        assert!(!proposed.replayed);
        ids.insert(proposed.stored.operation.id());
    }
    assert_eq!(ids.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_has_a_length() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let long = world.handle.propose(run, &agent(), keyed(&"k".repeat(256), "A")).await.unwrap_err();
    assert_eq!((long.code, long.pointer.as_deref()), (Code::InvalidArgument, Some("/Idempotency-Key")));
    world.handle.propose(run, &agent(), keyed(&"k".repeat(255), "A")).await.unwrap();
}

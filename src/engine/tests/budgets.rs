//! Budgets at the claim: what was taken counts over a restart, and while an outcome is unknown.

use super::*;
use crate::domain::Millis;
use crate::domain::budget::{Budget, Per};
use crate::engine::testing::Behaviour;

fn one_in_a_minute(world: &World) {
    world.directory.budget(Budget {
        name: "notes".to_owned(),
        tool: "set_*".to_owned(),
        argument: None,
        window: Millis::secs(60),
        max: 1,
        per: Per::Tenant,
    });
}

fn waits(stored: &Stored) -> bool {
    waits_for(stored, &Wait::Budget("notes".to_owned()))
}

/// Two writes on two notes, proposed.
async fn two(world: &World, tool: &str) -> (OperationId, OperationId) {
    let run = run(world).await;
    world.service.put("a", 1, "old");
    world.service.put("b", 1, "old");
    (propose(world, run, tool, "a").await, propose(world, run, tool, "b").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_counts_in_its_window_and_over_a_restart() {
    let world = World::start();
    one_in_a_minute(&world);
    let (first, second) = two(&world, "set_note").await;
    approve(&world, first).await;
    until_state(&world, first, State::Succeeded).await;
    let world = world.restart().await;
    approve(&world, second).await;
    until(&world, second, waits).await;
    assert_eq!(world.service.writes(), 1);
    world.clock.forward(Millis::secs(61));
    until_state(&world, second, State::Succeeded).await;
    assert_eq!(world.service.ledger().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_keeps_its_amount_until_it_is_settled() {
    let world = World::start();
    one_in_a_minute(&world);
    let (first, second) = two(&world, "set_note_brief").await;
    world.service.behave(Behaviour::Hangs);
    approve(&world, first).await;
    until_state(&world, first, State::Unknown).await;
    approve(&world, second).await;
    until(&world, second, waits).await;
    world.clock.forward(Millis::secs(120));
    // The clock of its budget has passed; the writer has answered since, and nothing was sent.
    world.handle.command(first, Command::Tick, &olga()).await.unwrap();
    assert!(waits(&world.handle.operation(second, &ada()).unwrap()));
    assert_eq!(world.service.writes(), 1);
    world.service.behave(Behaviour::Works);
    world.service.release();
    until_state(&world, first, State::Succeeded).await;
    world.clock.forward(Millis::secs(61));
    until_state(&world, second, State::Succeeded).await;
}

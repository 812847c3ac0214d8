//! The independent read after a success.

use super::*;
use crate::domain::operation::Readback;
use crate::domain::operation::command::StatusAnswer;
use crate::engine::testing::Behaviour;

fn saw(stored: &Stored) -> Option<Readback> {
    stored.operation.outcome.as_ref().unwrap().readback.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_sees_is_stored_with_the_success() {
    for readable in [true, false] {
        let world = World::start();
        world.service.put("n", 1, "old");
        let id = propose(&world, run(&world).await, "set_note_looked_at", "n").await;
        world.service.unreadable(!readable);
        approve(&world, id).await;
        // The first version that shows the success shows the read too.
        let done = until_state(&world, id, State::Succeeded).await;
        match saw(&done) {
            Some(Readback::Agrees) => assert!(readable),
            Some(Readback::Unavailable(_)) => assert!(!readable),
            other => panic!("{other:?}"),
        }
        assert!(!done.operation.needs_operator());
        let world = world.restart().await;
        assert_eq!(saw(&world.handle.operation(id, &olga()).unwrap()), saw(&done));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_opens_a_ticket_and_flips_no_state() {
    let world = World::start();
    world.service.put("n", 1, "old");
    world.service.behave(Behaviour::LosesAnswers);
    let id = propose(&world, run(&world).await, "set_note_looked_at", "n").await;
    approve(&world, id).await;
    until_state(&world, id, State::Unknown).await;
    // Somebody else has written since; the status protocol tells of the success.
    world.service.put("n", 3, "another");
    let stored = world.handle.operation(id, &olga()).unwrap();
    let tool = world.handle.tool_of(&stored.operation.proposal).unwrap();
    let receipt = r#"{"note":"n","version":2}"#.to_owned();
    let arguments = world.handle.body(id).unwrap().arguments;
    let found = world.handle.read_back(&stored.operation.proposal, tool.as_ref(), &arguments, &receipt).await;
    assert_eq!(found, Some(Readback::Differs(vec!["/text".to_owned()])));
    world.handle.record_status(id, StatusAnswer::Succeeded { receipt, new_version: None }, found).unwrap();
    let done = until_state(&world, id, State::Succeeded).await;
    assert_eq!(saw(&done), Some(Readback::Differs(vec!["/text".to_owned()])));
    assert!(done.operation.needs_operator());
    assert_eq!(world.service.ledger().len(), 1);
}

//! Nothing starts in a run that has ended.

use super::*;
use crate::domain::{Code, Millis};

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_of_a_run_cancels_what_is_approved_in_it() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let deadline = world.handle.parts().clock.now().plus(Millis::secs(300));
    let open = OpenRun { deadline: Some(deadline), ..all_tools() };
    let run = world.handle.open_run(&agent(), open).await.unwrap().run.id;
    let id = propose(&world, run, "set_note_later", "n").await;
    approve(&world, id).await;
    // A late word about it does not make the deadline forgotten.
    let denied = Command::Deny { reason: "too late".to_owned(), last: false };
    world.handle.command(id, denied, &ada()).await.unwrap_err();
    world.clock.forward(Millis::secs(301));
    let ended = until(&world, id, |s| s.operation.state.is_ended()).await;
    assert_eq!(ended.operation.state, State::Cancelled, "not expired: execute-by has not passed");
    assert_eq!(world.service.writes(), 0);
    let late = world.handle.propose(run, &agent(), request("set_note", "n", "x")).await.unwrap_err();
    assert_eq!(late.code, Code::DeadlineExceeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_cancels_what_has_not_started() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let proposed = propose(&world, run, "set_note", "n").await;
    let approved = propose(&world, run, "set_note_later", "n").await;
    approve(&world, approved).await;
    world.handle.cancel_run(run, &agent()).await.unwrap();
    for id in [proposed, approved] {
        assert_eq!(world.handle.operation(id, &ada()).unwrap().operation.state, State::Cancelled);
    }
    assert!(try_approve(&world, proposed).await.is_err());
    assert_eq!(world.service.writes(), 0);
}

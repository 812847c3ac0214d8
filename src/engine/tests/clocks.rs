//! Wall clocks that jump.

use super::*;
use crate::domain::{Millis, Time};

const DAY: i64 = 86_400_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_stays_expired_when_the_clock_goes_back() {
    let world = World::start();
    world.service.put("n", 1, "old");
    let run = run(&world).await;
    let proposed = propose(&world, run, "set_note", "n").await;
    let approved = propose(&world, run, "set_note_later", "n").await;
    approve(&world, approved).await;
    let now = world.handle.parts().clock.now();
    let at = |ms: i64| Time::from_millis(now.as_millis() + ms);
    world.clock.set(at(3_650 * DAY));
    for id in [proposed, approved] {
        until_state(&world, id, State::Expired).await;
    }
    for back in [DAY, 0, -DAY] {
        world.clock.set(at(back));
        assert!(try_approve(&world, proposed).await.is_err());
        assert!(world.handle.commit(approved, &agent()).await.is_err());
        for id in [proposed, approved] {
            assert_eq!(world.handle.operation(id, &ada()).unwrap().operation.state, State::Expired);
        }
    }
    assert_eq!(world.service.writes(), 0);
    let world = world.restart().await;
    assert!(world.report.clock_is_behind);
    world.clock.set(at(3_650 * DAY).plus(Millis::secs(1)));
    assert!(!world.restart().await.report.clock_is_behind);
}

//! Starting again: what waits goes on waiting, and the socket answers before the store is open.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::Pair;
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, PATIENCE, Trouble, id_of},
};

/// Id, state, events and waiting of everything that is open.
fn queues(client: &Client) -> BTreeMap<String, (Value, Value)> {
    let open = client.operations("state=proposed,approved,unknown&limit=500").expect("a list");
    open.iter().map(|seen| (id_of(seen), (seen["state"].clone(), seen["effect"].clone()))).collect()
}

#[test]
fn c50_five_restarts_are_one_restart() {
    const PENDING: usize = 240;
    const BUSY: usize = 20;
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).config("reconcile", "concurrency", "4").start();
    let pair = Pair::of(&daemon);
    for n in 0..PENDING {
        pair.proposed(&format!("k{n}"), &format!("C-{}", n + 1));
    }
    // Some whose outcome nobody knows, and behind each of them one that waits for the target.
    sandbox.fault(json!({"fault": "apply_then_drop", "times": BUSY}));
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let mut unknown = Vec::new();
    for n in 0..BUSY {
        let customer = format!("C-{}", 1000 + n);
        let (first, second) =
            (pair.proposed(&format!("u{n}"), &customer), pair.proposed(&format!("w{n}"), &customer));
        pair.alice.approve(&first).expect("an approval");
        pair.agent.wait_state(&first, &["unknown"]);
        pair.alice.approve(&second).expect("an approval");
        pair.agent.wait_until(&second, "behind the first", |seen| seen["wait"]["reason"] == "target_busy");
        unknown.push(first);
    }
    let before = queues(&pair.agent);
    assert_eq!(before.len(), PENDING + 2 * BUSY);
    for restart in 0..5 {
        daemon.restart();
        assert_eq!(queues(&pair.agent), before, "after restart {restart}");
    }
    assert_eq!(sandbox.writes().len(), BUSY, "nothing was sent again");
    sandbox.clear_faults();
    for id in &unknown {
        let done = pair.agent.wait_state(id, &["succeeded"]);
        assert_eq!(done["attempts"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(sandbox.effects()["keys_with_more_than_one"], json!([]));
}

/// A store that is large enough for a start to take its time.
fn filled(sandbox: &Sandbox) -> (Daemon, Pair, BTreeMap<String, (Value, Value)>) {
    let daemon = Daemon::start(sandbox);
    let pair = Pair::of(&daemon);
    thread::scope(|scope| {
        for client in 0..4 {
            let pair = &pair;
            scope.spawn(move || {
                for n in 0..100 {
                    pair.proposed(&format!("k{client}-{n}"), &format!("C-{}", client * 100 + n + 1));
                }
            });
        }
    });
    let before = queues(&pair.agent);
    assert_eq!(before.len(), 400);
    (daemon, pair, before)
}

#[test]
fn c54_a_start_is_not_dead_and_a_stop_during_it_is_safe() {
    let sandbox = Sandbox::start();
    let (mut daemon, pair, before) = filled(&sandbox);
    daemon.kill();
    let mut draw = fastrand::Rng::with_seed(54);
    for _ in 0..10 {
        daemon.spawn();
        let health = first_health(&pair.agent);
        assert!(["starting", "ready"].contains(&health["state"].as_str().unwrap_or_default()), "{health}");
        thread::sleep(Duration::from_millis(draw.u64(0..30)));
        match draw.bool() {
            true => assert!(daemon.stop().success(), "{}", daemon.log()),
            false => daemon.kill(),
        }
    }
    daemon.restart();
    assert_eq!(queues(&pair.agent), before);
}

/// The first answer of a start. `/v1` says meanwhile that it is not ready, which is not the same as dead.
fn first_health(client: &Client) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        match client.get("/healthz") {
            Ok(health) => {
                if health["state"] == "starting"
                    && let Err(Trouble::Refused(status, problem)) = client.get("/v1/operations")
                {
                    assert_eq!((status, &problem["code"]), (503, &json!("UNAVAILABLE")), "{problem:#}");
                }
                return health;
            }
            Err(trouble) => assert!(Instant::now() < until, "{trouble}"),
        }
        thread::sleep(Duration::from_millis(2));
    }
}

//! Start-up with many operations: made through the real daemon, then killed and started again.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::daemon::{self, Daemon};
use crate::load;
use crate::stub::Stub;

/// `count` operations, of which `pending` stay proposed; then SIGKILL, and the time until the daemon answers.
pub(crate) async fn run(count: usize, pending: usize) {
    let dir = tempfile::tempdir_in(daemon::base_dir()).unwrap();
    let stub = Stub::start();
    let daemon = Daemon::start(dir.path(), &stub.origin);
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let run = load::open_run(&mut Client::connect(&daemon.socket).await).await;
            let lanes = 64;
            let mut tasks = Vec::new();
            for lane in 0..lanes {
                let run = run.clone();
                let mut client = Client::connect(&daemon.socket).await;
                tasks.push(tokio::task::spawn_local(async move {
                    for n in (lane..count).step_by(lanes) {
                        let customer = 100_000_000 + n as u64;
                        let (id, _) = load::propose(&mut client, &run, customer).await;
                        if n >= pending {
                            client
                                .request("POST", &format!("/v1/operations/{id}/cancel"), "agent", None, "{}")
                                .await;
                        }
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        })
        .await;
    daemon.kill();
    let start = Instant::now();
    let daemon = Daemon::start(dir.path(), &stub.origin);
    let ready: Duration = start.elapsed();
    println!(
        "start-up after SIGKILL with {count} operations, {pending} open: {:.2} s, {:.0} MiB",
        ready.as_secs_f64(),
        daemon.usage().peak_kib as f64 / 1024.0
    );
}

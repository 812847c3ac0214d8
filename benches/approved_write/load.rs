//! The closed loop, and the table.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::client::{Client, member};
use crate::daemon::{Daemon, Usage};

pub(crate) struct Row {
    in_flight: usize,
    seconds: f64,
    latencies: Vec<Duration>,
    before: Usage,
    after: Usage,
}

/// Opens a run that may propose the write.
pub(crate) async fn open_run(client: &mut Client) -> String {
    let body = r#"{"purpose":"benchmark","tools":["commit_address_change.v2"]}"#;
    let opened = client.request("POST", "/v1/runs", "agent", None, body).await;
    member(&opened, "id").to_owned()
}

pub(crate) async fn propose(client: &mut Client, run: &str, customer: u64) -> (String, String) {
    let body = format!(
        r#"{{"tool":"commit_address_change.v2","arguments":{{"customer_id":"C-{customer}","destination":{{"line1":"New Street {}","postal_code":"22222","city":"Town","country":"SE"}}}},"based_on":1,"purpose":"the customer asked for it"}}"#,
        customer % 1000
    );
    let key = format!("k-{customer}");
    let proposed =
        client.request("POST", &format!("/v1/runs/{run}/proposals"), "agent", Some(&key), &body).await;
    (member(&proposed, "id").to_owned(), member(&proposed, "proposal_sha256").to_owned())
}

async fn one(client: &mut Client, run: &str, customer: u64) {
    let (id, digest) = propose(client, run, customer).await;
    let body = format!(r#"{{"digest":"{digest}"}}"#);
    client.request("POST", &format!("/v1/operations/{id}/approve"), "alice", None, &body).await;
    let seen = client.request("GET", &format!("/v1/operations/{id}?wait=10s"), "agent", None, "").await;
    assert_eq!(member(&seen, "state"), "succeeded", "{seen}");
}

pub(crate) async fn run(daemon: &Daemon, in_flight: usize, time: Duration) -> Row {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let run = Rc::new(open_run(&mut Client::connect(&daemon.socket).await).await);
            let warm_up = Instant::now() + Duration::from_millis(500);
            let end = warm_up + time;
            let mut tasks = Vec::new();
            for lane in 0..in_flight {
                let run = Rc::clone(&run);
                let mut client = Client::connect(&daemon.socket).await;
                tasks.push(tokio::task::spawn_local(async move {
                    let mut latencies = Vec::new();
                    let mut customer = 1_000_000 * (lane as u64 + 1) % 900_000_000;
                    while Instant::now() < end {
                        customer += 1;
                        let start = Instant::now();
                        one(&mut client, &run, customer).await;
                        if start >= warm_up {
                            latencies.push(start.elapsed());
                        }
                    }
                    latencies
                }));
            }
            tokio::time::sleep_until(warm_up.into()).await;
            let (usage, since) = (daemon.usage(), Instant::now());
            let mut latencies = Vec::new();
            for task in tasks {
                latencies.extend(task.await.unwrap());
            }
            let seconds = since.elapsed().as_secs_f64();
            latencies.sort();
            Row { in_flight, seconds, latencies, before: usage, after: daemon.usage() }
        })
        .await
}

impl Row {
    pub(crate) fn print(&self, raw_sync: f64, raw_echo: f64, head: bool) {
        if head {
            println!(
                "{:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>8} | {:>9} {:>9} {:>11} {:>10}",
                "in flight",
                "ops/s",
                "p50 ms",
                "p99 ms",
                "syncs/op",
                "bytes/op",
                "cpu ms/k",
                "MiB",
                "sync/s",
                "echo/s",
                "of sync lim",
                "of echo/5"
            );
        }
        let count = self.latencies.len() as f64;
        let rate = count / self.seconds;
        let at = |part: f64| {
            let place = ((self.latencies.len() as f64 - 1.0) * part).round() as usize;
            self.latencies.get(place).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        };
        let syncs = (self.after.flushes - self.before.flushes) as f64 / count;
        let bytes = (self.after.device_bytes - self.before.device_bytes) as f64 / count;
        let cpu = (self.after.cpu_ms - self.before.cpu_ms) * 1000.0 / count;
        println!(
            "{:>9} {rate:>8.0} {:>8.2} {:>8.2} {syncs:>9.2} {bytes:>9.0} {cpu:>9.0} {:>8.0} | {raw_sync:>9.0} {raw_echo:>9.0} {:>11.2} {:>10.2}",
            self.in_flight,
            at(0.5),
            at(0.99),
            self.after.peak_kib as f64 / 1024.0,
            // An approved write needs three syncs one after the other; a group shares them.
            rate * 3.0 / raw_sync,
            // Three requests to the daemon and two of the daemon to the service.
            rate * 5.0 / raw_echo,
        );
    }
}

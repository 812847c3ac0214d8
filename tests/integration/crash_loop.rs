//! The crash loop: the real daemon under load from eight clients, before a sandbox that fails in many ways, killed with
//! SIGKILL at random moments, at each named fail point and while it starts, and started again on what is left. The
//! sandbox's ledger is the judge.
//!
//! The default run has 50 cycles. The long one: `WRITD_CRASH_CYCLES=5000 cargo test --test integration crash_loop`.
//! The seed is printed; `WRITD_SEED=N` repeats its choices (not the scheduling of the machine).
#![allow(clippy::print_stdout, reason = "a run says its seed and what it has met")]

mod clients;
mod control;
mod judge;
mod told;

use std::{
    collections::BTreeMap,
    env,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::{
    clients::{GiveUp, Whistle, Worker},
    judge::judge,
    told::{ENDED, Told, lost, text},
};
use super::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, Trouble, id_of},
};

/// Cycles of the default run; enough for every point and every fault to be met.
const CYCLES: u64 = 50;
/// A long run begins anew after so many, so that no judge has to hold a ledger of days.
const CYCLES_PER_ROUND: u64 = 200;
const CLIENTS: u64 = 8;
/// One fault makes many findings.
const FINDINGS_SHOWN: usize = 20;
const POINTS: [&str; 6] = ["P1", "P2", "P3", "P4", "P5", "P6"];
/// An armed point that is not passed by then is given up, and the daemon killed where it is.
const POINT_PATIENCE: Duration = Duration::from_secs(2);
/// How long it may take until nothing is open any more, once nothing fails any more.
const CONVERGENCE: Duration = Duration::from_secs(120);

#[test]
fn crash_loop() {
    let cycles = number("WRITD_CRASH_CYCLES").unwrap_or(CYCLES);
    let seed = number("WRITD_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("crash loop: WRITD_SEED={seed} WRITD_CRASH_CYCLES={cycles}");
    let mut left = cycles;
    for round in 0.. {
        let now = left.min(CYCLES_PER_ROUND);
        if now == 0 {
            break;
        }
        Round::new(seed.wrapping_add(round)).run(now);
        left -= now;
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A sandbox, a daemon, and what was told.
struct Round {
    seed: u64,
    draw: fastrand::Rng,
    sandbox: Sandbox,
    daemon: Daemon,
    told: Told,
    deaths: BTreeMap<String, u64>,
}

impl Round {
    fn new(seed: u64) -> Self {
        let sandbox = Sandbox::start();
        sandbox.chaos(chaos(seed));
        let daemon = setup(&sandbox).prepare();
        let draw = fastrand::Rng::with_seed(seed);
        Self { seed, draw, sandbox, daemon, told: Told::default(), deaths: BTreeMap::new() }
    }

    fn run(mut self, cycles: u64) {
        let (started, whistle) = (Instant::now(), Whistle::default());
        let told = std::mem::take(&mut self.told);
        let writes: u64 = thread::scope(|scope| {
            let _guard = GiveUp(&whistle);
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| Worker {
                    number,
                    draw: fastrand::Rng::with_seed(self.seed ^ number << 32),
                    client: self.daemon.anonymous(),
                    told: &told,
                    whistle: &whistle,
                })
                .map(|worker| scope.spawn(|| worker.work()))
                .collect();
            for cycle in 0..cycles {
                self.cycle(cycle, &told);
                no_findings(
                    &told.findings(),
                    &format!("cycle {cycle}, WRITD_SEED={}", self.seed),
                    &self.daemon,
                );
            }
            self.sandbox.clear_chaos();
            self.daemon.disarm();
            self.daemon.restart();
            whistle.finish.store(true, Ordering::Relaxed);
            clients.into_iter().map(|client| client.join().expect("a client").unwrap_or(0)).sum()
        });
        self.told = told;
        self.converge();
        self.conclude(writes);
        println!("{cycles} cycles, {writes} writes tried, {:?}", started.elapsed());
        let all_points = POINTS.iter().all(|point| self.deaths.contains_key(*point));
        assert!(cycles < CYCLES || all_points, "not every point was met: {:?}", self.deaths);
    }

    /// One life of the daemon, and what was told before is still true at its begin.
    fn cycle(&mut self, cycle: u64, told: &Told) {
        let moment = Duration::from_millis(self.draw.u64(5..400));
        // In turns, so that every point is met in every run.
        match cycle % 8 {
            turn @ 0..6 => {
                let point = POINTS[usize::try_from(turn).expect("a small number")];
                self.daemon.arm(&format!("{point}:{}", self.draw.u64(1..6)));
                self.daemon.spawn();
                let met = match self.daemon.wait_ready() {
                    Ok(()) => self.daemon.ended_within(POINT_PATIENCE).is_some(),
                    Err(why) => {
                        assert!(why.contains("signal: 9"), "{why}");
                        true
                    }
                };
                self.died(if met { point } else { "given up at a point" });
            }
            6 => {
                self.daemon.disarm();
                self.daemon.spawn();
                thread::sleep(moment / 4);
                self.died("while starting");
            }
            _ => {
                self.daemon.disarm();
                self.daemon.restart();
                still_true(&self.daemon.client("oscar"), told, false);
                thread::sleep(moment);
                self.died("at random");
            }
        }
        self.daemon.kill();
    }

    fn died(&mut self, how: &str) {
        *self.deaths.entry(how.to_owned()).or_default() += 1;
    }

    /// Nothing fails any more: every operation ends, or waits for a person and says so.
    fn converge(&self) {
        let (oscar, until) = (self.daemon.client("oscar"), Instant::now() + CONVERGENCE);
        loop {
            let open = oscar.operations("state=approved,executing,unknown&limit=500").expect("a list");
            let waiting: Vec<_> = open.iter().filter(|open| open["doubt"]["paused"].is_null()).collect();
            if waiting.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "does not converge, WRITD_SEED={}: {waiting:#?}", self.seed);
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The verdict, on the files and on a daemon that was started from them.
    fn conclude(&mut self, writes: u64) {
        self.daemon.kill();
        verify(&self.daemon);
        self.daemon.restart();
        let oscar = self.daemon.client("oscar");
        still_true(&oscar, &self.told, true);
        same_keys(&self.daemon.client("agent"), &self.told);
        let listed = oscar.operations("limit=500").expect("a list");
        let shown: Vec<Value> =
            listed.iter().map(|listed| oscar.operation(&id_of(listed)).expect("an operation")).collect();
        let mut findings = self.told.findings();
        let known = self.told.keys().len();
        if shown.len() != known {
            findings.push(format!("{known} keys were answered, {} operations are there", shown.len()));
        }
        findings.extend(judge(&shown, &self.sandbox.ledger()));
        let mut states = BTreeMap::<String, u64>::new();
        for operation in &shown {
            *states.entry(text(operation, "state")).or_default() += 1;
        }
        println!("deaths: {:?}\nstates: {states:?}\nrefusals: {:?}", self.deaths, self.told.refusals());
        println!("effects: {}", self.sandbox.effects()["total"]);
        no_findings(&findings, &format!("the end, WRITD_SEED={}", self.seed), &self.daemon);
        assert!(states.get("succeeded").is_some_and(|some| *some > 0), "of {writes} writes none succeeded");
        assert!(self.daemon.stop().success(), "{}", self.daemon.log());
    }
}

/// Panics with the first of them and with what the daemon has to say.
#[track_caller]
fn no_findings(findings: &[String], when: &str, daemon: &Daemon) {
    let some = &findings[..findings.len().min(FINDINGS_SHOWN)];
    assert!(findings.is_empty(), "{} findings at {when}: {some:#?}\n{}", findings.len(), daemon.log());
}

/// Everything short, so that many lives fit into a minute; settling longer than any late work of the sandbox.
fn setup(sandbox: &Sandbox) -> Setup {
    let file = "commit_address_change.tool.yaml";
    Setup::new(sandbox)
        .contract(file, "timeout: 5s", "timeout: 1s")
        .contract(file, "settle: 200ms", "settle: 600ms")
        .contract(file, "max_attempts: 4", "max_attempts: 6")
        .config("reconcile", "interval", "\"20ms\"")
        .config("reconcile", "max_interval", "\"100ms\"")
        .config("log", "level", "\"error\"")
}

/// One write in two meets a fault. Late work comes long before the settle time is over: later, the service would break
/// the word of its contract, and nobody could keep the promise.
fn chaos(seed: u64) -> Value {
    json!({"seed": seed, "probabilities": {
        "drop_before_apply": 0.04, "apply_then_drop": 0.06, "apply_then_reset": 0.05,
        "apply_then_malformed": 0.03, "apply_then_wrong_shape": 0.03, "apply_then_partial_body": 0.03,
        "apply_then_5xx": 0.03, "unavailable_after": 0.03, "unavailable_before": 0.06,
        "rate_limited": {"p": 0.01, "retry_after": 1}, "duplicate_delivery": 0.04,
        "delay": {"p": 0.05, "ms": 60}, "apply_then_delay": {"p": 0.04, "ms": 80},
        "late_arrival": {"p": 0.02, "ms": 60}, "version_bump": 0.01,
        "status_down": 0.1, "status_wrong": 0.05, "status_in_progress": 0.05, "status_slow": {"p": 0.05, "ms": 40},
    }})
}

/// What was told is still true: of what was told since the last look, or of everything.
fn still_true(client: &Client, told: &Told, all: bool) {
    for id in told.take(all) {
        match client.operation(&id) {
            Ok(shown) => {
                if let Some(finding) = lost(told, &shown) {
                    told.finding(finding);
                }
                told.shown(&shown);
            }
            Err(Trouble::Refused(_, problem)) => told.finding(format!("{id} was told, now: {problem}")),
            Err(trouble) => panic!("the daemon was ready, and now: {trouble}"),
        }
        if all && let Ok(entries) = client.events(&id) {
            told.history(&id, &entries);
        }
    }
}

/// Every key still finds its operation, and makes none.
fn same_keys(agent: &Client, told: &Told) {
    for (key, (path, body, id)) in told.keys() {
        match agent.post_keyed(&path, &key, &body) {
            Ok(answer) => told.key(&key, &path, &body, &id_of(&answer)),
            Err(trouble) => told.finding(format!("the key {key} was {id}, now: {trouble}")),
        }
    }
}

/// The files agree with themselves. Offline, on what the kill has left.
fn verify(daemon: &Daemon) {
    let state_dir = daemon.state_dir();
    let mut command = daemon.command(&["verify"]);
    let output = command.arg("--state-dir").arg(&state_dir).output().expect("writd verify runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{}{said}", output.status, String::from_utf8_lossy(&output.stdout));
}

/// Whether nothing more will happen to it.
fn has_ended(operation: &Value) -> bool {
    ENDED.contains(&text(operation, "state").as_str())
}

//! The load: clients that propose, decide and wait, and send again what was not answered. A client goes on with the
//! same request until somebody answers, however often the daemon dies meanwhile.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::told::{Told, text};
use crate::support::socket::{Client, Reply, Trouble, address_change, id_of};

/// Before a request is sent again.
const AGAIN_AFTER: Duration = Duration::from_millis(5);
/// Customers of one client alone, and of all clients together: some writes must meet.
const OWN: u64 = 12;
const SHARED: u64 = 6;
/// Proposals of one run.
const PER_RUN: u64 = 20;
/// Refusals of a proposal that a world full of others may give.
const PROPOSAL_MAY: [&str; 2] = ["VERSION_CONFLICT", "TARGET_BUSY"];
/// Refusals of a decision that comes too late, or again after its answer was lost.
const DECISION_MAY: [&str; 5] =
    ["INVALID_TRANSITION", "DENIED", "CANCELLED", "VERSION_CONFLICT", "PRECONDITION_FAILED"];

/// When the clients end: at the next answer, or at once because the test has failed.
#[derive(Debug, Default)]
pub(super) struct Whistle {
    pub(super) finish: AtomicBool,
    pub(super) give_up: AtomicBool,
}

/// Ends all clients when the test fails, so that it says why instead of waiting for them.
pub(super) struct GiveUp<'a>(pub(super) &'a Whistle);

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.0.give_up.store(true, Ordering::Relaxed);
    }
}

/// One client with its random choices.
pub(super) struct Worker<'a> {
    pub(super) number: u64,
    pub(super) draw: fastrand::Rng,
    pub(super) client: Client,
    pub(super) told: &'a Told,
    pub(super) whistle: &'a Whistle,
}

impl Worker<'_> {
    /// Writes until the whistle; none means that the test has failed elsewhere.
    pub(super) fn work(mut self) -> Option<u64> {
        let (mut done, mut run) = (0, String::new());
        while !self.whistle.finish.load(Ordering::Relaxed) {
            if done % PER_RUN == 0 {
                run = self.open_run(done)?;
            }
            self.write(&run, done)?;
            done += 1;
        }
        Some(done)
    }

    fn open_run(&self, done: u64) -> Option<String> {
        let key = format!("run-{}-{done}", self.number);
        let body = json!({"purpose": "a crash loop", "tools": ["commit_address_change.v2"]});
        let agent = self.client.named("agent");
        match self.insist(|| agent.post_keyed("/v1/runs", &key, &body))? {
            Ok(run) => Some(id_of(&run)),
            Err(trouble) => {
                self.told.finding(format!("no run: {trouble}"));
                None
            }
        }
    }

    /// One write from the read to its fate, or until this client loses interest.
    fn write(&mut self, run: &str, n: u64) -> Option<()> {
        let customer = match self.draw.u8(..4) > 0 {
            true => format!("C-{}", self.number * 1000 + self.draw.u64(..OWN)),
            false => format!("C-{}", 900_000 + self.draw.u64(..SHARED)),
        };
        let agent = self.client.named("agent");
        let arguments = json!({"customer_id": customer});
        let read = self.insist(|| agent.call(run, "get_customer.v1", &arguments))?;
        let Some(version) = read.as_ref().ok().and_then(|read| read["data"]["version"].as_u64()) else {
            self.told.finding(format!("no version: {read:?}"));
            return Some(());
        };
        let key = format!("write-{}-{n}", self.number);
        let body = address_change(&customer, version, &format!("Street {key}"));
        let path = format!("/v1/runs/{run}/proposals");
        let proposed = match self.insist(|| agent.post_keyed(&path, &key, &body))? {
            Ok(proposed) => proposed,
            Err(trouble) => {
                self.refused("propose", &PROPOSAL_MAY, &trouble);
                return Some(());
            }
        };
        self.told.shown(&proposed);
        self.told.key(&key, &path, &body, &id_of(&proposed));
        self.decide(&proposed)?;
        self.follow(&id_of(&proposed))
    }

    fn decide(&mut self, proposed: &Value) -> Option<()> {
        let (id, digest) = (id_of(proposed), text(proposed, "proposal_sha256"));
        if self.draw.u8(..20) == 0 {
            let wrong = json!({"digest": "0".repeat(64)});
            match self.insist(|| self.client.named("alice").command(&id, "approve", &wrong))? {
                Ok(answer) => self.told.finding(format!("a wrong digest was approved: {answer}")),
                Err(trouble) => self.refused("wrong digest", &["PROPOSAL_CHANGED"], &trouble),
            }
        }
        let (yes, reason) = (json!({"digest": digest}), json!({"reason": "not now"}));
        match self.draw.u8(..20) {
            0..14 => self.command("alice", &id, "approve", &yes),
            14..16 => {
                self.command("bob", &id, "approve", &yes)?;
                self.command("alice", &id, "approve", &yes)
            }
            16 => self.command("alice", &id, "deny", &reason),
            17 => self.command("agent", &id, "cancel", &json!({})),
            18 => {
                self.command("alice", &id, "approve", &yes)?;
                self.command("agent", &id, "cancel", &json!({}))
            }
            _ => Some(()),
        }
    }

    fn command(&self, name: &str, id: &str, verb: &str, body: &Value) -> Option<()> {
        let client = self.client.named(name);
        match self.insist(|| client.command(id, verb, body))? {
            Ok(answer) => self.told.shown(&answer),
            Err(trouble) => self.refused(verb, &DECISION_MAY, &trouble),
        }
        Some(())
    }

    /// Looks a few times what becomes of it; most writes end meanwhile.
    fn follow(&mut self, id: &str) -> Option<()> {
        let agent = self.client.named("agent");
        let mut after = 0;
        for _ in 0..self.draw.u8(1..4) {
            let path = format!("/v1/operations/{id}?wait=100ms&after={after}");
            match self.insist(|| agent.get(&path))? {
                Ok(shown) => {
                    after = shown["events"].as_u64().unwrap_or(0);
                    self.told.shown(&shown);
                }
                Err(trouble) => self.told.finding(format!("{id} is not shown: {trouble}")),
            }
        }
        if self.draw.u8(..4) == 0
            && let Ok(entries) = agent.events(id)
        {
            self.told.history(id, &entries);
        }
        Some(())
    }

    fn refused(&self, what: &str, may: &[&str], trouble: &Trouble) {
        match trouble.code() {
            Some(code) if may.contains(&code) => self.told.refused(what, code),
            _ => self.told.finding(format!("{what}: {trouble}")),
        }
    }

    /// Sends the same again until there is an answer that is about the request.
    fn insist(&self, send: impl Fn() -> Reply) -> Option<Reply> {
        loop {
            if self.whistle.give_up.load(Ordering::Relaxed) {
                return None;
            }
            match send() {
                Err(Trouble::NobodyThere(_) | Trouble::NoAnswer(_)) => {}
                Err(trouble) if matches!(trouble.code(), Some("UNAVAILABLE" | "RATE_LIMITED")) => {
                    self.told.refused("not now", trouble.code().unwrap_or_default());
                }
                answered => return Some(answered),
            }
            thread::sleep(AGAIN_AFTER);
        }
    }
}

//! Faults that others have met in public, each as a test on real processes; a test is named after its case.

mod configuration;
mod consent;
mod hostile;
mod keys;
mod outcomes;
mod outputs;
mod ownership;
mod start;

use serde_json::Value;

use super::support::{
    daemon::Daemon,
    sandbox::Sandbox,
    socket::{Client, Trouble, id_of},
};

/// The file of the write that all of them use.
const CONTRACT: &str = "commit_address_change.tool.yaml";

/// An agent with a run of its own, and an approver.
struct Pair {
    agent: Client,
    alice: Client,
    run: String,
}

impl Pair {
    fn of(daemon: &Daemon) -> Self {
        let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
        let run = id_of(&agent.open_run(&[]).expect("a run"));
        Self { agent, alice, run }
    }

    /// Proposes another address for a customer at version 1; the id of the operation.
    #[track_caller]
    fn proposed(&self, key: &str, customer: &str) -> String {
        id_of(&self.agent.propose_address(&self.run, key, customer, 1, "Kungsgatan 5").expect("a proposal"))
    }

    /// The same, and approved.
    #[track_caller]
    fn approved(&self, key: &str, customer: &str) -> String {
        let id = self.proposed(key, customer);
        self.alice.approve(&id).expect("an approval");
        id
    }
}

/// The writes that the sandbox has received for this customer.
fn writes_to(sandbox: &Sandbox, customer: &str) -> Vec<Value> {
    let path = format!("/customers/{customer}/shipping-address");
    sandbox.writes().into_iter().filter(|write| write["path"] == path.as_str()).collect()
}

/// How many questions by key the sandbox has received.
fn questions(sandbox: &Sandbox) -> usize {
    let asked =
        |request: &&Value| request["path"].as_str().is_some_and(|path| path.starts_with("/operations/"));
    sandbox.requests().iter().filter(asked).count()
}

/// A command to a daemon that is meant to die of it: an answer may or may not come.
#[track_caller]
fn lost_or_answered(reply: Result<Value, Trouble>) {
    if let Err(trouble) = reply {
        assert!(matches!(trouble, Trouble::NoAnswer(_)), "{trouble}");
    }
}

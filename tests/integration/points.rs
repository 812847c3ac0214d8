//! The daemon dies at each named point and is started again: what it then says, and what the sandbox's ledger says.
//! The lines P1 to P6 of docs/guarantees.md.

use super::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, Reply, id_of},
};

struct Scene {
    sandbox: Sandbox,
    daemon: Daemon,
    agent: Client,
    alice: Client,
    run: String,
}

impl Scene {
    /// A daemon that will die at this point.
    fn at(point: &str) -> Scene {
        let sandbox = Sandbox::start();
        let daemon = Setup::new(&sandbox).fail_point(point).start();
        let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
        let run = id_of(&agent.open_run(&[]).expect("a run"));
        Scene { sandbox, daemon, agent, alice, run }
    }

    fn propose(&self) -> Reply {
        self.agent.propose_address(&self.run, "k1", "C-1842", 17, "Kungsgatan 5")
    }

    /// Proposes, approves, and sees the daemon die; its answer to the approval may or may not have come.
    fn die_after_the_approval(&mut self) -> String {
        let operation = id_of(&self.propose().expect("a proposal"));
        let _ = self.alice.approve(&operation);
        self.come_back();
        operation
    }

    fn come_back(&mut self) {
        self.daemon.wait_killed();
        self.daemon.disarm();
        self.daemon.restart();
    }

    /// The write succeeded after so many attempts, the service received so many, and there is one effect.
    fn ends(&self, operation: &str, attempts: usize, received: usize) {
        let ended = self.agent.wait_state(operation, &["succeeded"]);
        let events = self.agent.events(operation).expect("the journal");
        let started = events.iter().filter(|event| event["name"] == "execution_started").count();
        assert_eq!(started, attempts, "attempts: {ended}\n{events:#?}");
        assert_eq!(self.sandbox.writes().len(), received, "writes that were received");
        assert_eq!(self.sandbox.effects_of("customer:C-1842"), 1);
        self.sandbox.assert_at_most_one_effect_per_key();
    }
}

#[test]
fn p1_a_proposal_whose_answer_was_lost_is_found_by_its_key() {
    let mut scene = Scene::at("P1");
    assert!(scene.propose().is_err(), "the daemon dies before it answers");
    scene.come_back();
    let found = id_of(&scene.propose().expect("the same proposal"));
    let again = id_of(&scene.propose().expect("the same proposal"));
    assert_eq!(found, again);
    let all = scene.agent.operations("").expect("a page");
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(scene.sandbox.effects_of("customer:C-1842"), 0);
    let _ = scene.alice.approve(&found);
    scene.ends(&found, 1, 1);
}

#[test]
fn p2_an_approval_whose_answer_was_lost_counts_once() {
    let mut scene = Scene::at("P2");
    let operation = scene.die_after_the_approval();
    // The contract commits on approval: the intent of the first attempt was in the same sync.
    scene.ends(&operation, 2, 1);
}

#[test]
fn p3_an_intent_without_a_byte_is_asked_about_before_it_is_sent() {
    let mut scene = Scene::at("P3");
    let operation = scene.die_after_the_approval();
    scene.ends(&operation, 2, 1);
}

#[test]
fn p4_an_answer_that_had_begun_is_asked_about_and_not_sent_again() {
    let mut scene = Scene::at("P4");
    let operation = scene.die_after_the_approval();
    scene.ends(&operation, 1, 1);
}

#[test]
fn p5_an_answer_that_was_not_stored_is_asked_about_and_not_sent_again() {
    let mut scene = Scene::at("P5");
    let operation = scene.die_after_the_approval();
    scene.ends(&operation, 1, 1);
}

#[test]
fn p6_an_outcome_that_nobody_was_told_is_kept() {
    let mut scene = Scene::at("P6");
    let operation = scene.die_after_the_approval();
    scene.ends(&operation, 1, 1);
}

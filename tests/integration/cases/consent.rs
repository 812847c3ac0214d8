//! Decisions: kept over a kill, counted once, and about nothing but the bytes that were shown.

use std::{collections::BTreeMap, sync::Barrier, thread};

use serde_json::{Value, json};

use super::{Pair, writes_to};
use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, Reply, Trouble, address_change, code_of, id_of},
};

/// What a decision is about: id, digest, state and the clock.
fn facts(client: &Client) -> BTreeMap<String, (Value, Value, Value)> {
    let all = client.operations("limit=500").expect("a list");
    let fact = |seen: &Value| {
        (seen["proposal_sha256"].clone(), seen["state"].clone(), seen["clocks"]["decide_by"].clone())
    };
    all.iter().map(|seen| (id_of(seen), fact(seen))).collect()
}

#[test]
fn c24_pending_proposals_outlive_a_kill() {
    const PENDING: usize = 200;
    let sandbox = Sandbox::start();
    // Several kills on the way, each after a proposal was stored and before its caller was answered.
    let mut daemon = Setup::new(&sandbox).fail_point("P1:40").start();
    let pair = Pair::of(&daemon);
    let mut ids = Vec::new();
    while ids.len() < PENDING {
        let n = ids.len();
        let body = address_change(&format!("C-{}", n + 1), 1, "Kungsgatan 5");
        match pair.agent.propose(&pair.run, &format!("k{n}"), &body) {
            Ok(proposed) => ids.push(id_of(&proposed)),
            Err(Trouble::NoAnswer(_)) => {
                daemon.wait_killed();
                daemon.restart();
            }
            Err(trouble) => panic!("{trouble}"),
        }
    }
    let before = facts(&pair.agent);
    assert_eq!(before.len(), PENDING, "one for each key, also where the answer was lost");
    daemon.disarm();
    daemon.restart();
    assert_eq!(facts(&pair.agent), before);
    for (n, id) in ids.iter().enumerate() {
        match n % 4 {
            0 | 1 => drop(pair.alice.approve(id).expect("an approval")),
            2 => drop(pair.alice.command(id, "deny", &json!({"reason": "no"})).expect("a denial")),
            _ => {}
        }
    }
    for (n, id) in ids.iter().enumerate() {
        let (state, effects) = match n % 4 {
            0 | 1 => ("succeeded", 1),
            2 => ("denied", 0),
            _ => ("proposed", 0),
        };
        pair.agent.wait_state(id, &[state]);
        assert_eq!(writes_to(&sandbox, &format!("C-{}", n + 1)).len(), effects, "{id}");
    }
    assert_eq!(sandbox.effects()["total"], PENDING / 2);
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn c27_what_is_sent_is_what_was_shown() {
    let sandbox = Sandbox::start();
    let mut daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let mut mine = address_change("C-1", 1, "Kungsgatan 5");
    let id = id_of(&pair.agent.propose(&pair.run, "k", &mine).expect("a proposal"));
    let shown = pair.agent.operation(&id).expect("an operation");
    // The caller changes its copy: it is not the copy that counts, and it is not taken by any command.
    mine["arguments"]["destination"]["line1"] = json!("Somewhere else 1");
    assert_eq!(code_of(&pair.agent.propose(&pair.run, "k", &mine)), "IDEMPOTENCY_CONFLICT");
    let with_arguments = json!({"digest": shown["proposal_sha256"], "arguments": mine["arguments"].clone()});
    assert_eq!(code_of(&pair.alice.command(&id, "approve", &with_arguments)), "INVALID_ARGUMENT");
    assert_eq!(code_of(&pair.agent.command(&id, "commit", &mine)), "INVALID_ARGUMENT");
    let other = id_of(&pair.agent.propose(&pair.run, "k2", &mine).expect("another proposal"));
    let digest = pair.agent.operation(&other).expect("an operation")["proposal_sha256"].clone();
    let digest = digest.as_str().expect("a digest");
    assert_eq!(code_of(&pair.alice.approve_digest(&id, digest)), "PROPOSAL_CHANGED");
    assert_eq!(sandbox.writes().len(), 0);
    // Neither the contract's file nor a restart changes what was shown.
    let file = daemon.contracts_dir().join(super::CONTRACT);
    let contract = std::fs::read_to_string(&file).expect("a contract");
    let changed = contract
        .replace("version: \"2.1\"", "version: \"2.2\"")
        .replace("/shipping-address\"", "/elsewhere\"");
    assert_ne!(contract, changed);
    std::fs::write(&file, changed).expect("a contract is written");
    daemon.restart();
    assert_eq!(pair.agent.operation(&id).expect("an operation")["request"], shown["request"]);
    pair.alice.approve(&id).expect("an approval");
    pair.agent.wait_state(&id, &["succeeded"]);
    let sent = sandbox.writes();
    assert_eq!(sent.len(), 1);
    for member in ["method", "path", "body"] {
        assert_eq!(sent[0][member], shown["request"][member]);
    }
    for header in shown["request"]["headers"].as_array().expect("headers") {
        let name = header[0].as_str().expect("a name").to_lowercase();
        assert_eq!(sent[0]["headers"][&name], header[1], "{name}");
    }
}

type Command<'a> = Box<dyn FnOnce() -> Reply + Send + 'a>;

/// Commands at one moment, each from a thread of its own.
fn together(commands: Vec<Command<'_>>) -> Vec<Reply> {
    let barrier = &Barrier::new(commands.len());
    thread::scope(|scope| {
        let start = |command: Command<'_>| {
            barrier.wait();
            command()
        };
        let threads: Vec<_> =
            commands.into_iter().map(|command| scope.spawn(move || start(command))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a command")).collect()
    })
}

#[test]
fn c30_a_double_click_is_one_decision() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let (alice, bob) = (&pair.alice, daemon.client("bob"));
    for round in 1..=5 {
        let customer = format!("C-{round}");
        let id = pair.proposed(&format!("k{round}"), &customer);
        let digest = text(&pair.agent.operation(&id).expect("an operation")["proposal_sha256"]);
        let click = |n: usize| {
            let (client, id, digest) = (if n < 10 { alice } else { &bob }, &id, &digest);
            Box::new(move || client.approve_digest(id, digest)) as Command<'_>
        };
        let answers = together((0..20).map(click).collect());
        let mut firsts = 0;
        for answer in answers {
            let answer = answer.expect("the second click is told of the first");
            match answer["answer"].as_str() {
                Some("done") => firsts += 1,
                _ => assert!(answer["words"].as_str().is_some_and(|words| words.contains("approved by"))),
            }
        }
        assert_eq!(firsts, 1);
        let done = pair.agent.wait_state(&id, &["succeeded"]);
        assert_eq!((done["decisions"].as_array().map(Vec::len), &done["approvals"]), (Some(1), &json!(1)));
        assert_eq!(writes_to(&sandbox, &customer).len(), 1);
    }
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn c30_yes_and_no_at_one_moment_give_one_of_them() {
    let sandbox = Sandbox::start();
    let daemon = Daemon::start(&sandbox);
    let pair = Pair::of(&daemon);
    let (alice, bob) = (&pair.alice, daemon.client("bob"));
    for round in 1..=8 {
        let customer = format!("C-{round}");
        let id = pair.proposed(&format!("k{round}"), &customer);
        let digest = text(&pair.agent.operation(&id).expect("an operation")["proposal_sha256"]);
        let click = |n: usize| {
            let (bob, id, digest) = (&bob, &id, &digest);
            let yes = n.is_multiple_of(2);
            Box::new(move || match yes {
                true => alice.approve_digest(id, digest),
                false => bob.command(id, "deny", &json!({"reason": "no"})),
            }) as Command<'_>
        };
        let answers = together((0..20).map(click).collect());
        let seen = pair.agent.wait_state(&id, &["succeeded", "denied"]);
        let approved = seen["state"] == "succeeded";
        for (n, answer) in answers.iter().enumerate() {
            let won = n.is_multiple_of(2) == approved;
            match (won, answer) {
                (true, Ok(_)) => {}
                // Who decided stands in the refusal.
                (false, Err(Trouble::Refused(_, problem))) => {
                    let who = if approved { "alice" } else { "bob" };
                    assert!(text(&problem["detail"]).contains(who), "{problem:#}");
                }
                (false, Ok(answer)) => assert_eq!(answer["answer"], "already", "{answer:#}"),
                (_, Err(trouble)) => panic!("{trouble}"),
            }
        }
        assert_eq!(writes_to(&sandbox, &customer).len(), usize::from(approved));
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn where_one_account_may_not_play_both_sides_none_of_its_names_approves() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).config("approval", "allow_same_uid", "false").start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    let run = id_of(&agent.open_run(&[]).expect("a run"));
    let id = id_of(&agent.propose_address(&run, "k", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    assert_eq!(code_of(&alice.approve(&id)), "APPROVER_NOT_AUTHORIZED");
    let shown = alice.operation(&id).expect("an operation");
    assert_eq!(
        (&shown["state"], &shown["approvals"]),
        (&serde_json::json!("proposed"), &serde_json::json!(0))
    );
    assert!(sandbox.writes().is_empty());
}

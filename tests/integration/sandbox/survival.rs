//! The sandbox survives its own end: what it has answered is in its ledger and true after a restart.

use std::{fs::OpenOptions, io::Write as _};

use serde_json::json;

use super::{ADDRESS, change, change_of, confirm, status};
use crate::support::sandbox::{Sandbox, spawn};

#[test]
fn what_was_answered_is_true_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    // With syncs, so that this way to the disk is tested too.
    let mut sandbox = Sandbox::start_on(&folder.path().join("ledger"), &[]);
    let first = change(&sandbox, "k").answer();
    let refusal = change_of(&sandbox, "C-2", 1, "bad", b"{}").answer();
    let mail = confirm(&sandbox, "C-1842", "m").answer();
    sandbox.bump("C-3");
    let (effects, ledger) = (sandbox.effects(), sandbox.ledger());
    sandbox.kill();
    sandbox.restart();
    assert_eq!((sandbox.effects(), sandbox.ledger()), (effects, ledger.clone()));
    assert_eq!(
        (&sandbox.customer("C-1842")["version"], &sandbox.customer("C-3")["version"]),
        (&json!(18), &json!(2))
    );
    for (again, before) in [
        (change(&sandbox, "k").answer(), first),
        (change_of(&sandbox, "C-2", 1, "bad", b"{}").answer(), refusal),
        (confirm(&sandbox, "C-1842", "m").answer(), mail),
    ] {
        assert_eq!((again.status, &again.body), (before.status, &before.body));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
    }
    assert_eq!(status(&sandbox, "bad").json()["status"], "failed");
    assert_eq!(sandbox.effects()["total"], 2);
    assert_eq!(sandbox.ledger_from(ledger.len() as u64)[0]["n"], ledger.len());
}

#[test]
fn a_torn_last_line_is_cut_off_and_a_damaged_one_is_refused() {
    let mut sandbox = Sandbox::start();
    change(&sandbox, "k").answer();
    let ledger = sandbox.ledger();
    sandbox.kill();
    let path = sandbox.ledger_path().to_owned();
    let append =
        |bytes: &[u8]| OpenOptions::new().append(true).open(&path).unwrap().write_all(bytes).unwrap();
    append(br#"{"n":2,"at_ms":1,"type":"eff"#);
    sandbox.restart();
    assert_eq!(sandbox.ledger(), ledger);
    assert_eq!(change_of(&sandbox, "C-1842", 18, "l", ADDRESS).answer().status, 200);
    sandbox.kill();
    sandbox.restart();
    assert_eq!(sandbox.effects_of("customer:C-1842"), 2);
    sandbox.kill();
    append(b"no record\n");
    let error = spawn(&path, "127.0.0.1:0", &[]).expect_err("a damaged ledger must not be served");
    assert!(error.contains("is no record"), "{error}");
}

#[test]
fn kills_under_load_lose_nothing_that_was_answered() {
    let mut sandbox = Sandbox::start();
    let mut answered = Vec::new();
    for round in 0..5 {
        let address = sandbox.address();
        let worker = std::thread::spawn(move || {
            let mut answered = Vec::new();
            for number in 0.. {
                let key = format!("r{round}n{number}");
                let headers = [("idempotency-key", key.as_str())];
                let path = "/customers/C-9/confirmations";
                let sent = crate::support::http::send(address, "POST", path, &headers, b"{}");
                match sent.and_then(crate::support::http::receive) {
                    Ok(crate::support::http::Outcome::Answered(answer)) if answer.status == 201 => {
                        answered.push((key, answer.body));
                    }
                    _ => break,
                }
            }
            answered
        });
        super::eventually("twenty effects in a round", || {
            sandbox.effects()["total"].as_u64().unwrap() >= (round + 1) * 20
        });
        sandbox.kill();
        answered.extend(worker.join().unwrap());
        sandbox.restart();
    }
    let effects = sandbox.effects();
    assert!(answered.len() >= 20);
    for (key, body) in &answered {
        assert_eq!(effects["per_key"][key], 1, "{key}");
        assert_eq!(confirm(&sandbox, "C-9", key).answer().body, *body);
    }
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn one_ledger_has_one_process() {
    let sandbox = Sandbox::start();
    let error = spawn(sandbox.ledger_path(), "127.0.0.1:0", &[]).expect_err("a second process on the ledger");
    assert!(error.contains("in use by another process"), "{error}");
}

#[test]
fn sigterm_ends_it_also_when_a_request_hangs() {
    let mut sandbox = super::armed("hang", json!({}));
    let headers = [("idempotency-key", "k")];
    let path = "/customers/C-1/confirmations";
    let _hanging = crate::support::http::send(sandbox.address(), "POST", path, &headers, b"{}").unwrap();
    super::eventually("the request is received", || sandbox.requests().len() == 1);
    assert_eq!(sandbox.stop().code(), Some(0));
}

#[test]
fn a_reset_forgets_everything_and_the_port_file_names_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("port");
    let arguments = ["--no-ledger-fsync", "--quiet-requests", "--port-file", port.to_str().unwrap()];
    let sandbox = Sandbox::start_on(&folder.path().join("ledger"), &arguments);
    assert_eq!(std::fs::read_to_string(&port).unwrap(), format!("{}\n", sandbox.address().port()));
    change(&sandbox, "k").answer();
    let kinds: Vec<_> = sandbox.ledger().iter().map(|record| record["type"].clone()).collect();
    assert_eq!(kinds, ["effect"], "quiet requests are not recorded");
    sandbox.fault(json!({"fault": "hang", "times": null}));
    sandbox.reset();
    assert_eq!((sandbox.ledger().len(), sandbox.faults().len()), (0, 0));
    assert_eq!(sandbox.effects()["total"], 0);
    assert_eq!(change(&sandbox, "k").answer().header("idempotent-replayed"), None);
    assert_eq!(sandbox.customer("C-1842")["version"], 18);
}

#[test]
fn a_clock_put_forward_stays_there_over_a_restart() {
    let mut sandbox = Sandbox::start();
    let day = std::time::Duration::from_secs(24 * 3600);
    let at = |answer: &crate::support::http::Answer| {
        let time = answer.json()["receipt"]["id"].as_str().expect("a receipt").to_owned();
        let effects = sandbox.ledger();
        let of = |record: &&serde_json::Value| format!("rcp_{}", record["n"]) == time;
        effects.iter().find(of).expect("its effect")["at_ms"].as_u64().expect("a time")
    };
    let before = at(&change(&sandbox, "k").answer());
    sandbox.forward(day);
    let after = at(&change_of(&sandbox, "C-1842", 18, "l", ADDRESS).answer());
    assert!(after - before >= 24 * 3600 * 1000, "{before} {after}");
    sandbox.kill();
    sandbox.restart();
    let told = sandbox.get("/_sandbox/clock").json();
    assert_eq!(told["ahead_ms"], 24 * 3600 * 1000);
    let wrong = sandbox.request("POST", "/_sandbox/clock", &[], br#"{"back_ms":1}"#).answer();
    super::refused(&wrong, 400, "INVALID_CLOCK");
    sandbox.reset();
    assert_eq!(sandbox.get("/_sandbox/clock").json()["ahead_ms"], 0);
}

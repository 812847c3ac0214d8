//! The customers sandbox, driven as a process: it is the judge of all other tests, so it is tested first.

mod faults;
mod rules;
mod survival;
mod switchboard;

use serde_json::{Value, json};

use crate::support::{
    http::{Answer, Outcome},
    sandbox::Sandbox,
};

const ADDRESS: &[u8] =
    br#"{"line1":"Kungsgatan 5","postal_code":"111 43","city":"Stockholm","country":"SE"}"#;

/// A change of C-1842's address from version 17.
fn change(sandbox: &Sandbox, key: &str) -> Outcome {
    change_of(sandbox, "C-1842", 17, key, ADDRESS)
}

fn change_of(sandbox: &Sandbox, id: &str, version: u64, key: &str, body: &[u8]) -> Outcome {
    let (path, version) = (format!("/customers/{id}/shipping-address"), format!("\"{version}\""));
    let headers = [
        ("idempotency-key", key),
        ("if-match", version.as_str()),
        ("x-operation-id", "op_1"),
        ("x-run-id", "run_1"),
        ("x-requested-by", "agent"),
        ("x-on-behalf-of", "user"),
    ];
    sandbox.request("PUT", &path, &headers, body)
}

fn confirm(sandbox: &Sandbox, id: &str, key: &str) -> Outcome {
    sandbox.request("POST", &format!("/customers/{id}/confirmations"), &[("idempotency-key", key)], b"{}")
}

fn status(sandbox: &Sandbox, key: &str) -> Answer {
    sandbox.get(&format!("/operations/{key}"))
}

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)));
}

/// Waits for a fact that another process brings about; panics if it never becomes true.
fn eventually(what: &str, mut true_now: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if true_now() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("never happened: {what}");
}

/// The one fault, once, for whatever comes.
fn armed(fault: &str, more: Value) -> Sandbox {
    let sandbox = Sandbox::start();
    arm(&sandbox, fault, more);
    sandbox
}

fn arm(sandbox: &Sandbox, fault: &str, more: Value) {
    let mut body = json!({"fault": fault});
    let (Value::Object(body_members), Value::Object(more)) = (&mut body, more) else {
        panic!("parameters are an object")
    };
    body_members.extend(more);
    sandbox.fault(body);
}

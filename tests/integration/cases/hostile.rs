//! Arguments that would like to be something else: an address, or another header.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::{CONTRACT, Pair, writes_to};
use crate::support::{
    daemon::Setup,
    sandbox::Sandbox,
    socket::{address, code_of, fresh_key},
};

#[test]
fn c73_an_argument_is_never_an_address() {
    let sandbox = Sandbox::start();
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    elsewhere.set_nonblocking(true).expect("it does not block");
    let port = elsewhere.local_addr().expect("an address").port();
    let any = "customer_id: { type: string, maxLength: 200, x-kind: reference }";
    let strict = "customer_id: { type: string, pattern: \"^C-[0-9]{1,9}$\", x-kind: reference }";
    let daemon = Setup::new(&sandbox).contract("get_customer.tool.yaml", strict, any).start();
    let Pair { agent, run, .. } = Pair::of(&daemon);
    for url in [
        format!("http://127.0.0.1:{port}/x"),
        format!("//127.0.0.1:{port}/x"),
        format!("@127.0.0.1:{port}"),
        format!("..\\..\\127.0.0.1:{port}"),
        "http://[::ffff:169.254.169.254]/".to_owned(),
        "http://2130706433/".to_owned(),
    ] {
        let read = agent.call(&run, "get_customer.v1", &json!({"customer_id": url}));
        assert!(matches!(code_of(&read), "NOT_FOUND" | "INVALID_ARGUMENT"), "{url}: {read:?}");
    }
    let came = elsewhere.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(came, Err(ErrorKind::WouldBlock), "nobody came");
    // What did go out went to the service of the contract, as one segment of its path.
    for request in sandbox.requests() {
        let path = request["path"].as_str().expect("a path");
        assert!(path.starts_with("/customers/") && path.matches('/').count() == 2, "{path}");
    }
}

#[test]
fn c75_a_header_takes_no_line_breaks_and_refuses_before_anybody_approves() {
    let sandbox = Sandbox::start();
    let headers = "headers: { If-Match: \"\\\"${target.version}\\\"\"";
    let with = format!("{headers}, X-Note: \"${{args.destination.line1}}\"");
    let daemon = Setup::new(&sandbox).contract(CONTRACT, headers, &with).start();
    let Pair { agent, run, .. } = Pair::of(&daemon);
    let propose = |key: &str, line1: &str| {
        let body = json!({"tool": "commit_address_change.v2", "based_on": 1, "purpose": "a move",
            "arguments": {"customer_id": "C-9", "destination": address(line1)}});
        agent.propose(&run, key, &body)
    };
    for line1 in [
        "x\r\nX-Admin: 1",
        "x\nX-Admin: 1",
        "x\u{0}",
        "x\u{2028}y",
        " x",
        "x ",
        "x%0d%0aX-Admin: 1",
        "x\u{7f}",
    ] {
        let refused = propose(&fresh_key(), line1);
        assert_eq!(code_of(&refused), "INVALID_ARGUMENT", "{line1:?}");
        assert!(!refused.unwrap_err().to_string().contains("X-Admin"), "{line1:?}: no values in a refusal");
    }
    assert_eq!(agent.operations("").expect("a list"), Vec::<Value>::new(), "nothing was stored");
    let good = propose("k1", "Kungsgatan 5").expect("a proposal");
    let sent = &daemon.client("alice").operation(good["id"].as_str().expect("an id")).expect("it is shown")["request"];
    let notes = sent["headers"].as_array().unwrap().iter().filter(|header| header[0] == "x-note").count();
    assert_eq!(notes, 1, "{sent}");
    assert_eq!(writes_to(&sandbox, "C-9"), Vec::<Value>::new());
}

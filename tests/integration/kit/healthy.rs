//! A service that keeps its promises, and what is told and kept about it.

use serde_json::json;

use super::{Kit, with_verdict};

#[test]
fn a_healthy_service_passes_everything_and_doctor_knows() {
    let kit = Kit::new();
    let untested = kit.writd(&["doctor"]);
    assert!(
        untested.out.contains("commit_address_change.v2 (2.1) has no passing live test"),
        "{}",
        untested.out
    );
    let (code, report) = kit.live(&["--junit", "junit.xml"]);
    assert_eq!((code, with_verdict(&report, "failed")), (0, Vec::new()), "{report:#}");
    assert_eq!(with_verdict(&report, "unproven"), Vec::<String>::new());
    // A create has no version that could change in between; nothing else is left out.
    let left_out = with_verdict(&report, "not_asked");
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].starts_with("send_confirmation.v1: resource changed in between"), "{left_out:?}");
    let passed = with_verdict(&report, "passed");
    for question in [
        "same request again: one effect: the same answer; 1 effect in the ledger",
        "same key, other arguments: refused: refused with IDEMPOTENCY_CONFLICT; 1 effect in the ledger",
        "answer lost: the status tells: the connection was closed, the status proves it; 1 effect in the ledger",
        "resource changed in between: refused: refused with VERSION_CONFLICT; 0 effects in the ledger",
        "another tenant's id: not found: read and write refused with NOT_FOUND; 0 effects in the ledger",
    ] {
        let wanted = format!("commit_address_change.v2: {question}");
        assert!(passed.contains(&wanted), "{wanted}\n{passed:#?}");
    }
    assert!(passed.iter().any(|line| line.contains("three deliveries of one move are one move")));
    kit.sandbox.assert_at_most_one_effect_per_key();

    let junit = std::fs::read_to_string(kit.path("junit.xml")).unwrap();
    assert!(
        junit.contains("failures=\"0\"") && junit.matches("<testcase").count() == passed.len() + 1,
        "{junit}"
    );
    let tested = kit.writd(&["doctor"]);
    assert!(tested.out.contains("every contract passed a live test in its present form"), "{}", tested.out);
    // Another body is another contract: the record says nothing about it.
    kit.edit("get_customer.tool.yaml", "title: Read a customer", "title: Read one customer");
    let changed = kit.writd(&["doctor"]);
    assert!(changed.out.contains("get_customer.v1 (1.0) has no passing live test"), "{}", changed.out);
    assert!(!changed.out.contains("send_confirmation.v1 (1.0) has no"), "{}", changed.out);
}

#[test]
fn a_page_for_people_fits_into_eighty_columns_and_says_what_was_not_asked() {
    let kit = Kit::new();
    let offline = kit.writd(&["contracts", "test"]);
    assert_eq!((offline.code, offline.err.as_str()), (0, ""));
    assert!(offline.out.contains("the services were not asked"), "{}", offline.out);
    assert_eq!(kit.sandbox.ledger(), Vec::<serde_json::Value>::new(), "offline nothing is sent");
    let base = kit.sandbox.base_url();
    let live = kit.writd(&["contracts", "test", "--base", &base, "--tool", "get_customer.v1"]);
    assert_eq!(live.code, 0, "{}{}", live.out, live.err);
    assert!(live.out.contains("1 contracts") && live.out.contains("hold"), "{}", live.out);
    for line in offline.out.lines().chain(live.out.lines()) {
        assert!(line.chars().count() <= 80 && !line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn live_asks_where_the_configuration_says() {
    let kit = Kit::new();
    kit.without_cases();
    let base = format!("\n[[base]]\nname = \"crm\"\norigin = \"{}\"\n", kit.sandbox.base_url());
    let config = std::fs::read_to_string(kit.path("daemon.toml")).unwrap();
    std::fs::write(kit.path("daemon.toml"), config + &base).unwrap();
    let run = kit.writd(&["contracts", "test", "workflows", "--live", "--tool", "send_confirmation.v1"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains(&kit.sandbox.base_url()), "{}", run.out);
    // Same request again twice, other arguments twice, lost and again; nothing for the question about versions.
    assert_eq!(kit.sandbox.effects()["total"], 3, "{}", kit.sandbox.effects());
}

#[test]
fn a_service_that_is_not_there_and_one_on_another_machine_are_not_written_to() {
    let mut kit = Kit::new();
    let remote = kit.writd(&["contracts", "test", "--base", "https://crm.example.test"]);
    assert_eq!(remote.code, 2, "{}{}", remote.out, remote.err);
    assert!(remote.err.contains("--allow-remote-writes"), "{}", remote.err);
    let unknown = kit.writd(&["contracts", "test", "--tool", "no_such_tool.v1"]);
    assert!(
        unknown.code == 2 && unknown.err.contains("known here: commit_address_change.v2"),
        "{}",
        unknown.err
    );
    let other = kit.writd(&["contracts", "test", "--base", "erp=http://127.0.0.1:1"]);
    assert!(other.code == 2 && other.err.contains("bases in use: crm"), "{}", other.err);
    kit.sandbox.stop();
    let (code, report) = kit.live(&[]);
    let failed = with_verdict(&report, "failed");
    assert_eq!(code, 2);
    assert!(
        failed.iter().any(|line| line.contains("the service is there: it does not answer")),
        "{failed:?}"
    );
}

#[test]
fn without_a_ledger_versions_decide_and_what_nothing_shows_is_unproven() {
    let kit = Kit::new();
    kit.without_cases();
    // The ledger is hidden by a service in between that has no such routes.
    let front = Front::before(&kit.sandbox.base_url());
    let run = kit.writd(&["contracts", "test", "--json", "--base", &front.base_url()]);
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, with_verdict(&report, "failed")), (0, Vec::new()), "{report:#}");
    let (passed, unproven) = (with_verdict(&report, "passed"), with_verdict(&report, "unproven"));
    let version = "commit_address_change.v2: same request again: one effect: the same answer; the version is as it should be";
    assert!(passed.contains(&version.to_owned()), "{passed:#?}");
    let mail = "send_confirmation.v1: same request again: one effect: the same answer; without a ledger";
    assert!(unproven.iter().any(|line| line.starts_with(mail)), "{unproven:#?}");
    let doctor = kit.writd(&["doctor"]);
    assert!(doctor.out.contains("not proven: same request again"), "{}", doctor.out);
    // The service behind it kept its promises all the same.
    kit.sandbox.assert_at_most_one_effect_per_key();
    assert_eq!(json!([]), kit.sandbox.effects()["keys_with_more_than_one"]);
}

/// A service in between that passes everything on, except what begins with `/_sandbox/`.
struct Front {
    address: std::net::SocketAddr,
}

impl Front {
    fn before(base: &str) -> Front {
        let behind: std::net::SocketAddr = base.trim_start_matches("http://").parse().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || pass_on(client, behind));
            }
        });
        Front { address }
    }

    fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// One request after the other on one connection: the head decides, the rest is copied.
fn pass_on(mut client: std::net::TcpStream, behind: std::net::SocketAddr) -> Option<()> {
    use std::io::{Read as _, Write as _};
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if client.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
        client.read_exact(&mut body).ok()?;
        if text.contains(" /_sandbox/") {
            client.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").ok()?;
            continue;
        }
        let mut service = std::net::TcpStream::connect(behind).ok()?;
        // The connection behind ends with the answer, and so does the one in front.
        let closing = String::from_utf8_lossy(&head).replacen("\r\n", "\r\nconnection: close\r\n", 1);
        service.write_all(closing.as_bytes()).ok()?;
        service.write_all(&body).ok()?;
        std::io::copy(&mut service, &mut client).ok()?;
        return None;
    }
}

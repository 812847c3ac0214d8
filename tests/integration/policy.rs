//! `writd policy …` against the real daemon, and offline.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{address, id_of},
};

const TOOL: &str = "commit_address_change.v2";

/// One person for every write, nobody for drafts, and a rule of another tenant.
const TABLE: &str = r#"
[[policy]]
name = "one-person"
class = "write"
verdict = "approve"

[[policy]]
name = "abroad"
when = "args.destination.country != 'SE'"
verdict = "deny"
reason = "addresses abroad are changed by hand"

[[policy]]
name = "elsewhere"
tenant = "somebody-else"
verdict = "deny"
reason = "not here"

[[policy]]
name = "drafts"
class = "draft"
verdict = "allow"
"#;

/// Runs a command; its exit code, and what it says on both streams.
fn run(daemon: &Daemon, arguments: &[&str]) -> (i32, String) {
    let output = daemon.command(arguments).output().expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout) + &text(&output.stderr))
}

#[track_caller]
fn json_of(daemon: &Daemon, arguments: &[&str], exit: i32) -> Value {
    let (code, said) = run(daemon, &[arguments, &["--json"]].concat());
    assert_eq!(code, exit, "{arguments:?}: {said}");
    serde_json::from_str(said.lines().next().expect("an answer")).expect("JSON")
}

#[track_caller]
fn fits_the_terminal(page: &str) {
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Puts another text into the configuration, for the next start.
fn edit(daemon: &Daemon, from: &str, to: &str) {
    let text = fs::read_to_string(daemon.config_path()).expect("the configuration");
    assert!(text.contains(from), "`{from}` does not stand in it");
    fs::write(daemon.config_path(), text.replace(from, to)).expect("it is written");
}

#[test]
fn explain_says_rule_by_rule_what_the_table_in_force_says_of_a_stored_write() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).append(TABLE).start();
    let agent = daemon.client("agent");
    let run_id = id_of(&agent.open_run(&[TOOL]).expect("a run"));
    let id = id_of(&agent.propose_address(&run_id, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    let told = json_of(&daemon, &["policy", "explain", &id, "--as", "alice"], 0);
    let fits = |told: &Value| {
        let rules = told["rules"].as_array().expect("rules").clone();
        rules.iter().map(|rule| (rule["rule"].clone(), rule["matched"].clone())).collect::<Vec<_>>()
    };
    let wanted = [("one-person", true), ("abroad", false), ("drafts", false)];
    assert_eq!(fits(&told), wanted.map(|(rule, matched)| (json!(rule), json!(matched))), "{told}");
    assert_eq!(told["stored"]["compared"], "same");
    let (code, page) = run(&daemon, &["policy", "explain", &id, "--as", "alice"]);
    assert!(code == 0 && page.contains("its condition does not hold"), "{page}");
    assert!(page.contains("class: it wants draft, here it is write"), "{page}");
    fits_the_terminal(&page);

    // Another table comes into force: it is asked on what was stored.
    edit(&daemon, "verdict = \"approve\"", "verdict = \"approve\"\ncount = 2");
    edit(&daemon, "!= 'SE'", "!= 'NO'");
    daemon.restart();
    let told = json_of(&daemon, &["policy", "explain", &id, "--as", "alice"], 0);
    assert_eq!((&told["stored"]["compared"], &told["denied"]["rule"]), (&json!("denied"), &json!("abroad")));
    assert_eq!(told["stored"]["policy"]["matched"][0]["says"], "approve: 1", "as it was judged: {told}");
    edit(&daemon, "!= 'NO'", "!= 'SE'");
    daemon.restart();
    let told = json_of(&daemon, &["policy", "explain", &id, "--as", "alice"], 0);
    assert_eq!(
        (&told["stored"]["compared"], &told["stored"]["other_table"]),
        (&json!("stricter"), &json!(true))
    );
    assert_eq!(told["stored"]["missing"], json!([{"count": 2}]));
    let (_, page) = run(&daemon, &["policy", "explain", &id, "--as", "alice"]);
    assert!(page.contains("the table in force is stricter"), "{page}");
    assert_eq!(sandbox.effects_of("customer:C-1842"), 0);
}

#[test]
fn explain_before_a_proposal_stores_nothing_and_sends_nothing_but_the_read() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).append(TABLE).start();
    let agent = daemon.client("agent");
    let run_id = id_of(&agent.open_run(&[TOOL]).expect("a run"));
    let args = |country: &str| {
        let mut destination = address("Kungsgatan 5");
        destination["country"] = json!(country);
        json!({"customer_id": "C-1842", "destination": destination}).to_string()
    };
    let ask = |country: &str| {
        let args = args(country);
        let words = ["policy", "explain", "--run", &run_id, "--tool", TOOL, "--args", &args, "--as", "agent"];
        (json_of(&daemon, &words, 0), run(&daemon, &words).1)
    };
    let (told, page) = ask("SE");
    assert_eq!((&told["dry_run"], &told["verdict"]), (&json!(true), &json!("approve")), "{told}");
    assert!(page.contains("nothing was stored") && !page.contains("args.destination"), "{page}");
    fits_the_terminal(&page);
    let (told, page) = ask("NO");
    assert_eq!((&told["verdict"], &told["denied"]["rule"]), (&json!("deny"), &json!("abroad")), "{told}");
    assert!(page.contains("addresses abroad are changed by hand"), "{page}");
    assert!(daemon.client("oscar").operations("").expect("a list").is_empty());
    assert_eq!(sandbox.effects_of("customer:C-1842"), 0);
    let (code, said) = run(&daemon, &["policy", "explain", "--as", "agent"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn the_shipped_cases_hold_for_the_shipped_table_and_for_no_other_one() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/policy.cases.yaml");
    let sandbox = Sandbox::start();
    // Without any [[policy]] the shipped table is used.
    let daemon = Setup::new(&sandbox).prepare();
    let beside = daemon.folder().join("policy.cases.yaml");
    let told = json_of(&daemon, &["policy", "test"], 2);
    assert_eq!(told["findings"][0]["code"], "unreadable-file", "no cases are no passed cases: {told}");
    fs::copy(root, &beside).expect("the cases are copied");
    let told = json_of(&daemon, &["policy", "test"], 0);
    assert_eq!((&told["passed"], &told["counts"]["failed"]), (&json!(true), &json!(0)), "{told}");
    assert!(told["counts"]["passed"].as_u64() >= Some(4), "{told}");
    let (code, page) = run(&daemon, &["policy", "test"]);
    assert!(code == 0 && page.contains("0 failed"), "{page}");
    fits_the_terminal(&page);

    let (other, report) = (Setup::new(&sandbox).append(TABLE).prepare(), daemon.folder().join("report.xml"));
    let report = report.to_string_lossy().into_owned();
    let (code, page) = run(&other, &["policy", "test", root, "--junit", &report]);
    assert!(code == 2 && page.contains("FAILED") && page.contains("matching rules"), "{page}");
    fits_the_terminal(&page);
    let xml = fs::read_to_string(&report).expect("a report");
    assert!(xml.contains("writd policy test") && xml.contains("<failure"), "{xml}");

    let text = fs::read_to_string(root)
        .expect("the cases")
        .replace("affected_count", "affected_count: 1, affected_count");
    fs::write(&beside, text.replace("requester:", "requster:")).expect("it is written");
    let told = json_of(&daemon, &["policy", "test"], 2);
    let codes: Vec<&Value> =
        told["findings"].as_array().expect("findings").iter().map(|one| &one["code"]).collect();
    assert!(codes.contains(&&json!("duplicate-key")) && codes.contains(&&json!("unknown-key")), "{told}");
    assert!(told.to_string().contains("did you mean `requester`?"), "{told}");
}

#[test]
fn shadow_says_what_another_table_would_have_said_and_changes_nothing() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).append(TABLE).start();
    let agent = daemon.client("agent");
    let run_id = id_of(&agent.open_run(&[TOOL]).expect("a run"));
    let id = id_of(&agent.propose_address(&run_id, "k1", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    let before = daemon.client("alice").events(&id).expect("its journal");
    let own = fs::read_to_string(daemon.config_path()).expect("the configuration");
    for (from, to, compared, exit) in [
        ("", "", "same", 0),
        ("class = \"write\"\nverdict = \"approve\"", "class = \"write\"\nverdict = \"allow\"", "weaker", 5),
        ("verdict = \"approve\"", "verdict = \"approve\"\ncount = 2", "stricter", 5),
        ("verdict = \"approve\"", "verdict = \"approve\"\nassurance = \"token\"", "stricter", 5),
        ("!= 'SE'", "!= 'NO'", "denied", 5),
        ("!= 'SE'", "!= 'SE' && tool.class == 'draft'", "same", 0),
    ] {
        let new = daemon.folder().join("new.toml");
        fs::write(&new, own.replace(from, to)).expect("it is written");
        let new = new.to_string_lossy().into_owned();
        let told = json_of(&daemon, &["policy", "shadow", &new, "--as", "oscar"], exit);
        let shadow = &told["shadow"];
        assert_eq!(
            (&shadow["operations"], &shadow["counts"][compared]),
            (&json!(1), &json!(1)),
            "{to}: {told}"
        );
        let (code, page) = run(&daemon, &["policy", "shadow", &new, "--as", "oscar"]);
        assert_eq!(code, exit, "{page}");
        assert_eq!(page.contains(&id), exit != 0, "{page}");
        fits_the_terminal(&page);
    }
    assert_eq!(daemon.client("alice").events(&id).expect("its journal"), before);
    assert_eq!(run(&daemon, &["policy", "shadow", "no/such.toml", "--as", "oscar"]).0, 2);
}

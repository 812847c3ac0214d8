//! The format is closed, and a case that does not hold says why.

use super::read::parse;
use super::*;
use crate::config::{Config, Environment};

const TABLE: &str = r#"
[[policy]]
name = "one"
class = "write"
verdict = "approve"
[[policy]]
name = "money"
when = "consequences.amount > 1000"
verdict = "approve"
group = "finance"
count = 2
assurance = "token"
reason_required = true
exclude = ["zoe"]
[[policy]]
name = "night"
when = "now.hour < 6"
verdict = "deny"
reason = "not at night"
[[policy]]
name = "drafts"
class = "draft"
verdict = "allow"
"#;

fn table() -> std::sync::Arc<Table> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("daemon.toml");
    std::fs::write(&path, TABLE).unwrap();
    let (config, _) = Config::load(Some(&path), &Environment::default()).unwrap();
    Table::compile(&config.rules).unwrap()
}

fn case(given: &str, then: &str) -> Case {
    let text =
        format!("about: tests\ncases:\n  - case: one\n    given: {{ {given} }}\n    then: {{ {then} }}\n");
    let mut file = parse("x.cases.yaml", &text).unwrap_or_else(|findings| panic!("{findings:?}"));
    file.cases.remove(0)
}

#[test]
fn a_case_holds_or_says_what_does_not() {
    let table = table();
    let write = "class: write, tool: set_price.v2";
    let rich = "class: write, tool: set_price.v2, consequences: { amount: 2000 }";
    let poor = "class: write, tool: set_price.v2, consequences: { amount: 1 }";
    let night = "class: draft, tool: a.v1, consequences: { amount: 1 }, now: \"2026-01-01T03:00:00Z\"";
    let asked =
        "persons: 2, groups: { finance: 2 }, assurance: token, reason_required: true, excluded: [zoe]";
    for (given, then) in [
        // Its condition reads what is not there: that counts as a match.
        (write, "verdict: approve, rules: [one, money]".to_owned()),
        (rich, format!("verdict: approve, {asked}")),
        (poor, "verdict: approve, persons: 1, groups: {}, assurance: local_uid, rules: [one]".to_owned()),
        (night, "verdict: deny, rule: night".to_owned()),
        ("class: draft, tool: a.v1, consequences: { amount: 1 }", "verdict: allow".to_owned()),
    ] {
        assert_eq!(case(given, &then).differences(&table), Vec::<String>::new(), "{given}: {then}");
    }
    for (given, then, says) in [
        (poor, "verdict: allow", "it comes to approve, by 1"),
        (poor, "verdict: deny, rule: night", "it comes to approve"),
        (poor, "verdict: approve, persons: 2", "persons: 1 and not 2"),
        (rich, "verdict: approve, groups: { finance: 1 }", "groups: 2 of finance"),
        (rich, "verdict: approve, assurance: local_uid", "assurance: token"),
        (rich, "verdict: approve, excluded: []", "excluded: zoe"),
        (rich, "verdict: approve, reason_required: false", "reason_required: true"),
        (poor, "verdict: approve, rules: [one, money]", "matching rules: one"),
        (night, "verdict: deny, rule: money", "not by `money`"),
        (night, "verdict: allow", "deny, by `night`"),
    ] {
        let differences = case(given, then).differences(&table).join("; ");
        assert!(differences.contains(says), "{then}: {differences}");
    }
}

#[test]
fn what_the_format_does_not_know_is_refused_with_a_suggestion() {
    for (text, says) in [
        ("about: x\ncasse: []\n", "cases"),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1, arg: {} }, then: { verdict: allow } }]",
            "args",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1 }, then: { verdikt: allow } }]",
            "verdict",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a }, then: { verdict: allow } }]",
            "major",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: wrote, tool: a.v1 }, then: { verdict: allow } }]",
            "write",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1 }, then: { verdict: deny } }]",
            "rule",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1 }, then: { verdict: allow, persons: 1 } }]",
            "approve",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1, requester: { kin: agent } }, then: { verdict: allow } }]",
            "kind",
        ),
        (
            "about: x\ncases: [{ case: a, given: { class: write, tool: a.v1, environment: a, consequences: { environment: b } }, then: { verdict: allow } }]",
            "once",
        ),
    ] {
        let findings = parse("x.cases.yaml", text).unwrap_err();
        let told = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(told.contains(says) && findings.iter().all(|finding| finding.line > 0), "{text}: {told}");
    }
}

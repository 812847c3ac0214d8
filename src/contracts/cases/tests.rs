use super::read::parse;
use super::*;
use crate::contracts::finding::Findings;

const WHOLE: &str = "
about: tests
given:
  - reset: true
cases:
  - case: a change
    given: [{ fault: { fault: version_bump } }, { bump: C-1 }, { put: { path: customers/C-1, body: { a: 1 } } }]
    when: { write: send_confirmation.v1, args: { customer_id: C-1, template: address_changed }, times: 2 }
    then: { outcome: failed, code: VERSION_CONFLICT, effects: 0, answer: { /a/b: 1 } }
";

fn findings(text: &str) -> Vec<String> {
    let mut findings = Findings::default();
    parse("t.cases.yaml", text, &crate::contracts::tests::shipped(), &mut findings);
    findings.into_sorted().iter().map(|one| format!("{} {} {}", one.pointer, one.code, one.remedy)).collect()
}

#[test]
fn a_whole_file_is_read() {
    let mut none = Findings::default();
    let file = parse("t.cases.yaml", WHOLE, &crate::contracts::tests::shipped(), &mut none).unwrap();
    assert!(none.is_empty(), "{:?}", none.into_sorted());
    let case = &file.cases[0];
    assert_eq!(case.given.len(), 4, "that of the file comes first");
    assert_eq!((&case.given[0], case.when.times), (&Given::Reset, 2));
    assert_eq!((case.then.outcome, case.then.effects), (Outcome::Failed, Some(0)));
    assert_eq!(case.then.answer, [("/a/b".to_owned(), Value::from(1))]);
}

#[test]
fn whatever_is_not_of_the_format_is_a_finding_with_its_place() {
    for (from, to, wanted) in [
        ("    when:", "    wen:", "/cases/0/wen unknown-key did you mean `when`?"),
        ("effects: 0", "efects: 0", "/cases/0/then/efects unknown-key did you mean `effects`?"),
        ("reset: true", "reset: 1", "/given/0/reset wrong-type write true"),
        ("outcome: failed", "outcome: faild", "/cases/0/then/outcome bad-value did you mean `failed`?"),
        (
            "VERSION_CONFLICT",
            "VERSION_CONFLIC",
            "/cases/0/then/code bad-value did you mean `VERSION_CONFLICT`?",
        ),
        (
            "write: send_confirmation.v1",
            "call: send_confirmation.v1",
            "/cases/0/when/call tool-not-found use `write`",
        ),
        (
            "send_confirmation.v1",
            "send_confirmations.v1",
            "tool-not-found did you mean `send_confirmation.v1`?",
        ),
        ("outcome: failed", "outcome: answered", "/cases/0/then bad-value"),
        ("customer_id: C-1,", "customer_id: X,", "/cases/0/when/args/customer_id invalid-example"),
        ("{ bump: C-1 }", "{ bump: ../C-1 }", "/cases/0/given/1/bump bad-value"),
        ("{ bump: C-1 }", "{ bump: C-1, reset: true }", "/cases/0/given/1 bad-value one of: reset, fault"),
        ("/a/b: 1", "a: 1", "/cases/0/then bad-value"),
        ("{ fault: version_bump }", "version_bump", "/cases/0/given/0/fault bad-value"),
        (
            "{ bump: C-1 }",
            "{ write: { tool: get_customer.v1, args: { customer_id: C-1 } } }",
            "/cases/0/given/1/write/tool tool-not-found name a write or a draft",
        ),
        (
            "given:\n",
            "before_questions: { get_customer.v2: [] }\ngiven:\n",
            "/before_questions/get_customer.v2 tool-not-found",
        ),
        ("about: tests", "", "missing-field add `about`"),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let found = findings(&WHOLE.replacen(from, to, 1));
        assert!(found.iter().any(|line| line.contains(wanted)), "{to}: {found:#?}");
    }
}

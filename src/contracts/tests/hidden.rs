//! What is redacted does not come back through a template, however the template names it.

use super::super::{Catalog, Finding, FindingCode as Code};
use super::findings::sources;
use super::report;

const WRITE: &str = "commit_address_change.tool.yaml";

/// Ways to read a redacted member of the state before.
const WAYS: &[&str] = &[
    "preview.before.internal_notes",
    "preview[\"before\"].internal_notes",
    "preview[\"before\"][\"internal_notes\"]",
    "preview.before[\"internal_\" + \"notes\"]",
    "preview[\"be\" + \"fore\"][\"internal_notes\"]",
    "[preview].map(p, p.before.internal_notes)[0]",
    "{\"a\": preview}.a.before.internal_notes",
    "string(preview)",
    "preview",
];

fn spoiled(from: &str, to: &str) -> Vec<Finding> {
    Catalog::from_sources(sources(Some((WRITE, from, to)))).err().unwrap_or_default()
}

#[test]
fn a_redacted_member_is_found_in_every_template() {
    for way in WAYS {
        let text = format!("${{{way}}}").replace('"', "\\\"");
        for (from, to) in [
            ("recipients: []", format!("recipients: [\"{text}\"]")),
            ("  id: \"${args.customer_id}\"", format!("  id: \"{text}\"")),
            ("Replace the shipping address of customer ${args.customer_id}", text.clone()),
            (
                "If-Match: \"\\\"${target.version}\\\"\"",
                format!("If-Match: \"${{target.version}}\", X-Note: \"{text}\""),
            ),
            (
                "  with: { customer_id: \"${args.customer_id}\", destination",
                format!("  with: {{ customer_id: \"{text}\", destination"),
            ),
        ] {
            let found = spoiled(from, &to);
            let hidden = found.iter().any(|finding| finding.code == Code::RedactedPointer);
            assert!(hidden, "{to}:\n{}", report(&found));
        }
    }
}

#[test]
fn what_is_not_redacted_may_be_named_either_way() {
    for way in ["preview[\\\"before\\\"].name", "preview.before[\\\"name\\\"]"] {
        let found = spoiled("recipients: []", &format!("recipients: [\"${{{way}}}\"]"));
        assert!(found.is_empty(), "{}", report(&found));
    }
}

#[test]
fn what_is_never_stored_must_be_declared() {
    let spoiled = |pointer: &str| {
        let to = format!("redact: {{ never_store: [\"{pointer}\"] }}\nlog: {{");
        spoiled("log: {", &to)
    };
    assert!(spoiled("/receipt/key").is_empty());
    let found = spoiled("/receipt/kye");
    assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::UnknownName]);
}

#[test]
fn an_example_expects_only_what_the_output_can_be() {
    let spoiled = |expect: &str| {
        let (from, to) =
            ("args: { customer_id: C-1842 }", format!("args: {{ customer_id: C-1842 }}, expect: {expect}"));
        Catalog::from_sources(sources(Some(("get_customer.tool.yaml", from, &to)))).err().unwrap_or_default()
    };
    assert!(spoiled("{ customer_id: C-1842 }").is_empty());
    for wrong in ["{ customer: C-1842 }", "{ customer_id: 1842 }"] {
        let found = spoiled(wrong);
        assert!(
            found.iter().any(|finding| finding.code == Code::InvalidExample),
            "{wrong}: {}",
            report(&found)
        );
    }
}

#[test]
fn a_readback_waits_for_members_that_the_read_declares_and_shows() {
    let spoiled = |expect: &str| {
        let to = format!("readback: {{ read: get_customer.v1, expect: {{ {expect} }} }}\nlog: {{");
        let all = sources(None).into_iter().map(|mut source| {
            if source.file == WRITE {
                let kept: Vec<&str> =
                    source.text.lines().filter(|line| !line.starts_with("readback:")).collect();
                source.text = kept.join("\n").replacen("log: {", &to, 1);
            }
            source
        });
        Catalog::from_sources(all.collect()).err().unwrap_or_default()
    };
    let good = spoiled("name: \"${args.customer_id}\"");
    assert!(good.is_empty(), "{}", report(&good));
    let codes = |expect: &str| spoiled(expect).iter().map(|finding| finding.code).collect::<Vec<_>>();
    assert_eq!(codes("nam: a"), [Code::UnknownName]);
    assert_eq!(codes("email: \"${args.customer_id}\""), [Code::RedactedPointer]);
}

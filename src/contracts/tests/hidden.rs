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

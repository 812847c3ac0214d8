use super::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const DICTIONARY: [&str; 33] = [
    "INVALID_ARGUMENT",
    "UNSUPPORTED_TOOL",
    "TOOL_DEPRECATED",
    "TOOL_RETIRED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "PRECONDITION_FAILED",
    "VERSION_CONFLICT",
    "CONFLICT",
    "IDEMPOTENCY_CONFLICT",
    "IDEMPOTENCY_EXPIRED",
    "PROPOSAL_CHANGED",
    "PROPOSAL_EXPIRED",
    "APPROVAL_REQUIRED",
    "APPROVAL_EXPIRED",
    "APPROVAL_REVOKED",
    "APPROVER_NOT_AUTHORIZED",
    "DENIED",
    "POLICY_CHANGED",
    "PAUSED",
    "TARGET_BUSY",
    "RATE_LIMITED",
    "BUDGET_EXHAUSTED",
    "DEADLINE_EXCEEDED",
    "UNAVAILABLE",
    "OUTCOME_UNKNOWN",
    "PARTIAL_EFFECT",
    "OUTPUT_INVALID",
    "PAYLOAD_TOO_LARGE",
    "CANCELLED",
    "INVALID_TRANSITION",
    "STORAGE_FULL",
    "INTERNAL",
];
/// What the daemon says beyond the published list: who is not known, and what keeps it from starting or reading.
const OWN: [&str; 4] = ["UNAUTHENTICATED", "CONFIGURATION_INVALID", "ALREADY_RUNNING", "STORE_DAMAGED"];

#[test]
fn the_dictionary_is_closed() {
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let wanted: BTreeSet<&str> = DICTIONARY.into_iter().chain(OWN).collect();
    assert_eq!(known, wanted);
    assert_eq!(Code::ALL.len(), wanted.len(), "a code stands in the list twice");
}

#[test]
fn a_code_goes_out_and_comes_back() {
    for code in Code::ALL {
        assert_eq!(code.as_str().parse(), Ok(*code));
        let text = serde_json::to_string(code).unwrap();
        assert_eq!(text, format!("\"{code}\""));
        assert_eq!(serde_json::from_str::<Code>(&text).unwrap(), *code);
    }
    for foreign in ["", "invalid_argument", "INVALID_ARGUMENT ", "SOMETHING_NEWER"] {
        assert_eq!(foreign.parse::<Code>(), Err(UnknownCode(foreign.to_owned())));
    }
    let hostile = format!("\u{202e}{}", "X".repeat(500)).parse::<Code>().unwrap_err().to_string();
    assert!(hostile.contains("\\u{202e}") && hostile.len() < 160, "{hostile}");
}

#[test]
fn every_code_has_a_page_with_its_title() {
    for code in Code::ALL {
        let page = code.page();
        assert_eq!(page.lines().next(), Some(format!("# {code}: {}", code.title()).as_str()));
        for heading in ["## What it means", "## What happened to the world", "## What to do"] {
            assert_eq!(page.lines().filter(|line| *line == heading).count(), 1, "{code}: {heading}");
        }
        assert!((10..=25).contains(&page.lines().count()), "{code}: a page has 10 to 25 lines");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{code}: a line is too long");
    }
}

#[test]
fn no_page_is_left_over() {
    let pages: BTreeSet<String> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    assert_eq!(pages, Code::ALL.iter().map(|code| format!("{code}.md")).collect());
}

#[test]
fn what_the_dictionary_says_makes_sense() {
    for code in Code::ALL {
        let status = code.http_status();
        match code.category() {
            Category::Warning => assert_eq!((status, code.exit_code()), (200, 0), "{code}"),
            Category::Authentication => assert_eq!(status, 401, "{code}"),
            Category::Permission | Category::Validation | Category::Conflict | Category::Governance => {
                assert!((400..500).contains(&status) && !code.retryable(), "{code}");
                assert_eq!(code.default_effect(), Effect::None, "{code}");
            }
            Category::Capacity => assert!((400..600).contains(&status), "{code}"),
            Category::Downstream | Category::Unknown | Category::Storage | Category::Internal => {
                assert!((500..600).contains(&status), "{code}");
            }
        }
        if code.retryable() {
            assert_eq!(code.default_effect(), Effect::None, "{code}: never repeat what may have happened");
        }
        assert_ne!(code.default_effect(), Effect::Applied, "{code}: an error proves no effect");
        assert!(!code.title().ends_with('.') && !code.title().is_empty(), "{code}");
        assert!(code.as_str().len() <= SHOWN_CODE);
    }
    assert_eq!(Code::OutcomeUnknown.default_effect(), Effect::Unknown);
    assert_eq!(Code::TargetBusy.http_status(), 409);
}

#[test]
fn every_category_has_its_exit_code() {
    let exits: BTreeSet<u8> = Category::ALL.iter().map(|category| category.exit_code()).collect();
    assert_eq!(exits.len(), Category::ALL.len());
    assert!(exits.iter().all(|exit| *exit < 64));
    for category in Category::ALL {
        assert_eq!(serde_json::to_value(category).unwrap(), category.as_str());
        assert!(Code::ALL.iter().any(|code| code.category() == category), "{category}: no code uses it");
    }
}

#[test]
fn the_index_is_up_to_date() {
    let mut index = String::from(
        "# Error codes\n\n\
         Programs act on the code, never on the words beside it. *Effect* is what the world looks like when nothing\n\
         more is known than the code; *again* says whether the same request may simply be sent again later; *who* can\n\
         usually do something about it. A code that is not in this list means stop.\n\n\
         | code | title | category | effect | again | HTTP | exit | who | since |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let again = if code.retryable() { "yes" } else { "no" };
        let (title, category, effect) = (code.title(), code.category(), code.default_effect());
        let (status, exit, who, since) = (code.http_status(), code.exit_code(), code.owner(), code.since());
        writeln!(
            index,
            "| [{code}]({code}.md) | {title} | {category} | {effect} | {again} | {status} | {exit} | {who} | {since} |"
        )
        .unwrap();
    }
    let file = directory().join("README.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &index).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, index, "docs/errors/README.md is out of date: run this test with UPDATE=1");
}

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors")
}

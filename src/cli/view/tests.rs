//! Pages of constructed wire objects, held against golden transcripts. No line is wider than 80 columns, and no page
//! carries a character that cannot be seen.

mod fixture;

use std::path::Path;

use serde_json::json;

use super::*;
use crate::cli::client::ClientError;
use crate::cli::failure::Failure;
use crate::cli::output::paper::WIDTH;
use crate::domain::Code;
use crate::domain::json::display::is_invisible;
use crate::domain::operation::Effect;
use crate::domain::problem::Problem;
use fixture::{Fixture, ID};

/// Compares with tests/golden/cli/NAME.txt; UPDATE=1 rewrites it.
fn golden(name: &str, page: &Paper) {
    let text = page.render(false);
    for line in text.lines() {
        assert!(wrap::columns(line) <= WIDTH, "{name}: wider than {WIDTH} columns: {line}");
        assert!(!line.chars().any(is_invisible), "{name}: something cannot be seen: {line:?}");
    }
    assert!(!page.render(true).contains("\u{1b}[0m\u{1b}[0m"), "{name}: styles end once");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/cli/{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "golden file {name}; UPDATE=1 rewrites it");
}

#[test]
fn a_proposal_is_shown_as_it_is_to_be_judged() {
    golden("proposed", &operation(&Fixture::proposed().detail()));
}

#[test]
fn an_approved_one_says_what_it_waits_for() {
    let busy = Fixture::approved().set(
        "/wait",
        json!({"reason": "target_busy", "detail": "target busy with op_01h455vb4pex5vsknk084sn03r",
               "blocker": "op_01h455vb4pex5vsknk084sn03r"}),
    );
    golden("approved_waiting", &operation(&busy.detail()));
    golden(
        "approved_explicit",
        &brief(&Fixture::approved().set("/commit", json!("explicit")).view(), "approved"),
    );
}

#[test]
fn an_unknown_outcome_says_why_and_what_an_operator_can_do() {
    golden("unknown_paused", &operation(&Fixture::unknown().detail()));
}

#[test]
fn the_end_is_shown_with_its_evidence() {
    golden("succeeded", &operation(&Fixture::succeeded().detail()));
    golden("draft", &operation(&Fixture::draft().detail()));
    golden("conflict", &operation(&Fixture::conflict().detail()));
    golden("partial_late", &operation(&Fixture::partial().detail()));
    golden("denied", &operation(&Fixture::denied().detail()));
}

#[test]
fn hostile_text_is_shown_whole_and_cannot_pretend_to_be_ours() {
    let hostile = Fixture::hostile();
    let page = operation(&hostile.detail());
    golden("hostile", &page);
    let text = page.render(true);
    assert!(!text.contains('\u{202e}') && !text.contains("\u{1b}[2J") && !text.contains('\u{200b}'));
    // A changed value of 600 characters is there whole.
    let shown: String = text.chars().filter(|c| *c == 'x').collect();
    assert!(shown.len() >= 600, "{}", shown.len());
    assert!(digests_hold(&hostile.detail()));
}

#[test]
fn what_does_not_have_its_digests_is_called_out() {
    for pointer in ["/arguments/city", "/request/path"] {
        let forged = Fixture::proposed().keep_digests(pointer, json!("elsewhere"));
        assert!(!digests_hold(&forged.detail()));
        assert!(operation(&forged.detail()).render(false).contains("do not approve it"), "{pointer}");
    }
    assert!(!operation(&Fixture::proposed().detail()).render(false).contains("do not approve it"));
}

#[test]
fn only_the_whole_view_says_how_to_approve() {
    golden("proposed_brief", &brief(&Fixture::proposed().view(), ""));
    assert!(operation(&Fixture::proposed().detail()).render(false).contains("op approve"));
    assert!(!brief(&Fixture::proposed().view(), "").render(false).contains("op approve"));
}

#[test]
fn lists_are_readable() {
    let items: Vec<OperationView> =
        [Fixture::proposed(), Fixture::unknown(), Fixture::succeeded(), Fixture::hostile()]
            .iter()
            .map(Fixture::view)
            .collect();
    let page = crate::api::wire::Page { items, next: Some("b3Bf/x".into()), unreadable: 1 };
    golden("operations", &operations(&page));
    let item = |fixture: Fixture, extra: serde_json::Value| {
        let mut value = fixture.view_json();
        value.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value
    };
    let inbox_view = json!({
        "approvals": [
            item(Fixture::proposed(), json!({"age_ms": 750_000, "yours": true})),
            item(Fixture::hostile(), json!({"age_ms": 1_000, "yours": false, "why_not": "you proposed it"})),
        ],
        "approvals_total": 7,
        "unknown": [item(Fixture::unknown(), json!({"age_ms": 1_000_000, "paused": true, "yours": true}))],
        "unknown_total": 1,
    });
    golden("inbox", &inbox(&serde_json::from_value(inbox_view).unwrap()));
    let empty = json!({"approvals": [], "approvals_total": 0, "unknown": [], "unknown_total": 0});
    golden("inbox_empty", &inbox(&serde_json::from_value(empty).unwrap()));
}

#[test]
fn a_run_and_a_journal_are_readable() {
    golden("run", &run(&serde_json::from_value(fixture::run()).unwrap()));
    golden("events", &events(&serde_json::from_value::<Vec<_>>(fixture::events()).unwrap()));
}

#[test]
fn refusals_say_what_happened_and_what_to_do() {
    let findings =
        Problem::new(Code::InvalidArgument, "the arguments do not follow the schema of the contract")
            .finding("/arguments/postcode", Code::InvalidArgument, "5 digits are wanted")
            .finding("/arguments/\u{202e}x", Code::InvalidArgument, "unknown member; did you mean `city`?");
    golden("refused_findings", &Failure::Problem(Box::new(findings)).page());
    let conflict = Problem::new(Code::VersionConflict, "customer C-1842 has changed since it was read")
        .operation(ID.parse().unwrap())
        .state("failed")
        .current_version(18);
    golden("refused_conflict", &Failure::Problem(Box::new(conflict)).page());
    let busy = Problem::new(Code::TargetBusy, "another write holds customer C-1842").retry_after(5);
    golden("refused_busy", &Failure::Problem(Box::new(busy)).page());
    let unknown = Problem::new(Code::StorageFull, "the outcome could not be stored").effect(Effect::Unknown);
    golden("refused_unknown", &Failure::Problem(Box::new(unknown)).page());
}

#[test]
fn trouble_with_the_socket_says_what_to_do() {
    golden("not_running", &Failure::Client(ClientError::NotRunning("state/writd.sock".into())).page());
    let lost = |read| ClientError::Lost {
        request: "POST /v1/operations/op_01h455vb4pex5vsknk084sn02q/approve".into(),
        cause: "connection closed before message completed".into(),
        read,
    };
    golden("lost", &Failure::Client(lost(false)).page());
    assert_eq!((lost(false).code(), lost(false).effect()), (Code::OutcomeUnknown, Effect::Unknown));
    assert_eq!((lost(true).code(), lost(true).effect()), (Code::Unavailable, Effect::None));
}

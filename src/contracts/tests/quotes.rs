//! Writes whose preview a preview tool answers: what `check` refuses, and what is made of an answer.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{Catalog, Contract, FindingCode as Code, RenderError, Source, WriteContext};
use super::report;

const QUOTE: &str = "quote_shipping.tool.yaml";
const BOOK: &str = "book_shipping.tool.yaml";

const CALL: &str = "call: quote_shipping.v1";
const EFFECT: &str = "  effect_text:";
const REQUIRED: &str = "required: [before, after, id]";

/// A refusal: which file is spoiled and how, and where which code with which remedy is found in the write.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, &str, Code, &str, &str)] = &[
    (BOOK, CALL, "call: quote_shiping.v1", Code::ToolNotFound, "/preview/call", "quote_shipping.v1"),
    (BOOK, CALL, "call: book_shipping.v1", Code::ToolNotFound, "/preview/call", "name a read"),
    (BOOK, EFFECT, "  read: quote_shipping.v1\n  effect_text:", Code::BadValue, "/preview/read", "remove `read`"),
    (BOOK, EFFECT, "  after: {}\n  effect_text:", Code::BadValue, "/preview/after", "remove `after`"),
    (BOOK, EFFECT, "  consequences: {}\n  effect_text:", Code::BadValue, "/preview/consequences", "remove `consequences`"),
    (BOOK, EFFECT, "  effect_txt:", Code::MissingPreview, "/preview", "add `effect_text`"),
    (BOOK, "${preview.before.version}", "${preview.before.vers}", Code::UnknownName, "/target/version", "the schema declares: carrier, clerk, version"),
    (BOOK, "id: \"${args.order_id}\"", "id: \"${preview.id}\"", Code::UnknownName, "/target/id", "did you mean `preview.before`?"),
    (BOOK, "maxLength: 40, x-kind: claim", "maxLength: 40, x-kind: claim, default: dhl", Code::BadValue, "/preview/call", "remove the `default`"),
    (QUOTE, REQUIRED, "required: [after, id]", Code::MissingPreview, "/preview/call", "name `before` under `required`"),
    (QUOTE, REQUIRED, "required: [before, id]", Code::MissingPreview, "/preview/call", "name `after` under `required`"),
    (QUOTE, REQUIRED, "required: [before, after]", Code::MissingPreview, "/adapter/http/body/quote_id", "require `id`"),
    (QUOTE, "    after:\n", "    afterwards:\n", Code::MissingPreview, "/preview/call", "declare `after`"),
    (QUOTE, "    after:\n      type: object", "    after:\n      type: [object, \"null\"]", Code::WrongType, "/preview/call", "declare it as object"),
    (QUOTE, "type: string, format: date-time", "type: string, format: uuid, x-offset: none", Code::WrongType, "/preview/call", "format: date-time"),
    (QUOTE, "        carrier: { type: string, maxLength: 60 }", "        carier: { type: string, maxLength: 60 }", Code::UnknownName, "/preview/call", "did you mean `carrier`?"),
    (QUOTE, "/before/clerk: drop", "/before/carrier: drop", Code::RedactedPointer, "/preview/call", "not redacted"),
    (QUOTE, "/before/clerk: drop", "/consequences: drop", Code::RedactedPointer, "/preview/call", "not redacted"),
    (QUOTE, "/before/clerk: drop", "/before/version: mask", Code::RedactedPointer, "/target/version", "not redacted"),
];

fn sources(spoil: Option<(&str, &str, &str)>) -> Vec<Source> {
    let files = [QUOTE, BOOK].map(|file| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/quotes").join(file);
        let mut text = std::fs::read_to_string(path).unwrap();
        if let Some((_, from, to)) = spoil.filter(|(spoiled, ..)| *spoiled == file) {
            assert!(text.contains(from), "{file} has no `{from}`");
            text = text.replacen(from, to, 1);
        }
        Source { file: file.to_owned(), text }
    });
    files.into()
}

fn book() -> Arc<Contract> {
    let catalog = Catalog::from_sources(sources(None)).unwrap_or_else(|found| panic!("{}", report(&found)));
    catalog.get(&"book_shipping.v1".parse().unwrap()).unwrap()
}

fn answer() -> Value {
    json!({
        "before": {"version": 3, "carrier": "dhl", "clerk": "Ines"},
        "after": {"carrier": "nordpost", "price_eur": 12.5},
        "defaults": {"carrier": "nordpost"},
        "consequences": {"environment": "test", "affected_count": 1},
        "expires_at": "2026-07-19T02:00:00.5+02:00",
        "id": "Q-17",
    })
}

#[test]
fn each_mistake_has_its_place_and_remedy() {
    let mut wrong = String::new();
    for (file, from, to, code, pointer, remedy) in REFUSED {
        let found = Catalog::from_sources(sources(Some((file, from, to)))).err().unwrap_or_default();
        let told = found.iter().any(|finding| {
            finding.file == BOOK
                && finding.line > 0
                && (finding.code, finding.pointer.as_str()) == (*code, *pointer)
                && finding.remedy.contains(remedy)
        });
        if !told {
            wrong += &format!("{to}: {code} at {pointer} with `{remedy}` is not in:\n{}", report(&found));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn an_id_is_only_known_where_a_preview_tool_is_called() {
    let mut shipped = super::findings::sources(None);
    let write = shipped.iter_mut().find(|source| source.file.starts_with("commit_")).unwrap();
    write.text = write.text.replace("headers: {", "headers: { X-Quote-Id: \"${preview.id}\",");
    let found = Catalog::from_sources(shipped).unwrap_err();
    assert_eq!(found.len(), 1, "{}", report(&found));
    assert_eq!(
        (found[0].code, found[0].pointer.as_str()),
        (Code::UnknownName, "/adapter/http/headers/X-Quote-Id")
    );
    assert!(found[0].remedy.contains("preview.call"), "{}", report(&found));
}

#[test]
fn an_answer_becomes_arguments_changes_and_a_request() {
    let (contract, given) = (book(), json!({"order_id": "O-7"}));
    let (tool, with) = contract.preview_read(&given).unwrap();
    assert_eq!(
        (tool.to_string().as_str(), with),
        ("quote_shipping.v1", json!({"order_id": "O-7", "carrier": null}))
    );
    let quoted = contract.quoted(&given, &answer()).unwrap();
    assert_eq!(quoted.id.as_deref(), Some("Q-17"));
    assert_eq!(quoted.expires_at.map(|time| time.to_string()).as_deref(), Some("2026-07-19T00:00:00.500Z"));
    let args = quoted.arguments.unwrap();
    assert_eq!(args, json!({"order_id": "O-7", "carrier": "nordpost"}));
    assert_eq!(
        contract.effect_text(&args, &answer()).unwrap(),
        "Ship order O-7 with nordpost, by quote Q-17"
    );
    assert_eq!(contract.consequences(&args, &answer()).unwrap()["affected_count"], 1);
    let target = contract.target(&args, &answer()).unwrap();
    assert_eq!((target.id.as_str(), target.version.as_deref()), ("O-7", Some("3")));
    let changes = contract.changes(&args, &answer()).unwrap();
    let seen: Vec<_> = changes.into_iter().map(|one| (one.field, one.before, one.after)).collect();
    assert_eq!(
        seen,
        [
            ("/carrier".to_owned(), Some(json!("dhl")), Some(json!("nordpost"))),
            ("/price_eur".to_owned(), None, Some(json!(12.5))),
        ],
        "what `after` does not name stays"
    );
    let request = contract
        .render_write(&WriteContext {
            origin: "http://x",
            args: &args,
            before: &answer(),
            target: &target,
            operation: "op_1",
            run: "run_1",
            requester: "agent-7",
            on_behalf_of: None,
            key: "run_1:op_1",
        })
        .unwrap();
    assert!(request.headers.contains(&("x-quote-id".to_owned(), "Q-17".to_owned())), "{:?}", request.headers);
    assert_eq!(request.body.unwrap(), br#"{"carrier":"nordpost","quote_id":"Q-17"}"#);
}

#[test]
fn what_was_given_stays_and_what_may_be_left_out_may_be() {
    let (contract, given) = (book(), json!({"order_id": "O-7", "carrier": "bike"}));
    assert_eq!(contract.quoted(&given, &answer()).unwrap().arguments, None);
    let mut bare = answer();
    for name in ["defaults", "consequences", "expires_at"] {
        bare.as_object_mut().unwrap().remove(name);
    }
    let quoted = contract.quoted(&given, &bare).unwrap();
    assert_eq!((quoted.arguments, quoted.expires_at), (None, None));
    assert_eq!(contract.consequences(&given, &bare).unwrap(), json!({}));
    // A create: nothing was there before.
    bare["before"] = Value::Null;
    assert!(contract.changes(&given, &bare).unwrap().iter().all(|change| change.before.is_none()));
    assert!(contract.target(&given, &bare).is_err(), "this one needs a version");
    bare.as_object_mut().unwrap().remove("after");
    assert_eq!(contract.changes(&given, &bare), Err(RenderError::Quote { member: "after" }));
    bare["expires_at"] = json!("tomorrow");
    assert_eq!(contract.quoted(&given, &bare), Err(RenderError::Quote { member: "expires_at" }));
}

#[test]
fn a_stored_write_is_executed_as_it_was_checked() {
    let stored = Contract::from_body(book().body()).unwrap();
    let args = json!({"order_id": "O-7", "carrier": "nordpost"});
    assert_eq!(stored.target(&args, &answer()).unwrap().version.as_deref(), Some("3"));
}

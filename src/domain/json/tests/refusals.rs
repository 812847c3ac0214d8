//! What a refusal says: kind, place, words.

use super::*;
use crate::domain::Code;

#[test]
fn duplicate_members_are_found_after_unescaping_at_any_depth() {
    for (text, pointer) in [
        (r#"{"a":1,"a":1}"#, "/a"),
        (r#"{"a":1,"\u0061" : 2}"#, "/a"),
        (r#"[0,{"x/y":{"k":[],"b":1,"k":{}}}]"#, "/1/x~1y/k"),
        (r#"{"":1,"":2}"#, "/"),
    ] {
        let (kind, place, offset) = refused(text);
        assert_eq!((kind, place.as_str()), (JsonErrorKind::DuplicateKey, pointer), "{text}");
        assert!(offset.is_some());
    }
    assert!(read(r#"{"a":{"a":1},"b":{"a":1},"A":1}"#).is_ok());
}

#[test]
fn broken_texts_are_named_by_kind_and_place() {
    for (text, kind, place) in [
        ("", JsonErrorKind::Incomplete, ""),
        ("  ", JsonErrorKind::Incomplete, ""),
        (r#"{"a":[1,"#, JsonErrorKind::Incomplete, "/a/1"),
        ("{\"a\":1,\n\"b\":tru}", JsonErrorKind::Syntax, "/b"),
        ("[1,]", JsonErrorKind::Syntax, ""),
        ("[1 2]", JsonErrorKind::Syntax, "/0"),
        ("{\"a\" 1}", JsonErrorKind::Syntax, "/a"),
        ("[01]", JsonErrorKind::Syntax, "/0"),
        ("[NaN]", JsonErrorKind::Syntax, "/0"),
        ("\"\u{1}\"", JsonErrorKind::Syntax, ""),
        ("{} {}", JsonErrorKind::TrailingData, ""),
        ("1 x", JsonErrorKind::TrailingData, ""),
        ("\u{feff}{}", JsonErrorKind::ByteOrderMark, ""),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.kind, kind, "{text:?}: {error}");
        if text != "[1,]" {
            assert_eq!(error.pointer, place, "{text:?}: {error}");
        }
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    let error = parse(b"{\"a\":[1,\"x\xff\"]}", Limits::default()).unwrap_err();
    assert_eq!(
        (error.kind, error.pointer.as_str(), error.offset),
        (JsonErrorKind::InvalidUtf8, "/a/1", Some(10))
    );
    let error = read("{\"a\":1,\n\"b\":tru}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text is not JSON (expected ident) at /b, byte 15: write it with a JSON library (RFC 8259)"
    );
}

#[test]
fn size_is_counted_in_bytes_and_the_limit_is_inclusive() {
    assert!(parse("\"é\"".as_bytes(), Limits::bytes(4)).is_ok());
    let error = parse("\"éx\"".as_bytes(), Limits::bytes(4)).unwrap_err();
    assert_eq!((error.kind, error.code()), (JsonErrorKind::TooLarge, Code::PayloadTooLarge));
    assert!(error.to_string().contains("5 bytes, the limit is 4"), "{error}");
}

#[test]
fn messages_are_bounded_and_show_no_hidden_characters() {
    let name = "n\u{202e}".repeat(10_000);
    let error = read(&format!("{{\"short\":{{\"{name}\":1e999}}}}")).unwrap_err();
    assert_eq!(error.pointer, "/short", "the place ends at an ancestor when a name is too long");
    let error = read(&format!("{{\"{}\":1e999}}", "n\u{202e}".repeat(50))).unwrap_err();
    let message = error.to_string();
    assert!(
        message.len() < 400 && message.contains("\\u{202e}") && !message.contains('\u{202e}'),
        "{message}"
    );
    for kind in JsonErrorKind::ALL {
        let (what, remedy) = kind.explain();
        assert!(!what.is_empty() && !remedy.is_empty() && !what.ends_with('.') && !remedy.ends_with('.'));
    }
}

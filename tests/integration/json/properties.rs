//! Properties over generated values and texts.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};
use writd::domain::json::display::{escape_and_cut, escape_visible, is_invisible, unescape_visible};
use writd::domain::json::{Canonical, JsonErrorKind, Limits, MAX_DEPTH, parse, pointer};

fn read(bytes: &[u8]) -> Value {
    parse(bytes, Limits::default()).unwrap()
}

/// Every double, through its bits.
fn number() -> impl Strategy<Value = Number> {
    let doubles = any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits)));
    let whole = (-(1i64 << 53)..=1i64 << 53).prop_map(Number::from);
    let small = (-1000i64..1000, 0i32..6)
        .prop_filter_map("finite", |(digits, places)| Number::from_f64(digits as f64 / 10f64.powi(places)));
    // Sixteenths near the end of the mantissa: two decimals are often equally short and equally near.
    let ties = (-(1i64 << 53)..=1i64 << 53, 1i32..6).prop_filter_map("finite", |(digits, halvings)| {
        Number::from_f64(digits as f64 / 2f64.powi(halvings))
    });
    prop_oneof![doubles, whole, small, ties]
}

/// Any characters, with those that escaping, sorting and pointers care about more often than chance has them.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        '\\',
        '"',
        '/',
        '~',
        '\0',
        '\u{1f}',
        '\u{7f}',
        '{',
        '}',
        'u',
        '\u{202e}',
        '\u{200b}',
        '\u{e0041}',
        '\u{fb33}',
        '\u{1f602}',
        '\u{ffff}',
        '\u{10ffff}',
        '\u{301}',
    ]);
    prop::collection::vec(prop_oneof![any::<char>(), special], 0..12)
        .prop_map(|letters| letters.into_iter().collect())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Bytes that look like JSON until they do not.
fn almost_json() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"b\":",
        "1",
        "-",
        ".",
        "e",
        "E+",
        "0",
        "9007199254740993",
        "1e999",
        "true",
        "null",
        " ",
        "\n",
        "\\",
        "\\u",
        "\\ud83d",
        "\\ude02",
        "\\u0061",
        "é",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// Every place of a value with the value there.
fn places<'v>(value: &'v Value, at: &str, found: &mut Vec<(String, &'v Value)>) {
    found.push((at.to_owned(), value));
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                places(element, &pointer::join(at, &index.to_string()), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                places(member, &pointer::join(at, name), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_is_a_fixed_point_and_keeps_the_value(value in value()) {
        // A value from elsewhere may hold 1.0 and 1; what was parsed has one form for both.
        let canonical = Canonical::of(&value).unwrap();
        let parsed = read(canonical.as_bytes());
        let again = Canonical::of(&parsed).unwrap();
        prop_assert_eq!(&again, &canonical);
        prop_assert_eq!(read(again.as_bytes()), parsed.clone());
        prop_assert_eq!(canonical.value(), parsed.clone());
        prop_assert!(Canonical::reread(canonical.as_bytes()).is_ok());
        // However it is written, it is the same value with the same digest.
        let pretty = read(serde_json::to_string_pretty(&value).unwrap().as_bytes());
        prop_assert_eq!(&pretty, &parsed);
        prop_assert_eq!(Canonical::of(&pretty).unwrap().digest(), canonical.digest());
    }

    #[test]
    fn what_a_double_does_not_carry_is_refused_everywhere(whole in any::<u64>()) {
        let wanted = format!("{}", whole as f64) == whole.to_string();
        let text = whole.to_string();
        let parsed = parse(text.as_bytes(), Limits::default());
        prop_assert_eq!(parsed.is_ok(), wanted);
        prop_assert_eq!(Canonical::of(&Value::from(whole)).is_ok(), wanted);
        if let Err(error) = parsed {
            prop_assert_eq!(error.kind, JsonErrorKind::InexactNumber);
        }
    }

    #[test]
    fn every_text_is_a_value_or_a_refusal_and_never_more_than_the_library_takes(text in almost_json()) {
        let strict = parse(text.as_bytes(), Limits::default());
        let lenient = serde_json::from_str::<Value>(&text);
        match strict {
            Ok(value) => {
                prop_assert!(lenient.is_ok());
                let canonical = Canonical::of(&value).unwrap();
                prop_assert_eq!(canonical.digest(), Canonical::of(&lenient.unwrap()).unwrap().digest());
            }
            Err(error) => {
                if lenient.is_ok() {
                    let stricter = [JsonErrorKind::DuplicateKey, JsonErrorKind::InexactNumber];
                    prop_assert!(stricter.contains(&error.kind), "{}", error);
                }
                prop_assert!(error.offset.is_none_or(|offset| offset <= text.len()));
                prop_assert!(pointer::tokens(&error.pointer).is_some());
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = parse(&bytes, Limits::default()) {
            prop_assert!(Canonical::of(&value).is_ok());
        }
    }

    #[test]
    fn depth_is_counted_exactly(kinds in prop::collection::vec(any::<bool>(), 0..2 * MAX_DEPTH)) {
        let open: String = kinds.iter().map(|array| if *array { "[" } else { "{\"]\":" }).collect();
        let close: String = kinds.iter().rev().map(|array| if *array { "]" } else { "}" }).collect();
        let parsed = parse(format!("{open}0{close}").as_bytes(), Limits::default());
        prop_assert_eq!(parsed.is_ok(), kinds.len() <= MAX_DEPTH);
    }

    #[test]
    fn every_place_has_a_pointer(value in value()) {
        let mut found = Vec::new();
        places(&value, "", &mut found);
        for (pointer, there) in found {
            prop_assert_eq!(pointer::lookup(&value, &pointer), Some(there));
            prop_assert_eq!(pointer::build(pointer::tokens(&pointer).unwrap()), pointer);
        }
    }

    #[test]
    fn the_place_of_a_bad_number_is_found(value in value(), pick in any::<prop::sample::Index>()) {
        let mut found = Vec::new();
        places(&value, "", &mut found);
        let pointer = found[pick.index(found.len())].0.clone();
        let mut marked = value;
        *marked.pointer_mut(&pointer).unwrap() = Value::from(9_007_199_254_740_993_u64);
        let text = serde_json::to_string(&marked).unwrap();
        let error = parse(text.as_bytes(), Limits::default()).unwrap_err();
        prop_assert_eq!((error.kind, &error.pointer), (JsonErrorKind::InexactNumber, &pointer));
        prop_assert!(text[error.offset.unwrap()..].starts_with("9007199254740993"));
        prop_assert_eq!(Canonical::of(&marked).unwrap_err().pointer, pointer);
    }

    #[test]
    fn escaped_text_shows_everything_and_can_be_had_back(text in text()) {
        let shown = escape_visible(&text);
        prop_assert!(!shown.chars().any(is_invisible));
        prop_assert_eq!(unescape_visible(&shown).unwrap(), text.clone());
        let longest = 8 + "\\u{10ffff}…".len();
        prop_assert!(escape_and_cut(&text, 8).len() <= longest);
    }

    #[test]
    fn unescaping_never_panics(text in "[\\\\u{}0-9a-fé]{0,16}") {
        if let Ok(plain) = unescape_visible(&text) {
            prop_assert_eq!(unescape_visible(&escape_visible(&plain)).unwrap(), plain);
        }
    }
}

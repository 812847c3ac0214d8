use serde_json::json;

use super::*;

mod refusals;

fn read(text: &str) -> Result<serde_json::Value, JsonError> {
    parse(text.as_bytes(), Limits::default())
}

fn refused(text: &str) -> (JsonErrorKind, String, Option<usize>) {
    let error = read(text).expect_err(text);
    (error.kind, error.pointer, error.offset)
}

fn canonical(text: &str) -> Canonical {
    Canonical::of(&read(text).unwrap()).unwrap()
}

/// The published vectors: what is written, its canonical form, its SHA-256.
#[test]
fn digests_are_those_that_are_published() {
    for (written, form, digest) in [
        (
            r#"{"invoice":"inv_7001","amount":100,"currency":"EUR"}"#,
            r#"{"amount":100,"currency":"EUR","invoice":"inv_7001"}"#,
            "f65d1a6cd8cecee752e8e13ea1c17de7ce6c15010a851392bf223d81fa2d17bb",
        ),
        (
            r#"{"currency": "EUR", "amount": 1.0050e2, "invoice": "inv_7001"}"#,
            r#"{"amount":100.5,"currency":"EUR","invoice":"inv_7001"}"#,
            "9a3fcd47423576077372d8a6f2f42ce454ce827e6f73311a6a2429f2a50c4145",
        ),
        (" { } ", "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            r#"{"note":null}"#,
            r#"{"note":null}"#,
            "0cd4101d3beb3cdd08a62cb8508f2a2a0942b290a02d6ba252d5fb481d3ce054",
        ),
        (r#"{"n":1}"#, r#"{"n":1}"#, "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd"),
        (r#"{"n":1.0}"#, r#"{"n":1}"#, "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd"),
        (r#"{"n":1e0}"#, r#"{"n":1}"#, "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd"),
        (
            "{\"\u{fb33}\":2,\"\u{1f602}\":1}",
            "{\"\u{1f602}\":1,\"\u{fb33}\":2}",
            "08c82bec43ad78fdd95c0b3c05edb2ab9aa763496bea9f2dbe332dd5e6ae3002",
        ),
        (
            r#"{"id":"9007199254740993"}"#,
            r#"{"id":"9007199254740993"}"#,
            "379c3c261310b93aedb504a467c47b9494b0c2e0205c0130684079a029e3da34",
        ),
    ] {
        let canonical = canonical(written);
        assert_eq!(canonical.as_str(), form);
        assert_eq!(canonical.digest().to_string(), digest, "{form}");
    }
}

#[test]
fn c19_a_number_that_would_be_hashed_rounded_is_refused() {
    for (text, pointer, offset) in [
        (r#"{"id":9007199254740993}"#, "/id", 6),
        (r#"{"a":[0,{"id":7301954460218370001}]}"#, "/a/1/id", 14),
        ("[1.000000000000000005]", "/0", 1),
        ("[1e400]", "/0", 1),
        ("-1e-400", "", 0),
    ] {
        assert_eq!(refused(text), (JsonErrorKind::InexactNumber, pointer.to_owned(), Some(offset)), "{text}");
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains("send it as a string"), "{message}");
        assert!(!message.contains("90071") && !message.contains("73019"), "{message}");
    }
    for fine in ["0.1", "1.0", "1e0", "100.5", "9007199254740992", "9007199254740994", "1e22", "-0"] {
        assert!(read(fine).is_ok(), "{fine}");
    }
}

#[test]
fn c19_a_value_from_elsewhere_does_not_slip_through_rounded() {
    for number in [9_007_199_254_740_993_u64, 7_301_954_460_218_370_001, u64::MAX, 1 << 63] {
        let error = Canonical::of(&json!({"a": [1, {"id": number}]})).unwrap_err();
        assert_eq!((error.kind, error.pointer.as_str()), (JsonErrorKind::InexactNumber, "/a/1/id"));
    }
    assert_eq!(Canonical::of(&json!([i64::MIN])).unwrap_err().kind, JsonErrorKind::InexactNumber);
    for (value, form) in [
        (json!(9_007_199_254_740_994_u64), "9007199254740994"),
        (json!(9_223_372_036_854_775_808_f64), "9223372036854776000"),
        (json!(1.0), "1"),
        (json!(-0.0), "0"),
        (json!(1e21), "1e+21"),
        (json!(1e-7), "1e-7"),
        (json!(0.000_001), "0.000001"),
    ] {
        assert_eq!(Canonical::of(&value).unwrap().as_str(), form);
        assert_eq!(Canonical::of(&canonical(form).value()).unwrap().as_str(), form);
    }
}

#[test]
fn equal_numbers_are_equal_values() {
    for texts in [["1", "1.0", "10e-1"], ["0", "-0", "-0.0e7"], ["10000000000000000000", "1e19", "1.0E+19"]] {
        assert_eq!(read(texts[0]).unwrap(), read(texts[1]).unwrap());
        assert_eq!(read(texts[0]).unwrap(), read(texts[2]).unwrap());
    }
}

#[test]
fn c21_names_are_sorted_by_utf_16_units_at_every_depth() {
    let inner = "{\"\u{fb33}\":2,\"\u{1f602}\":1}";
    let sorted = "{\"\u{1f602}\":1,\"\u{fb33}\":2}";
    assert_eq!(canonical(&format!("[{{\"a\":[{inner}]}}]")).as_str(), format!("[{{\"a\":[{sorted}]}}]"));
    assert_eq!(canonical(r#"{"\\a":1,"Z":2,"\u000a":3}"#).as_str(), r#"{"\n":3,"Z":2,"\\a":1}"#);
}

#[test]
fn c23_null_and_missing_are_two_things() {
    assert_ne!(canonical("{}"), canonical(r#"{"note":null}"#));
    assert_ne!(canonical("{}").digest(), canonical(r#"{"note":null}"#).digest());
    assert_ne!(canonical(r#"{"note":""}"#).digest(), canonical(r#"{"note":null}"#).digest());
    let value = read(r#"{"note":null}"#).unwrap();
    assert_eq!(pointer::lookup(&value, "/note"), Some(&json!(null)));
    assert_eq!(pointer::lookup(&value, "/other"), None);
}

fn nested(depth: usize) -> [String; 2] {
    let arrays = "[".repeat(depth) + &"]".repeat(depth);
    let objects = "{\"a\":".repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
    [arrays, objects]
}

#[test]
fn c77_every_stage_works_at_the_limit_and_one_more_is_refused() {
    for text in nested(MAX_DEPTH) {
        let value = read(&text).unwrap();
        let canonical = Canonical::of(&value).unwrap();
        assert_eq!(canonical.as_str(), text);
        assert_eq!(canonical.value(), value.clone());
        assert!(Canonical::reread(text.as_bytes()).is_ok());
    }
    for text in nested(MAX_DEPTH + 1) {
        let error = read(&text).unwrap_err();
        assert_eq!(error.kind, JsonErrorKind::TooDeep);
        assert!(error.to_string().contains("the limit is 64"), "{error}");
    }
    assert_eq!(refused(&nested(MAX_DEPTH + 1)[0]).1, "/0".repeat(MAX_DEPTH));
    let few = Limits { max_bytes: 100, max_depth: 2 };
    assert!(parse(b"[[1]]", few).is_ok());
    assert_eq!(parse(b"[[[]]]", few).unwrap_err().kind, JsonErrorKind::TooDeep);
    let many = Limits { max_bytes: usize::MAX, max_depth: usize::MAX };
    assert_eq!(parse(nested(MAX_DEPTH + 1)[0].as_bytes(), many).unwrap_err().kind, JsonErrorKind::TooDeep);
}

#[test]
fn c77_a_flood_of_brackets_is_a_refusal() {
    for depth in [10_000, 500_000] {
        let many = Limits::bytes(usize::MAX);
        for text in ["[".repeat(depth), "{\"a\":".repeat(depth), "[{\"\":".repeat(depth)] {
            assert_eq!(parse(text.as_bytes(), many).unwrap_err().kind, JsonErrorKind::TooDeep);
        }
        for text in nested(depth) {
            assert_eq!(parse(text.as_bytes(), many).unwrap_err().kind, JsonErrorKind::TooDeep);
        }
    }
}

#[test]
fn c77_a_value_from_elsewhere_that_is_too_deep_has_no_canonical_form() {
    let mut value = json!(1);
    for _ in 0..MAX_DEPTH {
        value = json!([value]);
    }
    assert!(Canonical::of(&value).is_ok());
    assert_eq!(Canonical::of(&json!({"a": value})).unwrap_err().kind, JsonErrorKind::TooDeep);
}

#[test]
fn c79_nul_is_kept_and_half_of_a_pair_is_refused() {
    let value = read(r#"{"s":"A\u0000B"}"#).unwrap();
    assert_eq!(value["s"], "A\0B");
    assert_eq!(Canonical::of(&value).unwrap().as_str(), r#"{"s":"A\u0000B"}"#);
    for (half, offset) in [
        (r#"["\ud800"]"#, 2),
        (r#"["\udfff"]"#, 2),
        (r#"["ab\uD800\u0041"]"#, 4),
        (r#"["\uD800\uD800\uDC00"]"#, 2),
        (r#"["\uDc00\uD800"]"#, 2),
        (r#"["\ud83dx"]"#, 2),
    ] {
        assert_eq!(refused(half), (JsonErrorKind::LoneSurrogate, "/0".to_owned(), Some(offset)), "{half}");
    }
    assert_eq!(refused(r#"{"a":{"b\udc00":1}}"#), (JsonErrorKind::LoneSurrogate, "/a".to_owned(), Some(8)));
    assert_eq!(read(r#""\\ud800 \ud83d\ude02""#).unwrap(), "\\ud800 \u{1f602}");
    assert_eq!(canonical(r#""\uD83D\uDE02""#).as_str(), "\"\u{1f602}\"");
}

#[test]
fn names_that_mean_something_to_the_parser_are_plain_members() {
    let text = r#"{"$serde_json::private::RawValue":"[1,2]"}"#;
    assert_eq!(canonical(text).as_str(), text);
    let text = r#"{"$serde_json::private::Number":"1"}"#;
    assert_eq!(canonical(text).as_str(), text);
}

#[test]
fn only_the_canonical_form_is_taken_from_a_store() {
    let text = r#"{"a":1,"b":[true,null,"x"]}"#;
    assert_eq!(Canonical::reread(text.as_bytes()).unwrap().as_str(), text);
    for other in [r#"{"b":[true,null,"x"],"a":1}"#, r#"{"a":1.0}"#, " 1", "[\"\\/\"]", "1\n"] {
        assert_eq!(
            Canonical::reread(other.as_bytes()).unwrap_err().kind,
            JsonErrorKind::NotCanonical,
            "{other}"
        );
    }
    assert_eq!(Canonical::reread(b"{").unwrap_err().kind, JsonErrorKind::Incomplete);
}

#[test]
fn a_canonical_in_a_record_is_its_text_and_is_proven_again() {
    let canonical = canonical(r#"{"a":[1,2.5]}"#);
    let record = bincode::serde::encode_to_vec(&canonical, bincode::config::standard()).unwrap();
    let (back, _): (Canonical, usize) =
        bincode::serde::decode_from_slice(&record, bincode::config::standard()).unwrap();
    assert_eq!(back, canonical);
    assert_eq!(serde_json::to_value(&canonical).unwrap(), json!(r#"{"a":[1,2.5]}"#));
    assert!(serde_json::from_value::<Canonical>(json!(r#"{"a": 1}"#)).is_err());
    assert_eq!(format!("{canonical:?}"), "Canonical(13 bytes)");
}

/// The samples of RFC 8785, appendix B: the bits of a double and how it is written.
#[test]
fn numbers_are_written_as_rfc_8785_shows() {
    for (bits, written) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(Canonical::of(&json!(f64::from_bits(bits))).unwrap().as_str(), written);
        assert_eq!(canonical(written).as_str(), written);
    }
}

/// The stack of a spawned thread is 2 MiB, and a request has used some of it when it comes to its arguments.
#[test]
fn c77_a_quarter_of_a_usual_stack_is_enough_at_the_limit() {
    const QUARTER: usize = 512 * 1024;
    let all_stages = || {
        for text in nested(MAX_DEPTH) {
            let value = read(&text).unwrap();
            let canonical = Canonical::of(&value.clone()).unwrap();
            assert_eq!(canonical.value(), value);
        }
    };
    std::thread::Builder::new().stack_size(QUARTER).spawn(all_stages).unwrap().join().unwrap();
}

/// Any value of the kinds that occur, in strings and names with everything that is escaped or sorted.
fn any_value() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::*;
    let text = || "[ -~\u{0}-\u{1f}\u{7f}éﬀ\u{2028}😂]{0,6}";
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        (-(1_i64 << 53)..=1_i64 << 53).prop_map(|value| json!(value)),
        any::<i32>().prop_map(|value| json!(f64::from(value) / 8.0)),
        text().prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|elements| json!(elements)),
            proptest::collection::btree_map(text(), inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

proptest::proptest! {
    /// The quick way to the canonical form is taken only where it gives what the library gives.
    #[test]
    fn the_canonical_form_is_that_of_the_library(value in any_value()) {
        let ours = Canonical::of(&value).unwrap();
        proptest::prop_assert_eq!(ours.as_str(), serde_json_canonicalizer::to_string(&value).unwrap());
    }
}

//! The vectors of RFC 8785 (cyberphone/json-canonicalization) and the parser suite nst/JSONTestSuite, each file
//! decided by name.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use writd::domain::json::JsonErrorKind::{
    self, ByteOrderMark, DuplicateKey, InexactNumber, InvalidUtf8, LoneSurrogate, TooDeep,
};
use writd::domain::json::{Canonical, JsonError, Limits, parse};

/// The files of `y_` that our strictness refuses, each with its reason.
const Y_REFUSED: &[(&str, JsonErrorKind)] = &[
    // One name, two values (or one value twice): readers disagree which one counts.
    ("y_object_duplicated_key.json", DuplicateKey),
    ("y_object_duplicated_key_and_value.json", DuplicateKey),
];

/// The files whose answer the suite leaves open: refused for a kind, or accepted with this canonical form.
const I_DECIDED: &[(&str, Result<&str, JsonErrorKind>)] = &[
    // Beyond the doubles, or closer to zero than any of them.
    ("i_number_double_huge_neg_exp.json", Err(InexactNumber)),
    ("i_number_huge_exp.json", Err(InexactNumber)),
    ("i_number_neg_int_huge_exp.json", Err(InexactNumber)),
    ("i_number_pos_double_huge_exp.json", Err(InexactNumber)),
    ("i_number_real_neg_overflow.json", Err(InexactNumber)),
    ("i_number_real_pos_overflow.json", Err(InexactNumber)),
    ("i_number_real_underflow.json", Err(InexactNumber)),
    // Integers that a double rounds.
    ("i_number_too_big_neg_int.json", Err(InexactNumber)),
    ("i_number_very_big_negative_int.json", Err(InexactNumber)),
    // 10^20 does not fit in 64 bits, but a double carries it.
    ("i_number_too_big_pos_int.json", Ok("[100000000000000000000]")),
    // Half of a pair is not a character.
    ("i_object_key_lone_2nd_surrogate.json", Err(LoneSurrogate)),
    ("i_string_1st_surrogate_but_2nd_missing.json", Err(LoneSurrogate)),
    ("i_string_1st_valid_surrogate_2nd_invalid.json", Err(LoneSurrogate)),
    ("i_string_incomplete_surrogate_and_escape_valid.json", Err(LoneSurrogate)),
    ("i_string_incomplete_surrogate_pair.json", Err(LoneSurrogate)),
    ("i_string_incomplete_surrogates_escape_valid.json", Err(LoneSurrogate)),
    ("i_string_invalid_lonely_surrogate.json", Err(LoneSurrogate)),
    ("i_string_invalid_surrogate.json", Err(LoneSurrogate)),
    ("i_string_inverted_surrogates_U+1D11E.json", Err(LoneSurrogate)),
    ("i_string_lone_second_surrogate.json", Err(LoneSurrogate)),
    // Not UTF-8.
    ("i_string_UTF-16LE_with_BOM.json", Err(InvalidUtf8)),
    ("i_string_UTF-8_invalid_sequence.json", Err(InvalidUtf8)),
    ("i_string_UTF8_surrogate_U+D800.json", Err(InvalidUtf8)),
    ("i_string_invalid_utf-8.json", Err(InvalidUtf8)),
    ("i_string_iso_latin_1.json", Err(InvalidUtf8)),
    ("i_string_lone_utf8_continuation_byte.json", Err(InvalidUtf8)),
    ("i_string_not_in_unicode_range.json", Err(InvalidUtf8)),
    ("i_string_overlong_sequence_2_bytes.json", Err(InvalidUtf8)),
    ("i_string_overlong_sequence_6_bytes.json", Err(InvalidUtf8)),
    ("i_string_overlong_sequence_6_bytes_null.json", Err(InvalidUtf8)),
    ("i_string_truncated-utf-8.json", Err(InvalidUtf8)),
    ("i_string_utf16BE_no_BOM.json", Err(InvalidUtf8)),
    ("i_string_utf16LE_no_BOM.json", Err(InvalidUtf8)),
    ("i_structure_500_nested_arrays.json", Err(TooDeep)),
    ("i_structure_UTF-8_BOM_empty_object.json", Err(ByteOrderMark)),
];

/// The files that parsers are known to change: refused for a kind, or accepted with this canonical form.
const TRANSFORM_DECIDED: &[(&str, Result<&str, JsonErrorKind>)] = &[
    // -2^63 is a double, but its shortest decimal is -9223372036854776000: a reader of the digest's form would see
    // another number.
    ("number_-9223372036854775808.json", Err(InexactNumber)),
    ("number_-9223372036854775809.json", Err(InexactNumber)),
    ("number_1.0.json", Ok("[1]")),
    ("number_1.000000000000000005.json", Err(InexactNumber)),
    ("number_1000000000000000.json", Ok("[1000000000000000]")),
    ("number_10000000000000000999.json", Err(InexactNumber)),
    ("number_1e-999.json", Err(InexactNumber)),
    ("number_1e6.json", Ok("[1000000]")),
    ("number_9223372036854775807.json", Err(InexactNumber)),
    ("number_9223372036854775808.json", Err(InexactNumber)),
    // No normalisation: two forms are two names, sorted by their units.
    ("object_key_nfc_nfd.json", Ok("{\"e\u{301}\":\"NFD\",\"\u{e9}\":\"NFC\"}")),
    ("object_key_nfd_nfc.json", Ok("{\"e\u{301}\":\"NFD\",\"\u{e9}\":\"NFC\"}")),
    ("object_same_key_different_values.json", Err(DuplicateKey)),
    ("object_same_key_same_value.json", Err(DuplicateKey)),
    ("object_same_key_unclear_values.json", Err(DuplicateKey)),
    ("string_1_escaped_invalid_codepoint.json", Err(LoneSurrogate)),
    ("string_1_invalid_codepoint.json", Err(InvalidUtf8)),
    ("string_2_escaped_invalid_codepoints.json", Err(LoneSurrogate)),
    ("string_2_invalid_codepoints.json", Err(InvalidUtf8)),
    ("string_3_escaped_invalid_codepoints.json", Err(LoneSurrogate)),
    ("string_3_invalid_codepoints.json", Err(InvalidUtf8)),
    ("string_with_escaped_NULL.json", Ok("[\"A\\u0000B\"]")),
];

/// Public data beside the package, or where the environment says. Without it a test says that it did not run.
fn shared(folder: &str) -> Option<PathBuf> {
    let base = std::env::var_os("WRITD_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let folder = base.join(folder);
    if folder.is_dir() {
        return Some(folder);
    }
    // Not eprintln!, which the test harness would keep to itself; and in one piece, as tests run side by side.
    let notice = format!("\n*** DID NOT RUN: no public test data at {} ***\n", folder.display());
    let _ = std::io::stderr().write_all(notice.as_bytes());
    None
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn read(bytes: &[u8]) -> Result<Canonical, JsonError> {
    let canonical = Canonical::of(&parse(bytes, Limits::default())?)?;
    let again = Canonical::of(&canonical.value()).unwrap();
    assert_eq!(again, canonical, "the canonical form must be a fixed point");
    Ok(canonical)
}

fn check_table(folder: &Path, prefix: &str, table: &[(&str, Result<&str, JsonErrorKind>)]) {
    let mut left: BTreeMap<&str, Result<&str, JsonErrorKind>> = table.iter().copied().collect();
    assert_eq!(left.len(), table.len(), "a file stands in the table twice");
    for (name, bytes) in files(folder).iter().filter(|(name, _)| name.starts_with(prefix)) {
        let decided = left.remove(name.as_str()).unwrap_or_else(|| panic!("{name} is not decided"));
        let found = read(bytes);
        assert_eq!(found.as_ref().map(Canonical::as_str).map_err(|error| error.kind), decided, "{name}");
    }
    assert!(left.is_empty(), "decided, but not there: {left:?}");
}

/// The vectors that our parser refuses before they come to the canonical form: `333333333.33333329` has a decimal
/// value that its double does not carry.
const VECTORS_REFUSED: &[(&str, JsonErrorKind, &str)] = &[("values.json", InexactNumber, "/numbers/0")];

#[test]
fn rfc_8785_vectors_hold_byte_for_byte() {
    let Some(folder) = shared("json-canonicalization/testdata") else { return };
    let (inputs, outputs) = (files(&folder.join("input")), files(&folder.join("output")));
    let hex = files(&folder.join("outhex"));
    assert_eq!(inputs.len(), 6);
    for (name, input) in inputs {
        let refused = VECTORS_REFUSED.iter().find(|(file, ..)| *file == name);
        let canonical = match (read(&input), refused) {
            (Ok(canonical), None) => canonical,
            (Err(error), Some((_, kind, place))) => {
                assert_eq!((error.kind, error.pointer.as_str()), (*kind, *place), "{name}");
                // The form itself must be right all the same, for a value that does not come from our parser.
                Canonical::of(&serde_json::from_slice(&input).unwrap()).unwrap()
            }
            (Ok(_), Some(_)) => panic!("{name} must be refused"),
            (Err(error), None) => panic!("{name}: {error}"),
        };
        assert_eq!(canonical.as_bytes(), outputs[&name], "{name}");
        let listed = std::str::from_utf8(&hex[&name.replace(".json", ".txt")]).unwrap();
        let bytes: Vec<u8> =
            listed.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(canonical.as_bytes(), bytes, "{name}");
        assert_eq!(Canonical::reread(&outputs[&name]).unwrap(), canonical);
    }
}

#[test]
fn what_must_be_accepted_is_accepted_except_for_a_named_reason() {
    let Some(folder) = shared("json-test-suite/test_parsing") else { return };
    let mut refused: BTreeMap<&str, JsonErrorKind> = Y_REFUSED.iter().copied().collect();
    let mut count = 0;
    for (name, bytes) in files(&folder).iter().filter(|(name, _)| name.starts_with("y_")) {
        count += 1;
        match (read(bytes), refused.remove(name.as_str())) {
            (Ok(_), None) => {}
            (Ok(_), Some(kind)) => panic!("{name} must be refused: {kind:?}"),
            (Err(error), wanted) => assert_eq!(Some(error.kind), wanted, "{name}: {error}"),
        }
    }
    assert!(refused.is_empty(), "named, but not there: {refused:?}");
    assert!(count >= 95, "only {count} files");
}

#[test]
fn what_must_be_refused_is_refused() {
    let Some(folder) = shared("json-test-suite/test_parsing") else { return };
    let mut count = 0;
    for (name, bytes) in files(&folder).iter().filter(|(name, _)| name.starts_with("n_")) {
        count += 1;
        let error = read(bytes).expect_err(name);
        if name.contains("100000_opening_arrays") || name.contains("open_array_object") {
            assert_eq!(error.kind, TooDeep, "{name}");
        }
    }
    assert!(count >= 187, "only {count} files");
}

#[test]
fn what_is_left_open_is_decided_by_name() {
    let Some(folder) = shared("json-test-suite/test_parsing") else { return };
    check_table(&folder, "i_", I_DECIDED);
}

#[test]
fn what_parsers_change_is_kept_or_refused_by_name() {
    let Some(folder) = shared("json-test-suite/test_transform") else { return };
    check_table(&folder, "", TRANSFORM_DECIDED);
}

use super::*;

fn segment(value: &str) -> Result<String, &'static str> {
    match bad_segment(value) {
        Some(reason) => Err(reason),
        None => {
            let mut out = String::new();
            encode(&mut out, value);
            Ok(out)
        }
    }
}

#[test]
fn an_argument_stays_one_segment() {
    assert_eq!(segment("C-1842"), Ok("C-1842".into()));
    assert_eq!(segment("a/b?c#d e%41"), Ok("a%2Fb%3Fc%23d%20e%2541".into()));
    assert_eq!(segment("Å~._-"), Ok("%C3%85~._-".into()));
    assert_eq!(segment("..."), Ok("...".into()));
    let bad = [
        "",
        ".",
        "..",
        "%2e",
        "%2E%2e",
        ".%2e",
        "%252e%252e",
        "../x",
        "x/..",
        "..\\x",
        "%2e%2e%2fx",
        "a\0b",
        "a\nb",
        "a%00b",
        "a%0d%0ab",
        "a%250ab",
        "\u{85}",
        "\u{7f}",
    ];
    for value in bad {
        assert!(segment(value).is_err(), "{value:?}");
    }
}

#[test]
fn header_values_cannot_forge_lines() {
    for good in ["", "\"17\"", "run_1:op_1", "a b", "100%", "%zz"] {
        assert_eq!(bad_header(good), None, "{good:?}");
    }
    let bad = [
        "a\r\nb", "a\nb", "a\rb", "a\0b", "a\tb", "\u{7f}", " a", "a ", "å", "a%0d%0ab", "a%0Ab", "a%00",
        "a%250ab",
    ];
    for value in bad {
        assert!(bad_header(value).is_some(), "{value:?}");
    }
    assert!(bad_header(&"x".repeat(5000)).is_some());
}

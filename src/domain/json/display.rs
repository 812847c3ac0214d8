//! Text made safe to look at. What a person approves must be what stands there: a character that cannot be seen, or
//! that moves its neighbours, is shown as its number. Nothing is removed, so the text can be had back.

use std::fmt::Write as _;

/// Characters that show nothing, or change how others are shown, beyond the control characters. Inclusive ranges, in
/// order: `Default_Ignorable_Code_Point` of Unicode with its reserved places (later invisible characters will be put
/// there), every space but U+0020, line and paragraph separators, fillers and blanks that have an empty glyph,
/// annotation and layout controls, private use, and the places that are never characters.
const INVISIBLE: &[(u32, u32)] = &[
    (0x00a0, 0x00a0),     // no-break space
    (0x00ad, 0x00ad),     // soft hyphen
    (0x034f, 0x034f),     // combining grapheme joiner
    (0x061c, 0x061c),     // Arabic letter mark (bidirectional)
    (0x115f, 0x1160),     // Hangul fillers
    (0x1680, 0x1680),     // Ogham space
    (0x17b4, 0x17b5),     // Khmer inherent vowels
    (0x180b, 0x180f),     // Mongolian selectors and vowel separator
    (0x2000, 0x200f),     // spaces, zero-width characters, bidirectional marks
    (0x2028, 0x202f),     // separators, bidirectional embeddings and overrides, narrow space
    (0x205f, 0x206f),     // mathematical space, joiners, bidirectional isolates, deprecated controls
    (0x2800, 0x2800),     // blank Braille pattern
    (0x3000, 0x3000),     // ideographic space
    (0x3164, 0x3164),     // Hangul filler
    (0xe000, 0xf8ff),     // private use
    (0xfdd0, 0xfdef),     // never characters
    (0xfe00, 0xfe0f),     // variation selectors
    (0xfeff, 0xfeff),     // zero-width no-break space, byte order mark
    (0xffa0, 0xffa0),     // half-width Hangul filler
    (0xfff0, 0xfffc),     // reserved, annotation controls, object replacement
    (0x13430, 0x1345f),   // Egyptian format controls and blanks
    (0x16fe4, 0x16fe4),   // Khitan filler
    (0x1bca0, 0x1bca3),   // shorthand format controls
    (0x1d159, 0x1d159),   // null note head
    (0x1d173, 0x1d17a),   // musical format controls
    (0xe0000, 0xe0fff),   // tags, further variation selectors, reserved
    (0xf0000, 0x10_ffff), // private use
];

/// Whether a character is shown by its number.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    let code = u32::from(character);
    // The last two places of every plane are never characters.
    character.is_control()
        || code & 0xfffe == 0xfffe
        || INVISIBLE
            .binary_search_by(|(first, last)| {
                if *last < code {
                    std::cmp::Ordering::Less
                } else if *first > code {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
}

/// The text with every invisible character as `\u{…}` and every backslash doubled. Different texts stay different.
#[must_use]
pub fn escape_visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if shown.is_empty() && unicode_normalization::char::is_combining_mark(character) {
            // It would change what stands before the text.
            push_number(&mut shown, character);
        } else {
            push_visible(&mut shown, character);
        }
    }
    shown
}

/// The escaped text, cut after about `max` bytes at a whole character and marked as cut. For messages about values,
/// never for the values of an approval.
#[must_use]
pub fn escape_and_cut(text: &str, max: usize) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        if shown.len() >= max {
            shown.push('…');
            break;
        }
        push_visible(&mut shown, character);
    }
    shown
}

fn push_visible(shown: &mut String, character: char) {
    if character == '\\' {
        shown.push_str("\\\\");
    } else if is_invisible(character) {
        push_number(shown, character);
    } else {
        shown.push(character);
    }
}

fn push_number(shown: &mut String, character: char) {
    // Writing to a String cannot fail.
    let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
}

/// The text is not one that [`escape_visible`] writes: a backslash that begins nothing, or a number of no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at byte {0}: a backslash begins neither `\\\\` nor `\\u{{…}}` with the number of a character")]
pub struct NotEscaped(pub usize);

/// The text behind an escaped one.
///
/// # Errors
/// [`NotEscaped`], with the byte of the backslash that begins nothing.
pub fn unescape_visible(shown: &str) -> Result<String, NotEscaped> {
    /// `10ffff` has six digits.
    const MAX_DIGITS: usize = 6;
    let mut text = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(backslash) = rest.find('\\') {
        let fault = NotEscaped(shown.len() - rest.len() + backslash);
        text.push_str(&rest[..backslash]);
        rest = &rest[backslash + 1..];
        if let Some(after) = rest.strip_prefix('\\') {
            text.push('\\');
            rest = after;
            continue;
        }
        let (digits, after) = rest.strip_prefix("u{").and_then(|rest| rest.split_once('}')).ok_or(fault)?;
        let plain =
            (1..=MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten();
        text.push(code.and_then(char::from_u32).ok_or(fault)?);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// Whether the text may be a look-alike of another one: it is not in Unicode normalisation form C. The canonical form
/// keeps it as it is; the view says so.
#[must_use]
pub fn is_nfc_suspect(text: &str) -> bool {
    !unicode_normalization::is_nfc(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_are_in_order() {
        assert!(INVISIBLE.iter().all(|(first, last)| first <= last));
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for (text, shown) in [
            ("plain, ünïcode, 日本, 🦀", "plain, ünïcode, 日本, 🦀"),
            ("a\\b", "a\\\\b"),
            ("\\u{41}", "\\\\u{41}"),
            ("a\u{0}\n\u{7f}\u{85}", "a\\u{0}\\u{a}\\u{7f}\\u{85}"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("\u{301}e\u{301}", "\\u{301}e\u{301}"),
            ("a\u{200b}b\u{2060}\u{feff}", "a\\u{200b}b\\u{2060}\\u{feff}"),
            ("\u{e0041}\u{e000}\u{10ffff}\u{fffe}", "\\u{e0041}\\u{e000}\\u{10ffff}\\u{fffe}"),
            ("a\u{a0}b\u{3000}\u{2800}\u{3164}", "a\\u{a0}b\\u{3000}\\u{2800}\\u{3164}"),
            ("\u{2028}\u{2066}\u{061c}\u{fe0f}", "\\u{2028}\\u{2066}\\u{61c}\\u{fe0f}"),
        ] {
            assert_eq!(escape_visible(text), shown);
            assert_eq!(unescape_visible(shown).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_escape_never_writes_is_not_unescaped() {
        for (wrong, at) in [
            ("\\", 0),
            ("a\\n", 1),
            ("\\u41", 0),
            ("\\u{}", 0),
            ("\\u{d800}", 0),
            ("\\u{110000}", 0),
            ("\\u{+41}", 0),
            ("ok\\\\ \\u{1", 5),
            ("\\u{0000041}", 0),
        ] {
            assert_eq!(unescape_visible(wrong), Err(NotEscaped(at)), "{wrong}");
        }
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(escape_and_cut("abcdef", 3), "abc…");
        assert_eq!(escape_and_cut("abc", 3), "abc");
        assert_eq!(escape_and_cut("\u{202e}b", 3), "\\u{202e}…");
    }

    #[test]
    fn decomposed_text_is_suspect() {
        assert!(!is_nfc_suspect("caf\u{e9}"));
        assert!(is_nfc_suspect("cafe\u{301}"));
        assert!(is_nfc_suspect("\u{212b}"));
    }
}

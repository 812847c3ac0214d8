//! Text that does not fit on a line. Prose breaks between words. A value breaks anywhere, is never cut, and each line
//! that goes on says so: blanks at the end of a line would otherwise not be seen.

use super::style::{Span, Style};

/// Stands at the end of each line of a value that goes on in the next one.
pub(crate) const GOES_ON: char = '↩';

/// How many columns a text takes, as one per character.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Prose, or, where blanks would be lost by breaking it between words, a value.
pub(crate) fn text(text: &str, width: usize) -> Vec<String> {
    let keeps_blanks = text.contains("  ") || text.starts_with(' ') || text.ends_with(' ');
    if keeps_blanks { value(text, width) } else { prose(text, width) }
}

/// Prose, broken between words; a word that is wider than a line is broken where the line ends.
fn prose(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let needed = columns(&line) + usize::from(!line.is_empty()) + columns(word);
        if needed <= width {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = push_pieces(&mut lines, word, width);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Breaks a word that is too wide; the last piece is given back.
fn push_pieces(lines: &mut Vec<String>, word: &str, width: usize) -> String {
    let mut line = String::new();
    for unit in units(word) {
        if columns(&line) + columns(unit) > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(unit);
    }
    line
}

/// A value: every character of it, in order, on as many lines as it takes.
pub(crate) fn value(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    // One column is for the mark.
    let room = width.saturating_sub(1).max(1);
    let mut lines = Vec::new();
    let last = push_pieces(&mut lines, text, room);
    for line in &mut lines {
        line.push(GOES_ON);
    }
    lines.push(last);
    lines
}

/// Each line of a value with its style.
pub(crate) fn styled_value(text: &str, width: usize, style: Style) -> Vec<Span> {
    value(text, width).into_iter().map(|line| Span::new(style, line)).collect()
}

/// The smallest pieces that stay together: one character, or one escape such as `\u{202e}`.
fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if rest.starts_with("\\u{") {
            rest.find('}').map_or(first.len_utf8(), |end| end + 1)
        } else if rest.starts_with("\\\\") {
            2
        } else {
            first.len_utf8()
        };
        let (unit, after) = rest.split_at(length);
        rest = after;
        Some(unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_breaks_between_words_and_wide_words_at_the_end_of_the_line() {
        assert_eq!(prose("one two three", 8), ["one two", "three"]);
        assert_eq!(prose("a aaaaaaaaaa b", 4), ["a", "aaaa", "aaaa", "aa b"]);
        assert_eq!(prose("", 4), [""]);
        assert_eq!(text("one  two", 6), ["one  ↩", "two"], "two blanks are not one");
    }

    #[test]
    fn a_value_loses_nothing_and_says_that_it_goes_on() {
        let text = "ab  \\u{202e}cd\\\\ef";
        for width in 9..20 {
            let lines = value(text, width);
            assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            let (last, before) = lines.split_last().unwrap();
            let mut joined: String = before.iter().map(|line| line.strip_suffix(GOES_ON).unwrap()).collect();
            joined.push_str(last);
            assert_eq!(joined, text);
        }
        assert!(value(text, 10).iter().any(|line| line.contains("\\u{202e}")), "an escape stays whole");
    }
}

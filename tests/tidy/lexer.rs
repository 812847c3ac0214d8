//! Rust text without what a reader of code must not stumble over: comments and the contents of literals become spaces,
//! lines stay where they are. No parser: good enough for counting braces and finding names.

/// The text with comments and literals blanked out.
pub(crate) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_end(&chars, at),
            '"' => string_end(&chars, at),
            'r' if !follows_a_name(&chars, at) => raw_end(&chars, at).unwrap_or(at),
            '\'' => char_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

fn line_end(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| from + length)
}

fn block_end(chars: &[char], from: usize) -> usize {
    let (mut depth, mut at) = (0, from);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `r"…"` and `r#"…"#`; the `b` or `c` before it has been taken as a name already.
fn raw_end(chars: &[char], from: usize) -> Option<usize> {
    let hashes = chars[from + 1..].iter().take_while(|c| **c == '#').count();
    let open = from + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| chars[at] == '"' && chars[at + 1..].iter().take(hashes).all(|c| *c == '#');
    let close = (open + 1..chars.len()).find(|at| closes(*at) && at + hashes < chars.len());
    Some(close.map_or(chars.len(), |at| at + 1 + hashes))
}

/// A character, and not a lifetime.
fn char_end(chars: &[char], from: usize) -> Option<usize> {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => {
            let close = chars.get(from + 3..)?.iter().position(|c| *c == '\'')?;
            Some(from + 3 + close + 1)
        }
        (Some(_), Some('\'')) => Some(from + 3),
        _ => None,
    }
}

fn follows_a_name(chars: &[char], at: usize) -> bool {
    // `br"…"` is the one name that may stand before.
    at > 0 && is_name(chars[at - 1]) && !(chars[at - 1] == 'b' && (at < 2 || !is_name(chars[at - 2])))
}

/// Whether the character can stand inside a name.
pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a `{` that stands at `open` is closed, as an index behind the `}`; the end of the text if it is not.
pub(crate) fn closed_at(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return open + at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The number of the line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[test]
fn literals_and_comments_are_blanked_and_lines_stay() {
    let text = "a /* { /* } */ */ b // {\n'{' 'x \"{\\\"{\" r#\"{\"{\"# br\"{\" '\\'' '\\u{7b}' for_r\"\"";
    let code = code_only(text);
    assert!(!code.contains('{') && !code.contains('}'), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
    assert!(code.starts_with("a ") && code.contains("'x ") && code.contains("for_r"), "{code}");
    let code = "x { y { } z } {";
    assert_eq!((closed_at(code, 2), closed_at(code, 14)), (13, code.len()));
}

//! A short text that a pattern takes, made from the parsed pattern. Owns the regular expression parser.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Characters that read well and are rarely refused by anything else.
const PLAIN: [char; 6] = ['a', 'A', '0', '1', '-', ' '];
/// Repetitions beyond the least that are tried to reach a least length.
const MAX_EXTRA: u32 = 512;

/// The shortest text of at least so many characters that this finds. It may still fail another rule: whoever asks
/// checks it against the schema.
pub(super) fn text(pattern: &str, least: usize) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    for extra in 0..=MAX_EXTRA {
        let mut out = String::new();
        write(&parsed, extra, &mut out)?;
        if out.chars().count() >= least {
            return Some(out);
        }
    }
    None
}

fn write(hir: &Hir, extra: u32, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => out.push(one_of(class)?),
        HirKind::Repetition(repetition) => {
            let wanted = repetition.min.saturating_add(extra);
            let times = repetition.max.map_or(wanted, |max| wanted.min(max));
            for _ in 0..times {
                write(&repetition.sub, 0, out)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, extra, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, extra, out))?,
        HirKind::Alternation(forms) => write(forms.first()?, extra, out)?,
    }
    Some(())
}

fn one_of(class: &Class) -> Option<char> {
    match class {
        Class::Unicode(class) => {
            let holds =
                |c: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c));
            PLAIN.into_iter().find(holds).or_else(|| class.ranges().first().map(|range| range.start()))
        }
        Class::Bytes(class) => {
            let ranges = class.ranges();
            let holds = |c: &char| {
                u8::try_from(*c)
                    .is_ok_and(|c| ranges.iter().any(|range| (range.start()..=range.end()).contains(&c)))
            };
            PLAIN.into_iter().find(holds).or_else(|| ranges.first().map(|range| char::from(range.start())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_shortest_text_is_made_from_the_pattern() {
        for (pattern, least, expected) in [
            ("^C-[0-9]{1,9}$", 0, "C-0"),
            ("^C-[0-9]{1,9}$", 5, "C-000"),
            ("^[A-Z]{2}$", 0, "AA"),
            ("^(ab|c)?x+$", 0, "x"),
            ("^[0-9a-f]{4}$", 0, "aaaa"),
            (r"^\+[1-9]\d*$", 4, "+100"),
        ] {
            assert_eq!(text(pattern, least).as_deref(), Some(expected), "{pattern}");
        }
        assert_eq!(text("^[a-z]{2}$", 3), None, "no text is that long");
        assert_eq!(text("(", 0), None);
    }
}

//! Two questions about a piece of schema: can its alternatives be told apart, and is its pattern short by itself.

use serde_json::{Map, Value};

use super::resolve;

/// References followed one after the other: more than the limits of a schema allow.
const MAX_REFS: usize = 32;

/// Follows references within the document, a bounded number of times.
pub(in crate::contracts) fn deref<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut schema = schema;
    for _ in 0..MAX_REFS {
        match schema.get("$ref").and_then(Value::as_str).and_then(|target| resolve(root, target)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// All there, and no two equal.
fn distinct(found: &[Option<&Value>]) -> bool {
    found.iter().enumerate().all(|(i, one)| one.is_some() && !found[..i].contains(one))
}

pub(super) fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}

/// What tells the branches of a choice apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::contracts) enum Tag {
    /// Each branch is another constant.
    Whole,
    /// A required member of this name, which is another constant in each branch.
    Member(String),
}

impl Tag {
    /// The name of the member, where it is one.
    pub(in crate::contracts) fn member(&self) -> Option<&str> {
        match self {
            Tag::Whole => None,
            Tag::Member(name) => Some(name),
        }
    }
}

/// What tells the branches apart, if something does.
pub(in crate::contracts) fn tag_of(root: &Value, branches: &[Value]) -> Option<Tag> {
    let branches: Vec<&Value> = branches.iter().map(|branch| deref(root, branch)).collect();
    let constants: Vec<_> = branches.iter().map(|branch| branch.get("const")).collect();
    if distinct(&constants) {
        return Some(Tag::Whole);
    }
    let first = branches.first().and_then(|branch| branch.get("properties")).and_then(Value::as_object);
    let names = first.into_iter().flat_map(Map::keys);
    names
        .filter(|name| {
            let constants: Vec<Option<&Value>> = branches
                .iter()
                .map(|branch| constant(root, branch, name).filter(|_| requires(branch, name)))
                .collect();
            distinct(&constants)
        })
        .map(|name| Tag::Member(name.clone()))
        .next()
}

/// The constant that a branch wants for a member.
pub(in crate::contracts) fn constant<'v>(
    root: &'v Value,
    branch: &'v Value,
    name: &str,
) -> Option<&'v Value> {
    deref(root, deref(root, branch).get("properties")?.get(name)?).get("const")
}

/// Anchored at both ends, without open repetition and without alternatives at the top level, which would escape the
/// anchors. Conservative: what it does not understand needs a `maxLength`.
pub(super) fn is_bounded_pattern(pattern: &str) -> bool {
    let Some(inner) = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')) else { return false };
    let (mut escaped, mut class, mut group) = (false, false, 0usize);
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if class => class = false,
            _ if class => {}
            '[' => class = true,
            '(' => {
                group += 1;
                // Flags change what the signs mean: `(?m)` makes the anchors those of a line.
                let mut ahead = chars.clone();
                if ahead.next() == Some('?') && ahead.next() != Some(':') {
                    return false;
                }
            }
            ')' => group = group.saturating_sub(1),
            '*' | '+' | '$' | '^' => return false,
            '|' if group == 0 => return false,
            '{' => {
                let count: String = chars.by_ref().take_while(|c| *c != '}').collect();
                if count.ends_with(',') {
                    return false;
                }
            }
            _ => {}
        }
    }
    !escaped
}

#[cfg(test)]
mod tests {
    use super::is_bounded_pattern;

    #[test]
    fn only_anchored_patterns_without_open_repetition_are_bounded() {
        for bounded in ["^C-[0-9]{1,9}$", "^[A-Z]{2}$", "^(a|b)?[*+]$", r"^\+[0-9]{3}$"] {
            assert!(is_bounded_pattern(bounded), "{bounded}");
        }
        for flags in ["^(?m)a$", "^(?x)a$", "^(?s)a$", "^(?m:a)$", "^a(?-u)b$", "^((?m)a)$"] {
            assert!(!is_bounded_pattern(flags), "{flags}");
        }
        assert!(is_bounded_pattern("^(?:a|b){2}$"));
        for open in ["C-[0-9]{1,9}", "^a*$", "^a+$", "^a{2,}$", "^a|b$", "^a$|^b$", "^(?:a+)$", "^a", r"^a\$"]
        {
            assert!(!is_bounded_pattern(open), "{open}");
        }
    }
}

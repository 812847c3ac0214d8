//! Two questions about a piece of schema: can its alternatives be told apart, and is its pattern short by itself.

use serde_json::{Map, Value};

use super::resolve;

/// References followed when the forms of a choice are compared.
const MAX_REFS: usize = 8;

fn deref<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
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

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}

/// Whether every branch is a constant, or has a required member that is a different constant in each branch.
pub(super) fn has_discriminator(root: &Value, branches: &[Value]) -> bool {
    let branches: Vec<&Value> = branches.iter().map(|branch| deref(root, branch)).collect();
    let constants: Vec<_> = branches.iter().map(|branch| branch.get("const")).collect();
    if distinct(&constants) {
        return true;
    }
    let first = branches.first().and_then(|branch| branch.get("properties")).and_then(Value::as_object);
    first.into_iter().flat_map(Map::keys).any(|name| {
        let constant = |branch: &&'_ Value| branch.get("properties")?.get(name)?.get("const").cloned();
        let constants: Vec<Option<Value>> =
            branches.iter().map(|branch| constant(branch).filter(|_| requires(branch, name))).collect();
        distinct(&constants.iter().map(Option::as_ref).collect::<Vec<_>>())
    })
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
            '(' => group += 1,
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
        for open in ["C-[0-9]{1,9}", "^a*$", "^a+$", "^a{2,}$", "^a|b$", "^a$|^b$", "^(?:a+)$", "^a", r"^a\$"]
        {
            assert!(!is_bounded_pattern(open), "{open}");
        }
    }
}

//! Places inside a value: RFC 6901 pointers. The empty pointer is the whole value.

use serde_json::Value;

/// The longest pointer in an error: member names come from outside and may be as long as the whole text.
const MAX_BYTES: usize = 1024;

/// Appends one member name or index.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer of a member or element below `base`.
#[must_use]
pub fn join(base: &str, token: &str) -> String {
    let mut pointer = base.to_owned();
    push(&mut pointer, token);
    pointer
}

/// The pointer made of these names and indexes.
pub fn build<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> String {
    let mut pointer = String::new();
    for token in tokens {
        push(&mut pointer, token.as_ref());
    }
    pointer
}

/// Appends unless the pointer would become too long for an error; says whether it did.
pub(super) fn push_bounded(pointer: &mut String, token: &str) -> bool {
    // Every `~` or `/` may take one byte more.
    if pointer.len() + 1 + 2 * token.len() > MAX_BYTES {
        return false;
    }
    push(pointer, token);
    true
}

/// The names and indexes of a pointer; none when it is not a pointer (no `/` in front, a `~` without 0 or 1).
#[must_use]
pub fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(unescape).collect()
}

fn unescape(token: &str) -> Option<String> {
    let mut name = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        match character {
            '~' => name.push(match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            }),
            other => name.push(other),
        }
    }
    Some(name)
}

/// The value at a pointer; none when there is none, or when it is not a pointer. `null` is a value.
#[must_use]
pub fn lookup<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    tokens(pointer)?.iter().try_fold(value, |place, token| match place {
        Value::Object(members) => members.get(token),
        Value::Array(elements) => elements.get(index(token)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// An array index: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || (token.bytes().all(|byte| byte.is_ascii_digit()) && !token.starts_with('0'));
    if plain { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_examples_of_rfc_6901_hold() {
        let document = json!({
            "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8
        });
        for (pointer, value) in [
            ("", document.clone()),
            ("/foo", json!(["bar", "baz"])),
            ("/foo/0", json!("bar")),
            ("/", json!(0)),
            ("/a~1b", json!(1)),
            ("/c%d", json!(2)),
            ("/e^f", json!(3)),
            ("/g|h", json!(4)),
            ("/i\\j", json!(5)),
            ("/k\"l", json!(6)),
            ("/ ", json!(7)),
            ("/m~0n", json!(8)),
        ] {
            assert_eq!(lookup(&document, pointer), Some(&value), "{pointer}");
        }
        for nothing in
            ["foo", "/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/0/x", "/m~n", "/m~2n", "/absent", "/foo/"]
        {
            assert_eq!(lookup(&document, nothing), None, "{nothing}");
        }
    }

    #[test]
    fn what_is_built_is_what_is_read() {
        let names = ["", "~1", "a/b", "m~n", "~", "/", "0", "é"];
        assert_eq!(tokens(&build(names)).unwrap(), names);
        assert_eq!(join("/a", "b/c"), "/a/b~1c");
        assert_eq!(build(Vec::<String>::new()), "");
    }
}

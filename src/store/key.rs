//! Keys and ranges of keys: short byte strings, compared byte by byte.

use std::fmt;

/// The longest key. Keys repeat in every index page, so they hold ids and ordinals, never texts.
pub const MAX_KEY_BYTES: usize = 64;

/// A key: 1 to [`MAX_KEY_BYTES`] bytes (0 only for a prefix of everything). The first byte is the key space, e.g.
/// `b'o'`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<[u8]>);

/// More than [`MAX_KEY_BYTES`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key of {0} bytes; at most {MAX_KEY_BYTES} are allowed")]
pub struct KeyTooLong(pub usize);

impl Key {
    /// A key of a space from its parts, put one after the other. Parts of varying length need a separator or a length
    /// of the caller's own.
    ///
    /// # Errors
    /// Too many bytes.
    pub fn new(space: u8, parts: &[&[u8]]) -> Result<Key, KeyTooLong> {
        let mut bytes = vec![space];
        for part in parts {
            bytes.extend_from_slice(part);
        }
        Key::from_bytes(&bytes)
    }

    /// The key of a whole space: the prefix of all its keys.
    #[must_use]
    pub fn space(space: u8) -> Key {
        Key(Box::new([space]))
    }

    /// A key from all its bytes, the space included.
    ///
    /// # Errors
    /// Too many bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Key, KeyTooLong> {
        if bytes.len() > MAX_KEY_BYTES {
            return Err(KeyTooLong(bytes.len()));
        }
        Ok(Key(bytes.into()))
    }

    /// All bytes, the space included.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What an engine read, however long; a damaged store may hand out anything, and it must be reportable.
    pub(crate) fn as_found(bytes: &[u8]) -> Key {
        Key(bytes.into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A half-open range of keys, and the direction in which it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The first key that belongs to it.
    pub start: Key,
    /// The first key after it; `None` for no end.
    pub end: Option<Key>,
    /// Read from the end to the start.
    pub reverse: bool,
}

impl Range {
    /// From `start` up to, not including, `end`.
    #[must_use]
    pub fn between(start: Key, end: Key) -> Range {
        Range { start, end: Some(end), reverse: false }
    }

    /// All keys that start with these bytes.
    #[must_use]
    pub fn prefix(prefix: &Key) -> Range {
        Range { start: prefix.clone(), end: after_prefix(prefix), reverse: false }
    }

    /// The same range, starting behind `last`: the next page. Of a reverse range, ending before it.
    #[must_use]
    pub fn after(mut self, last: &Key) -> Range {
        if self.reverse {
            self.end = Some(last.clone());
        } else {
            let mut bytes = last.as_bytes().to_vec();
            bytes.push(0);
            self.start = Key(bytes.into());
        }
        self
    }

    /// The same range, read backwards.
    #[must_use]
    pub fn reversed(mut self) -> Range {
        self.reverse = !self.reverse;
        self
    }

    /// Whether no key can be in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

/// The smallest key that is greater than all keys with this prefix.
fn after_prefix(prefix: &Key) -> Option<Key> {
    let mut bytes = prefix.as_bytes().to_vec();
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            return Some(Key(bytes.into()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Key {
        Key::from_bytes(bytes).unwrap()
    }

    #[test]
    fn a_prefix_ends_where_the_next_one_begins() {
        assert_eq!(Range::prefix(&key(b"ab")).end, Some(key(b"ac")));
        assert_eq!(Range::prefix(&key(b"a\xff\xff")).end, Some(key(b"b")));
        assert_eq!(Range::prefix(&key(b"\xff")).end, None);
        assert_eq!(Range::prefix(&key(b"")).end, None);
    }

    #[test]
    fn a_key_has_a_greatest_length() {
        assert_eq!(Key::new(b'o', &[&[1; 63]]).unwrap().as_bytes().len(), MAX_KEY_BYTES);
        assert_eq!(Key::new(b'o', &[&[1; 60], &[2; 4]]), Err(KeyTooLong(65)));
    }

    #[test]
    fn the_next_page_begins_behind_the_last_key() {
        let all = Range::prefix(&key(b"o"));
        assert_eq!(all.clone().after(&key(b"o1")).start, key(b"o1\0"));
        assert_eq!(all.reversed().after(&key(b"o1")).end, Some(key(b"o1")));
    }

    #[test]
    fn a_key_prints_without_raw_bytes() {
        assert_eq!(key(b"o\x00\n\xff").to_string(), r"o\x00\n\xff");
    }
}

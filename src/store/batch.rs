//! Records, and the batches of writes that are committed as a whole.

use std::collections::BTreeMap;

use super::key::Key;

/// What a key holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// How often this key was written since it was absent: 1 for the first write. Appends name the version they follow.
    pub version: u64,
    /// The encoded content; its meaning is the caller's.
    pub payload: Vec<u8>,
}

/// A key did not have the version that a batch expected. Zero stands for absent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("version conflict at {key}: expected {expected}, found {actual}")]
pub struct VersionMismatch {
    /// The key.
    pub key: Key,
    /// What the batch expected.
    pub expected: u64,
    /// What the store, or the group so far, has.
    pub actual: u64,
}

/// Writes that are committed together or not at all, and the versions that they depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    expects: BTreeMap<Key, u64>,
    writes: BTreeMap<Key, Option<Record>>,
}

impl Batch {
    /// An empty batch; committing it does nothing.
    #[must_use]
    pub fn new() -> Batch {
        Batch::default()
    }

    /// The key must have this version before the commit (0: be absent). The first expectation of a key counts: it is
    /// about the store, not about what the batch writes.
    #[must_use]
    pub fn expect(mut self, key: Key, version: u64) -> Batch {
        self.expects.entry(key).or_insert(version);
        self
    }

    /// Writes a record whatever the key holds. The last write of a key wins.
    #[must_use]
    pub fn put(mut self, key: Key, record: Record) -> Batch {
        self.writes.insert(key, Some(record));
        self
    }

    /// Writes the version after `expected`, if the key has that one (0: is absent).
    #[must_use]
    pub fn put_if(self, key: Key, expected: u64, payload: Vec<u8>) -> Batch {
        let version = expected.saturating_add(1);
        self.expect(key.clone(), expected).put(key, Record { version, payload })
    }

    /// Removes a key whatever it holds; absent is fine.
    #[must_use]
    pub fn delete(mut self, key: Key) -> Batch {
        self.writes.insert(key, None);
        self
    }

    /// Removes a key if it has this version.
    #[must_use]
    pub fn delete_if(self, key: Key, expected: u64) -> Batch {
        self.expect(key.clone(), expected).delete(key)
    }

    /// Appends a member to this group. What the member expects of keys that the group writes is checked here, against
    /// the group; the rest is left to the commit.
    ///
    /// # Errors
    /// The member conflicts with the group, which is unchanged.
    pub fn join(&mut self, member: Batch) -> Result<(), VersionMismatch> {
        for (key, expected) in &member.expects {
            let pending = match self.writes.get(key) {
                Some(written) => Some(written.as_ref().map_or(0, |record| record.version)),
                None => self.expects.get(key).copied(),
            };
            if let Some(actual) = pending.filter(|actual| actual != expected) {
                return Err(VersionMismatch { key: key.clone(), expected: *expected, actual });
            }
        }
        for (key, expected) in member.expects {
            if !self.writes.contains_key(&key) {
                self.expects.insert(key, expected);
            }
        }
        self.writes.extend(member.writes);
        Ok(())
    }

    /// What the batch expects, by key.
    pub fn expects(&self) -> impl Iterator<Item = (&Key, u64)> {
        self.expects.iter().map(|(key, version)| (key, *version))
    }

    /// What the batch writes, by key; `None` removes.
    pub fn writes(&self) -> impl Iterator<Item = (&Key, Option<&Record>)> {
        self.writes.iter().map(|(key, record)| (key, record.as_ref()))
    }

    /// Whether the key is written or removed by this batch, and with what.
    #[must_use]
    pub fn written(&self, key: &Key) -> Option<Option<&Record>> {
        self.writes.get(key).map(Option::as_ref)
    }

    /// How many keys it writes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether it writes nothing. It may still expect something.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Bytes of all keys and payloads written.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.writes().map(|(key, record)| key.as_bytes().len() + record.map_or(0, |r| r.payload.len())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: u8) -> Key {
        Key::space(name)
    }

    #[test]
    fn the_last_write_and_the_first_expectation_win() {
        let batch = Batch::new().put_if(key(b'a'), 0, vec![1]).put_if(key(b'a'), 1, vec![2]);
        assert_eq!(batch.expects().collect::<Vec<_>>(), [(&key(b'a'), 0)]);
        assert_eq!(batch.written(&key(b'a')), Some(Some(&Record { version: 2, payload: vec![2] })));
    }

    #[test]
    fn members_of_a_group_follow_each_other() {
        let mut group = Batch::new();
        group.join(Batch::new().put_if(key(b'a'), 0, vec![1])).unwrap();
        group.join(Batch::new().put_if(key(b'a'), 1, vec![2])).unwrap();
        let before = group.clone();
        let refused = group.join(Batch::new().put_if(key(b'b'), 0, vec![9]).put_if(key(b'a'), 1, vec![3]));
        assert_eq!(refused, Err(VersionMismatch { key: key(b'a'), expected: 1, actual: 2 }));
        assert_eq!(group, before, "a refused member leaves nothing");
        group.join(Batch::new().delete_if(key(b'a'), 2)).unwrap();
        group.join(Batch::new().put_if(key(b'a'), 0, vec![4])).unwrap();
        assert_eq!(group.expects().collect::<Vec<_>>(), [(&key(b'a'), 0)]);
    }

    #[test]
    fn members_that_expect_different_versions_of_the_store_conflict() {
        let mut group = Batch::new();
        group.join(Batch::new().expect(key(b'a'), 3)).unwrap();
        let refused = group.join(Batch::new().expect(key(b'a'), 4)).unwrap_err();
        assert_eq!((refused.expected, refused.actual), (4, 3));
    }
}

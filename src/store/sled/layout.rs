//! How records lie in sled's one tree.
//!
//! One tree, because a batch is atomic only within one. A record is split into parts, because a value over about
//! 4 KiB can make sled move its page into `blobs/`, which nothing ever syncs (20 kB records: lost or torn in every
//! simulated power cut). The first part lies at `r` + key, the others at `c` + key length + key + number, so that a
//! scan of records meets each once. Parts are written and removed in the same batch as their head.

use std::ops::Bound;

use super::super::key::{Key, Range};

const RECORDS: u8 = b'r';
const PARTS: u8 = b'c';

/// The longest value that sled gets. A leaf page holds up to 16 values, 20 while two are merged, and moves to
/// `blobs/` at a quarter of a segment (128 KiB): 20 × (3.5 KiB + the longest key) is 72 KiB.
pub(super) const PART_BYTES: usize = 3_584;

/// Where the head of a record lies.
pub(super) fn head_key(key: &Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.as_bytes().len() + 1);
    bytes.push(RECORDS);
    bytes.extend_from_slice(key.as_bytes());
    bytes
}

/// Where part `number` (from 1) of a record lies.
pub(super) fn part_key(key: &Key, number: usize) -> Vec<u8> {
    let mut bytes = parts_prefix(key);
    // At most 16 MiB / 3.5 KiB parts, so four bytes suffice.
    bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
    bytes
}

/// What the keys of all parts of a record begin with, and no others: the length stands in front.
pub(super) fn parts_prefix(key: &Key) -> Vec<u8> {
    let mut bytes = vec![PARTS, u8::try_from(key.as_bytes().len()).unwrap_or(u8::MAX)];
    bytes.extend_from_slice(key.as_bytes());
    bytes
}

/// How many parts a record of this many framed bytes has, its head included.
pub(super) fn parts_of(whole_len: usize) -> usize {
    whole_len.div_ceil(PART_BYTES).max(1)
}

/// The key of a record from the key of its head.
pub(super) fn record_key(head: &[u8]) -> Key {
    Key::as_found(head.get(1..).unwrap_or_default())
}

/// The heads of a range of records.
pub(super) fn head_bounds(range: &Range) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let end = range.end.as_ref().map_or_else(|| vec![RECORDS + 1], head_key);
    (Bound::Included(head_key(&range.start)), Bound::Excluded(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_record_are_never_those_of_another() {
        let short = Key::from_bytes(b"a").unwrap();
        let long = Key::from_bytes(b"a\0\0\0\x01").unwrap();
        assert!(!parts_prefix(&long).starts_with(&parts_prefix(&short)));
        assert!(part_key(&short, 1).starts_with(&parts_prefix(&short)));
    }

    #[test]
    fn a_full_leaf_of_parts_stays_below_the_limit_of_a_page() {
        let longest_key = super::super::super::MAX_KEY_BYTES + 6;
        assert!(20 * (PART_BYTES + longest_key + 16) < super::super::open::SEGMENT_BYTES / 4);
        const { assert!(PART_BYTES < 4096) };
        assert_eq!((parts_of(0), parts_of(PART_BYTES), parts_of(PART_BYTES + 1)), (1, 1, 2));
    }
}

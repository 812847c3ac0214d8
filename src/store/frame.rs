//! The frame around every stored value. Engines do not notice damaged media, so each record proves itself: what it is,
//! how long, unchanged, and at its own key.
//!
//! ```text
//! format 1:  0xD7 · format (1 byte) · CRC-32C (4, LE) · version (varint) · payload length (varint) · payload
//! ```
//! The checksum covers everything but itself, and the key. Older formats stay readable for ever: a new one is a new
//! arm in [`decode`]. Newer ones are refused with an error of their own.

use super::batch::Record;
use super::error::Damage;
use super::key::Key;

/// The first byte of every record.
const MAGIC: u8 = 0xD7;
/// The format that is written.
const FORMAT: u8 = 1;
/// Magic, format, checksum.
const FIXED_BYTES: usize = 6;
/// The longest varint of a u64.
const MAX_VARINT_BYTES: usize = 10;

/// The framed bytes of a record.
pub(crate) fn encode(key: &Key, record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIXED_BYTES + 2 * MAX_VARINT_BYTES + record.payload.len());
    bytes.extend_from_slice(&[MAGIC, FORMAT, 0, 0, 0, 0]);
    put_varint(&mut bytes, record.version);
    put_varint(&mut bytes, record.payload.len() as u64);
    bytes.extend_from_slice(&record.payload);
    let sum = checksum(key, &bytes).to_le_bytes();
    bytes[2..FIXED_BYTES].copy_from_slice(&sum);
    bytes
}

/// The record in framed bytes.
pub(crate) fn decode(key: &Key, bytes: &[u8]) -> Result<Record, Damage> {
    let whole = whole_len(bytes)?;
    if whole != bytes.len() {
        return Err(Damage::Length);
    }
    let stored = u32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
    if stored != checksum(key, bytes) {
        return Err(Damage::Checksum);
    }
    let (version, used) = take_varint(&bytes[FIXED_BYTES..]).ok_or(Damage::Length)?;
    let (length, more) = take_varint(&bytes[FIXED_BYTES + used..]).ok_or(Damage::Length)?;
    let payload = &bytes[FIXED_BYTES + used + more..];
    if payload.len() as u64 != length {
        return Err(Damage::Length);
    }
    Ok(Record { version, payload: payload.to_vec() })
}

/// How many bytes the whole framed record has, from its first ones: enough to know how many parts it was split into.
/// Not yet proven by the checksum.
pub(crate) fn whole_len(head: &[u8]) -> Result<usize, Damage> {
    match head {
        [MAGIC, FORMAT, ..] if head.len() >= FIXED_BYTES => {}
        [MAGIC, 0, ..] => return Err(Damage::NotARecord),
        [MAGIC, found, ..] if *found > FORMAT => {
            return Err(Damage::NewerFormat { found: *found, known: FORMAT });
        }
        [MAGIC, ..] | [] => return Err(Damage::Length),
        _ => return Err(Damage::NotARecord),
    }
    let (_, used) = take_varint(&head[FIXED_BYTES..]).ok_or(Damage::Length)?;
    let (length, more) = take_varint(&head[FIXED_BYTES + used..]).ok_or(Damage::Length)?;
    usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_add(FIXED_BYTES + used + more))
        .ok_or(Damage::Length)
}

fn checksum(key: &Key, bytes: &[u8]) -> u32 {
    let sum = crc32c::crc32c(key.as_bytes());
    let sum = crc32c::crc32c_append(sum, &bytes[..2]);
    crc32c::crc32c_append(sum, &bytes[FIXED_BYTES..])
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap_or(0));
}

/// The value and how many bytes it took; `None` for a torn or overlong one.
fn take_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (place, byte) in bytes.iter().take(MAX_VARINT_BYTES).enumerate() {
        let part = u64::from(byte & 0x7f);
        let shift = 7 * place;
        if (part << shift) >> shift != part {
            return None;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Some((value, place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Key, Record) {
        (Key::from_bytes(b"o-1").unwrap(), Record { version: 300, payload: b"some payload".to_vec() })
    }

    #[test]
    fn format_1_is_these_bytes() {
        let (key, record) = sample();
        let bytes = encode(&key, &record);
        assert_eq!(bytes[..2], [0xD7, 1]);
        assert_eq!(&bytes[6..9], [0xAC, 0x02, 12]);
        assert_eq!(&bytes[9..], b"some payload");
        // Fixed for ever: stored records of this format must stay readable.
        assert_eq!(bytes[2..6], crc32c::crc32c(b"o-1\xD7\x01\xAC\x02\x0Csome payload").to_le_bytes());
        assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283, "the published check value of CRC-32C");
        assert_eq!(decode(&key, &bytes), Ok(record));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (key, record) = sample();
        let bytes = encode(&key, &record);
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&key, &bad).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(decode(&key, &bytes[..len]).is_err(), "cut at {len}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(decode(&key, &longer), Err(Damage::Length));
    }

    #[test]
    fn a_record_at_another_key_is_damage() {
        let (key, record) = sample();
        let other = Key::from_bytes(b"o-2").unwrap();
        assert_eq!(decode(&other, &encode(&key, &record)), Err(Damage::Checksum));
    }

    #[test]
    fn a_newer_format_is_told_apart() {
        let (key, record) = sample();
        let mut bytes = encode(&key, &record);
        bytes[1] = 2;
        assert_eq!(decode(&key, &bytes), Err(Damage::NewerFormat { found: 2, known: 1 }));
        bytes[1] = 0;
        assert_eq!(decode(&key, &bytes), Err(Damage::NotARecord));
    }

    #[test]
    fn extreme_lengths_and_versions_are_not_believed() {
        let (key, _) = sample();
        for version in [0, 1, 127, 128, u64::MAX] {
            let record = Record { version, payload: vec![] };
            assert_eq!(decode(&key, &encode(&key, &record)), Ok(record));
        }
        let mut bytes = vec![MAGIC, FORMAT, 0, 0, 0, 0, 1];
        bytes.extend_from_slice(&[0xff; 10]);
        assert_eq!(whole_len(&bytes), Err(Damage::Length));
    }
}

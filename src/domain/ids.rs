//! Ids are TypeIDs: a prefix, an underscore and a UUIDv7 in base32 (Crockford, lower case, 26 digits), sortable by
//! the time they were made. Stored records and keys hold the 16 bytes. Drawing one is the business of a port.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 base32 digits hold 130 bits, so the first digit of a 128-bit value is at most 7.
const DIGITS: usize = 26;

/// The text is not an id of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind: expected `{0}_` and 26 base32 digits")]
pub struct NotAnId(&'static str);

fn encode(value: u128) -> [u8; DIGITS] {
    let mut text = [0u8; DIGITS];
    for (place, digit) in text.iter_mut().rev().enumerate() {
        *digit = ALPHABET[usize::try_from((value >> (5 * place)) & 31).unwrap_or(0)];
    }
    text
}

fn decode(text: &str) -> Option<u128> {
    if text.len() != DIGITS {
        return None;
    }
    let mut value: u128 = 0;
    for (place, digit) in text.bytes().enumerate() {
        let index = ALPHABET.iter().position(|known| *known == digit)?;
        if place == 0 && index > 7 {
            return None;
        }
        value = (value << 5) | u128::try_from(index).ok()?;
    }
    Some(value)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The prefix of the text form.
            pub const PREFIX: &'static str = $prefix;

            /// From the 128 bits of a UUID.
            #[must_use]
            pub const fn from_u128(value: u128) -> Self {
                Self(value)
            }

            /// The 16 bytes, most significant first: their order is the order of creation.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// From the 16 bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }

            /// The 128 bits.
            #[must_use]
            pub const fn as_u128(self) -> u128 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let digits = encode(self.0);
                f.pad(&format!(concat!($prefix, "_{}"), std::str::from_utf8(&digits).unwrap_or_default()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.strip_prefix(concat!($prefix, "_")).and_then(decode).map(Self).ok_or(NotAnId($prefix))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.to_bytes().serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    <[u8; 16]>::deserialize(deserializer).map(Self::from_bytes)
                }
            }
        }
    };
}

id!(
    /// A run: one activity of one agent or workflow.
    RunId,
    "run"
);
id!(
    /// An operation: one write.
    OperationId,
    "op"
);
id!(
    /// An attempt: one execution try of an operation.
    AttemptId,
    "att"
);
id!(
    /// A call: one read inside a run, or the preview of a proposal.
    CallId,
    "call"
);

id!(
    /// A token that an administrator made for a principal. Not its secret.
    TokenId,
    "tok"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_typeid_vector_holds() {
        // UUID 01890a5d-ac96-774b-bcce-b302099a8057, from the TypeID specification's example list.
        let id = OperationId::from_u128(0x01890a5d_ac96_774b_bcce_b302099a8057);
        assert_eq!(id.to_string(), "op_01h455vb4pex5vsknk084sn02q");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(OperationId::from_u128(u128::MAX).to_string(), "op_7zzzzzzzzzzzzzzzzzzzzzzzzz");
    }

    #[test]
    fn foreign_prefixes_overflow_and_wrong_digits_are_refused() {
        for wrong in [
            "run_01h455vb4pex5vsknk084sn02q",
            "op_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "op_01h455vb4pex5vsknk084sn02",
            "op_01h455vb4pex5vsknk084sn02u",
            "op-01h455vb4pex5vsknk084sn02q",
            "",
        ] {
            assert!(wrong.parse::<OperationId>().is_err(), "{wrong}");
        }
    }
}

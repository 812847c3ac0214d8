//! The encoding of records: bincode 2, behind this file only and inside the frame of [`super::frame`].
//!
//! The format is positional: members and variants are added at the end, never moved. Another encoding would be a new
//! format version of the frame, with this one still read.

use bincode::config::{Configuration, standard};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes are not a record of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a record of this kind: {what}")]
pub struct NotDecoded {
    /// What the decoder says; never the data.
    pub what: String,
}

const CONFIG: Configuration = standard();

/// Encodes a record.
///
/// # Errors
/// Only for values that no record holds (sequences of unknown length); nothing was written.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, NotDecoded> {
    bincode::serde::encode_to_vec(value, CONFIG).map_err(|error| NotDecoded { what: error.to_string() })
}

/// Decodes a record; every byte must belong to it.
///
/// # Errors
/// [`NotDecoded`].
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NotDecoded> {
    match bincode::serde::decode_from_slice(bytes, CONFIG) {
        Ok((value, used)) if used == bytes.len() => Ok(value),
        Ok(_) => Err(NotDecoded { what: "bytes are left over".to_owned() }),
        Err(error) => Err(NotDecoded { what: error.to_string() }),
    }
}

//! Strict reading of requests: bodies, query parameters and path segments. Everything that is wrong is named with its
//! pointer, nothing is ignored, guessed or repaired, and no value that was sent is repeated in a message.

mod body;
mod field;
mod fields;
mod path;
mod query;

pub(super) use body::JsonBody;
pub(super) use field::{Count, JsonObject, States, Text, Wait};
pub(super) use fields::{Fields, FromFields};
pub(super) use path::Id;
pub(super) use query::Query;

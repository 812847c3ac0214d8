//! The closed dictionary of error codes.
//!
//! What it owns: every code that a program may meet, with its category, the usual effect, whether a program may simply
//! ask again, the HTTP status, the exit code and a page for people. Who may call it: everybody. What it never does:
//! grow at run time. A code that this version does not know is an [`UnknownCode`], and that means stop: nobody may
//! guess whether a new code says that something has happened.

mod category;
mod table;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use category::{Category, Owner};
pub use table::Code;

use super::json::display;
use super::operation::Effect;

/// What the dictionary says about one code.
struct Entry {
    title: &'static str,
    category: Category,
    default_effect: Effect,
    retryable: bool,
    http_status: u16,
    owner: Owner,
    since: &'static str,
}

impl Code {
    /// One line for people, without a full stop.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.entry().title
    }

    /// What kind of trouble it is.
    #[must_use]
    pub const fn category(self) -> Category {
        self.entry().category
    }

    /// What the world looks like when nothing more is known than the code. Where an attempt exists, what is known
    /// about the attempt counts instead.
    #[must_use]
    pub const fn default_effect(self) -> Effect {
        self.entry().default_effect
    }

    /// Whether a program may send the same request again later, unchanged and with the same key, and may expect
    /// another answer without anybody doing anything about the request.
    #[must_use]
    pub const fn retryable(self) -> bool {
        self.entry().retryable
    }

    /// The status of an HTTP answer that carries this code as its problem.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        self.entry().http_status
    }

    /// The exit code of a command that ends with this code.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        self.category().exit_code()
    }

    /// Who can usually do something about it.
    #[must_use]
    pub const fn owner(self) -> Owner {
        self.entry().owner
    }

    /// The first release that knew the code.
    #[must_use]
    pub const fn since(self) -> &'static str {
        self.entry().since
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How much of a foreign code is shown; ours have at most 23 characters.
const SHOWN_CODE: usize = 40;

/// A code that this version does not know, perhaps from a newer peer. It means stop: neither repeat nor go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the error code `{}` is not known to this version: stop, and do not repeat the request",
    display::escape_and_cut(.0, SHOWN_CODE)
)]
pub struct UnknownCode(pub String);

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Code, UnknownCode> {
        Code::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;

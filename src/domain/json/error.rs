//! Why a text was refused, and where. Never what stood there: arguments are nobody's business but the approver's.

use std::fmt;

use super::display;
use crate::domain::code::Code;

/// How much of a pointer a message shows: enough to find the place, short enough for one line of a terminal.
const SHOWN_POINTER: usize = 120;

/// The kind of refusal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JsonErrorKind {
    /// More bytes than the limit.
    TooLarge,
    /// Not UTF-8.
    InvalidUtf8,
    /// A byte order mark in front.
    ByteOrderMark,
    /// Not JSON.
    Syntax,
    /// The text ends in the middle of a value.
    Incomplete,
    /// Something follows the value.
    TrailingData,
    /// Arrays and objects are nested too deeply.
    TooDeep,
    /// An object has one member twice.
    DuplicateKey,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// A number whose decimal value a double does not carry.
    InexactNumber,
    /// Valid, but not in the canonical form where only that form may stand.
    NotCanonical,
}

impl JsonErrorKind {
    /// All kinds.
    pub const ALL: [JsonErrorKind; 11] = [
        JsonErrorKind::TooLarge,
        JsonErrorKind::InvalidUtf8,
        JsonErrorKind::ByteOrderMark,
        JsonErrorKind::Syntax,
        JsonErrorKind::Incomplete,
        JsonErrorKind::TrailingData,
        JsonErrorKind::TooDeep,
        JsonErrorKind::DuplicateKey,
        JsonErrorKind::LoneSurrogate,
        JsonErrorKind::InexactNumber,
        JsonErrorKind::NotCanonical,
    ];

    /// The code of the problem that this becomes.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            JsonErrorKind::TooLarge => Code::PayloadTooLarge,
            JsonErrorKind::InvalidUtf8
            | JsonErrorKind::ByteOrderMark
            | JsonErrorKind::Syntax
            | JsonErrorKind::Incomplete
            | JsonErrorKind::TrailingData
            | JsonErrorKind::TooDeep
            | JsonErrorKind::DuplicateKey
            | JsonErrorKind::LoneSurrogate
            | JsonErrorKind::InexactNumber
            | JsonErrorKind::NotCanonical => Code::InvalidArgument,
        }
    }

    /// What is wrong, and what to do about it.
    #[must_use]
    pub const fn explain(self) -> (&'static str, &'static str) {
        match self {
            JsonErrorKind::TooLarge => ("the JSON text is too large", "send less, or in several requests"),
            JsonErrorKind::InvalidUtf8 => ("the text is not UTF-8", "encode it as UTF-8"),
            JsonErrorKind::ByteOrderMark => {
                ("the text begins with a byte order mark", "send UTF-8 without a byte order mark")
            }
            JsonErrorKind::Syntax => ("the text is not JSON", "write it with a JSON library (RFC 8259)"),
            JsonErrorKind::Incomplete => ("the JSON text ends too early", "send the whole text"),
            JsonErrorKind::TrailingData => ("something follows the JSON value", "send exactly one value"),
            JsonErrorKind::TooDeep => ("arrays and objects are nested too deeply", "make the value flatter"),
            JsonErrorKind::DuplicateKey => (
                "a member occurs twice in one object",
                "keep one of the two; readers would disagree which counts",
            ),
            JsonErrorKind::LoneSurrogate => {
                ("half of a surrogate pair stands alone", "send whole characters; half of a pair is none")
            }
            JsonErrorKind::InexactNumber => (
                "a double does not carry this number exactly",
                "send it as a string, where the contract takes one",
            ),
            JsonErrorKind::NotCanonical => {
                ("the text is not in the canonical form", "write it as RFC 8785 says")
            }
        }
    }
}

/// A refused text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct JsonError {
    /// What kind of refusal it is.
    pub kind: JsonErrorKind,
    /// The place as an RFC 6901 pointer, as far as it is known: the nearest value around the trouble. Long pointers
    /// end early, at an ancestor.
    pub pointer: String,
    /// The byte at which the trouble was noticed, counted from 0; none when the value did not come from a text.
    pub offset: Option<usize>,
    /// More about it, such as the limit; never a piece of the text.
    pub detail: Option<String>,
}

impl JsonError {
    /// A refusal at a place.
    #[must_use]
    pub fn new(kind: JsonErrorKind, pointer: String, offset: Option<usize>) -> JsonError {
        JsonError { kind, pointer, offset, detail: None }
    }

    pub(super) fn with_detail(mut self, detail: String) -> JsonError {
        self.detail = Some(detail);
        self
    }

    /// The code of the problem that this becomes.
    #[must_use]
    pub fn code(&self) -> Code {
        self.kind.code()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = self.kind.explain();
        f.write_str(what)?;
        if let Some(detail) = &self.detail {
            write!(f, " ({detail})")?;
        }
        if !self.pointer.is_empty() {
            write!(f, " at {}", display::escape_and_cut(&self.pointer, SHOWN_POINTER))?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", byte {offset}")?;
        }
        write!(f, ": {remedy}")
    }
}

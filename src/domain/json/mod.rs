//! Strict JSON and its canonical form.
//!
//! What it owns: the one way in which text from outside becomes a value ([`parse`]), the one form that is hashed
//! ([`Canonical`], RFC 8785), places inside a value ([`pointer`]) and text made safe to look at ([`display`]). Who may
//! call it: everybody who reads JSON that this process did not write itself. What it never does: repair, guess, or
//! accept two readings of one text. A body that two readers could understand differently is refused, because the
//! digest of one reading must never approve the other.

mod canonical;
pub mod display;
mod error;
mod number;
mod parse;
pub mod pointer;
mod survey;

pub use canonical::Canonical;
pub use error::{JsonError, JsonErrorKind};
pub use parse::parse;

/// The deepest nesting of arrays and objects. Real arguments stay under ten; every later stage (copying, comparing,
/// canonical form, drop) recurses once per level, so 64 keeps all of them far away from the end of any stack.
pub const MAX_DEPTH: usize = 64;

/// The default bound on the bytes of one text: a proposal that a person is to read is never longer, and the cost of
/// a hostile body stays in the milliseconds.
pub const MAX_BYTES: usize = 1024 * 1024;

/// What one text may cost. Both bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of the text.
    pub max_bytes: usize,
    /// Nesting of arrays and objects; a scalar has depth 0. Values above [`MAX_DEPTH`] count as [`MAX_DEPTH`].
    pub max_depth: usize,
}

impl Limits {
    /// A bound on the size, with the usual depth.
    #[must_use]
    pub const fn bytes(max_bytes: usize) -> Limits {
        Limits { max_bytes, max_depth: MAX_DEPTH }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::bytes(MAX_BYTES)
    }
}

#[cfg(test)]
mod tests;

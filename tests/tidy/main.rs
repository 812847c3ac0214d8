//! The habits of the house, as tests: direction of imports, owners of crates, size of files and functions, words that
//! may not stay, documents that must be true. Reads text only and knows nothing of the program, so that it says what
//! is wrong also when nothing compiles but itself.
//!
//! A rule that existing code breaks has a ratchet: a list of exceptions that may shrink and never grow. An exception
//! that is no longer needed fails as well, so that it is removed.

mod arrows;
mod documents;
mod lexer;
mod owners;
mod sizes;
mod sources;
mod words;

/// Fails with all findings at once: one run shows everything that is to be mended.
fn nothing_found(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n{}\n", findings.len(), findings.join("\n"));
}

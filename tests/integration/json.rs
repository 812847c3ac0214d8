//! Strict JSON and the canonical form against what others publish, and against inputs that nobody wrote.

// Helpers of tests are tests, which clippy does not see.
#![allow(clippy::unwrap_used)]

mod properties;
mod suites;

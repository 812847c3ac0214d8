//! What an operator sees of the running daemon: structured logs, text or JSON, on standard error. Raw arguments, notes,
//! receipts and secrets are never logged: lines carry ids, codes, digests and the cause in our own words.

mod logs;

pub use logs::{LogError, start_logs};

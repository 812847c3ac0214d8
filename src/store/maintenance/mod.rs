//! Offline tools over a state directory: verify, export, import, recover. Each takes the lock, so that the daemon
//! cannot run meanwhile.
//!
//! Owns: what may be found wrong with a store, the format of exports, and the rules by which a store is read whole or
//! built anew. The commands of the same names may call it. It never executes anything, never repairs a store in place,
//! and never deletes the only copy of a record.

mod error;
mod finding;
mod open;
mod verify;
mod walk;

pub use error::MaintenanceError;
pub use finding::{Finding, FindingCode, Findings};
pub use verify::acks::{AckError, Acks};
pub use verify::{HeadClaim, NotAHead, VerifyOptions, VerifyReport, verify};

#[cfg(test)]
mod tests;

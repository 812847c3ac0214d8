//! Offline tools over a state directory: verify, export, import, recover. Each takes the lock, so that the daemon
//! cannot run meanwhile.
//!
//! Owns: what may be found wrong with a store, the format of exports, and the rules by which a store is read whole or
//! built anew. The commands of the same names may call it. It never executes anything, never repairs a store in place,
//! and never deletes the only copy of a record.

mod epoch;
mod error;
mod export;
mod finding;
mod hex;
mod import;
mod lines;
mod open;
mod packed;
mod recover;
mod verify;
mod walk;

pub use error::MaintenanceError;
pub use export::{ExportReport, export};
pub use finding::{Finding, FindingCode, Findings};
pub use import::{ImportReport, import};
pub use recover::{Lost, RecoverReport, recover};
pub use verify::acks::{AckError, Acks};
pub use verify::{HeadClaim, NotAHead, VerifyOptions, VerifyReport, verify};

#[cfg(test)]
mod tests;

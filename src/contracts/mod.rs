//! Tool contracts: YAML and JSON Schema become verified contracts, and a verified contract renders requests and judges
//! answers. Owns the format, its findings, templates, rendering and classification. The daemon, the engine and the
//! `contracts` commands call it. It never sends anything, reads no clock and keeps nothing; only [`Catalog::load`]
//! touches the file system, to read.
//!
//! The stages are raw ([`yaml`]: text → JSON and places) → resolved ([`resolve`]: typed parts, each on its own) →
//! verified ([`verify`]: what must be there and what fits together). Only [`Contract`], the last one, leaves.

pub mod cases;
mod catalog;
mod classify;
mod codes;
mod contract;
mod diff;
mod due;
mod finding;
mod guard;
mod lock;
mod model;
mod preview;
mod read;
mod readback;
mod receipt;
mod redact;
mod release;
mod render;
mod resolve;
mod schema;
mod status;
mod template;
mod units;
mod verify;
mod yaml;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use catalog::{Catalog, Source};
pub use classify::{Answer, AnswerBody, Classified, PartEffect, ReadOutcome};
pub use contract::{Contract, WriteParts};
pub use diff::{ChangeKind, ContractChange, ContractDiff};
pub use finding::{Finding, FindingCode, Severity};
pub use guard::{Guard, GuardError, NotDecided};
pub use lock::{BODIES, LOCK_FILE, Lock};
pub use model::{
    ApprovalSpec, Cancel, Commit, Compensation, CompensationSpec, EffectClass, EffectSpec, ErrorEntry,
    Idempotency, Lifecycle, Limits, NotFound, PreviewSpec, Readback, Recovery, Retry, RetryClass, Reversible,
    Service, StatusProtocol, TargetSpec, VersionCheck,
};
pub use preview::{Change, Quoted, TARGET_ABSENT, Target, version_text};
pub use receipt::{Expect, Receipt};
pub use render::{Actor, RenderError, StatusContext, WriteContext};
pub use schema::{Schema, Violation};
pub use status::StatusAnswer;
pub use template::{TemplateError, TemplateReason};
pub use units::{NotThis, Pointer, Rate, ToolRef, Version};

/// The strict reader of the format, for other closed formats in YAML.
pub(crate) mod strict {
    pub(crate) use super::catalog::place;
    pub(crate) use super::finding::{Findings, child};
    pub(crate) use super::read::{Fields, wrong_type};
    pub(crate) use super::yaml::parse;
}

/// Whole numbers beyond this are not exact in a double, and so not in RFC 8785.
const MAX_EXACT: u64 = 1 << 53;

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.unsigned_abs() <= MAX_EXACT,
            (None, Some(number)) => number <= MAX_EXACT,
            (None, None) => number.as_f64().is_some_and(f64::is_finite),
        },
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// RFC 8785 of a value, or nothing if a number would change on the way. The one place that names the canonicaliser.
fn canonical(value: &Value) -> Option<Vec<u8>> {
    if is_exact(value) { serde_json_canonicalizer::to_vec(value).ok() } else { None }
}

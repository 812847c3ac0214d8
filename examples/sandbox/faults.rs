//! The faults: their names, their parameters, and which requests each can be about. What they do is in
//! `perform`.

use serde::{Deserialize, Serialize};

use super::domain::Kind;

/// A fault with its parameters. Unknown parameters are refused, so that a misspelt one is noticed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Fault {
    /// Not applied; the connection ends without a byte (`reset`: by RST).
    DropBeforeApply {
        #[serde(default)]
        reset: bool,
    },
    /// Applied; the connection is closed without a byte.
    ApplyThenDrop {},
    /// Applied; the connection is reset.
    ApplyThenReset {},
    /// Applied; 200 with a body that is no JSON.
    ApplyThenMalformed {},
    /// Applied; 200 with JSON that lacks what it must have and has what it must not.
    ApplyThenWrongShape {},
    /// Applied; half of the body that was promised, then the connection is closed.
    ApplyThenPartialBody {},
    /// Applied; a 5xx.
    #[serde(rename = "apply_then_5xx")]
    ApplyThen5xx {
        #[serde(default = "default_5xx")]
        status: u16,
    },
    /// Applied `ms` later, also when the client has gone away by then; then answered.
    Delay {
        #[serde(default = "default_ms")]
        ms: u64,
    },
    /// Applied at once, answered `ms` later.
    ApplyThenDelay {
        #[serde(default = "default_ms")]
        ms: u64,
    },
    /// Not applied; 429 with `Retry-After` in seconds.
    RateLimited {
        #[serde(default = "default_retry_after")]
        retry_after: u64,
    },
    /// Not applied; 503.
    UnavailableBefore {},
    /// Applied; 503.
    UnavailableAfter {},
    /// Not applied; this status and body.
    Reject {
        #[serde(default = "default_reject")]
        status: u16,
        #[serde(default = "default_reject_body")]
        body: serde_json::Value,
    },
    /// The status endpoint answers 503 (`close`: the connection is closed instead).
    StatusDown {
        #[serde(default)]
        close: bool,
    },
    /// The status endpoint answers `ms` later.
    StatusSlow {
        #[serde(default = "default_ms")]
        ms: u64,
    },
    /// The status endpoint tells of another operation and another request.
    StatusWrong {},
    /// The status endpoint knows nothing of an outcome until it is `ms` old.
    StatusLag {
        #[serde(default = "default_ms")]
        ms: u64,
    },
    /// The status endpoint says that it is still at work.
    StatusInProgress {},
    /// The request is processed twice; the first answer is given.
    DuplicateDelivery {},
    /// Not applied now and answered with `status` (none: closed); applied `ms` later.
    LateArrival {
        #[serde(default = "default_ms")]
        ms: u64,
        #[serde(default)]
        status: Option<u16>,
    },
    /// Somebody else changes the object just before the request is looked at.
    VersionBump {},
    /// Not applied; 307 to `location`.
    Redirect {
        #[serde(default = "default_location")]
        location: String,
    },
    /// Not applied; 401.
    ExpiredToken {},
    /// Not applied; what is answered for the id of somebody else: 404.
    OtherTenant {},
    /// Not applied; never answered.
    Hang {},
    /// Applied; 200 with a valid JSON object of so many bytes.
    HugeBody {
        #[serde(default = "default_bytes")]
        bytes: u64,
    },
    /// Applied; 200 with arrays nested so deep.
    DeepBody {
        #[serde(default = "default_depth")]
        depth: u32,
    },
    /// Applied; the right answer with a byte in a string that is not UTF-8.
    InvalidUtf8Body {},
    /// Applied; the right answer with its first member a second time.
    DuplicateKeyBody {},
    /// Applied; the right answer with an unpaired surrogate in a string.
    SurrogateBody {},
    /// The service forgets that it has seen the key: a second effect. The control that shows that a check of
    /// "at most one effect" can fail.
    IgnoreKey {},
    /// The service takes other bytes under a key that was used: a second effect. A control like the one above.
    IgnoreReuse {},
    /// The service does not compare the version: an effect on what nobody has read. A control.
    IgnoreVersion {},
    /// The service does not look at the tenant: the object of somebody else is shown and changed. A control.
    IgnoreTenant {},
    /// Applied twice, answered once. A control.
    ApplyTwice {},
}

/// Long enough for a second request to overtake, short enough for a test.
fn default_ms() -> u64 {
    200
}
fn default_retry_after() -> u64 {
    1
}
fn default_5xx() -> u16 {
    500
}
fn default_reject() -> u16 {
    422
}
fn default_reject_body() -> serde_json::Value {
    serde_json::json!({"code": "REJECTED"})
}
fn default_location() -> String {
    "/elsewhere".to_owned()
}
/// More than any client should be ready to read.
fn default_bytes() -> u64 {
    64 * 1024 * 1024
}
/// More than a recursive reader survives.
fn default_depth() -> u32 {
    100_000
}
/// No body deeper than this: it is made in memory.
const MAX_DEPTH: u32 = 8 * 1024 * 1024;

impl Fault {
    /// Its name as in requests and in the ledger.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::DropBeforeApply { .. } => "drop_before_apply",
            Self::ApplyThenDrop {} => "apply_then_drop",
            Self::ApplyThenReset {} => "apply_then_reset",
            Self::ApplyThenMalformed {} => "apply_then_malformed",
            Self::ApplyThenWrongShape {} => "apply_then_wrong_shape",
            Self::ApplyThenPartialBody {} => "apply_then_partial_body",
            Self::ApplyThen5xx { .. } => "apply_then_5xx",
            Self::Delay { .. } => "delay",
            Self::ApplyThenDelay { .. } => "apply_then_delay",
            Self::RateLimited { .. } => "rate_limited",
            Self::UnavailableBefore {} => "unavailable_before",
            Self::UnavailableAfter {} => "unavailable_after",
            Self::Reject { .. } => "reject",
            Self::StatusDown { .. } => "status_down",
            Self::StatusSlow { .. } => "status_slow",
            Self::StatusWrong {} => "status_wrong",
            Self::StatusLag { .. } => "status_lag",
            Self::StatusInProgress {} => "status_in_progress",
            Self::DuplicateDelivery {} => "duplicate_delivery",
            Self::LateArrival { .. } => "late_arrival",
            Self::VersionBump {} => "version_bump",
            Self::Redirect { .. } => "redirect",
            Self::ExpiredToken {} => "expired_token",
            Self::OtherTenant {} => "other_tenant",
            Self::Hang {} => "hang",
            Self::HugeBody { .. } => "huge_body",
            Self::DeepBody { .. } => "deep_body",
            Self::InvalidUtf8Body {} => "invalid_utf8_body",
            Self::DuplicateKeyBody {} => "duplicate_key_body",
            Self::SurrogateBody {} => "surrogate_body",
            Self::IgnoreKey {} => "ignore_key",
            Self::IgnoreReuse {} => "ignore_reuse",
            Self::IgnoreVersion {} => "ignore_version",
            Self::IgnoreTenant {} => "ignore_tenant",
            Self::ApplyTwice {} => "apply_twice",
        }
    }

    /// The only kind of request it can be about, where there is only one. The others are about writes,
    /// unless a match names a method or a path.
    pub(super) fn only(&self) -> Option<Kind> {
        match self {
            Self::StatusDown { .. }
            | Self::StatusSlow { .. }
            | Self::StatusWrong {}
            | Self::StatusLag { .. }
            | Self::StatusInProgress {} => Some(Kind::Status),
            Self::DuplicateDelivery {}
            | Self::LateArrival { .. }
            | Self::VersionBump {}
            | Self::IgnoreKey {}
            | Self::IgnoreReuse {}
            | Self::IgnoreVersion {}
            | Self::ApplyTwice {} => Some(Kind::Write),
            _ => None,
        }
    }

    /// Whether it interferes with a request about an outcome that is so old (none: there is no outcome).
    pub(super) fn concerns_age(&self, age_ms: Option<u64>) -> bool {
        match self {
            Self::StatusLag { ms } => age_ms.is_some_and(|age| age < *ms),
            _ => true,
        }
    }

    /// Parameters that no answer can carry.
    pub(super) fn check(&self) -> Result<(), String> {
        let status = match self {
            Self::ApplyThen5xx { status } if !(500..=599).contains(status) => *status,
            Self::Reject { status, .. } | Self::LateArrival { status: Some(status), .. }
                if !(200..=599).contains(status) =>
            {
                *status
            }
            Self::DeepBody { depth } if *depth == 0 || *depth > MAX_DEPTH => {
                return Err(format!("depth must be 1 to {MAX_DEPTH}"));
            }
            _ => return Ok(()),
        };
        Err(format!("status {status} is not one that this fault can answer"))
    }
}

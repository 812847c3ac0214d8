//! The codes that an error table may name. The dictionary itself belongs to the domain; this is the one place of this
//! module that knows its words.

/// Codes that a downstream answer can be mapped to.
pub(super) const DOWNSTREAM: &[&str] = &[
    "INVALID_ARGUMENT",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "PRECONDITION_FAILED",
    "VERSION_CONFLICT",
    "CONFLICT",
    "IDEMPOTENCY_CONFLICT",
    "IDEMPOTENCY_EXPIRED",
    "RATE_LIMITED",
    "BUDGET_EXHAUSTED",
    "DEADLINE_EXCEEDED",
    "UNAVAILABLE",
    "PARTIAL_EFFECT",
    "PAYLOAD_TOO_LARGE",
    "CANCELLED",
    "UNSUPPORTED_TOOL",
];

/// Whether a call that ended with this code and without effect may be sent again.
pub(super) fn is_retryable(code: &str) -> bool {
    matches!(code, "RATE_LIMITED" | "UNAVAILABLE")
}

//! The list of all codes, each with its entry and its page. A code is added here, in the file of its group, and with
//! a page in `docs/errors`; one without the others does not compile.

use super::{Category, Effect, Entry, Owner};

mod access;
mod capacity;
mod conflict;
mod governance;
mod outcome;
mod storage;
mod validation;

/// The release that the first codes came with.
const V0_1: &str = "0.1.0";

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $entry:path,)+) => {
        /// A code of the closed dictionary. Programs act on it, never on the words beside it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $($(#[$doc])* $variant,)+
        }

        impl Code {
            /// All codes, in the order of the dictionary.
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];

            /// As written in the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)+
                }
            }

            /// The page for people, in Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Code::$variant => include_str!(concat!(
                        env!("CARGO_MANIFEST_DIR"), "/docs/errors/", $name, ".md"
                    )),)+
                }
            }

            pub(super) const fn entry(self) -> &'static Entry {
                match self {
                    $(Code::$variant => &$entry,)+
                }
            }
        }
    };
}

codes! {
    /// Who is asking is not known.
    Unauthenticated = "UNAUTHENTICATED" => access::UNAUTHENTICATED,
    /// A capability is missing.
    PermissionDenied = "PERMISSION_DENIED" => access::PERMISSION_DENIED,
    /// There is nothing here that you may see.
    NotFound = "NOT_FOUND" => access::NOT_FOUND,
    /// This principal may not decide this proposal.
    ApproverNotAuthorized = "APPROVER_NOT_AUTHORIZED" => access::APPROVER_NOT_AUTHORIZED,
    /// The request does not follow its schema.
    InvalidArgument = "INVALID_ARGUMENT" => validation::INVALID_ARGUMENT,
    /// The tool cannot be used in this way.
    UnsupportedTool = "UNSUPPORTED_TOOL" => validation::UNSUPPORTED_TOOL,
    /// The tool still answers, but has a successor.
    ToolDeprecated = "TOOL_DEPRECATED" => validation::TOOL_DEPRECATED,
    /// The tool is retired.
    ToolRetired = "TOOL_RETIRED" => validation::TOOL_RETIRED,
    /// The request is too large.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE" => validation::PAYLOAD_TOO_LARGE,
    /// The configuration has errors.
    ConfigurationInvalid = "CONFIGURATION_INVALID" => validation::CONFIGURATION_INVALID,
    /// A condition of the contract does not hold.
    PreconditionFailed = "PRECONDITION_FAILED" => conflict::PRECONDITION_FAILED,
    /// The target has changed since it was read.
    VersionConflict = "VERSION_CONFLICT" => conflict::VERSION_CONFLICT,
    /// The service reports a conflict.
    Conflict = "CONFLICT" => conflict::CONFLICT,
    /// The key was used for another request.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT" => conflict::IDEMPOTENCY_CONFLICT,
    /// The key is too old to be answered.
    IdempotencyExpired = "IDEMPOTENCY_EXPIRED" => conflict::IDEMPOTENCY_EXPIRED,
    /// The state does not allow this.
    InvalidTransition = "INVALID_TRANSITION" => conflict::INVALID_TRANSITION,
    /// It was cancelled.
    Cancelled = "CANCELLED" => conflict::CANCELLED,
    /// Another daemon holds the state directory.
    AlreadyRunning = "ALREADY_RUNNING" => conflict::ALREADY_RUNNING,
    /// The decision names another proposal.
    ProposalChanged = "PROPOSAL_CHANGED" => governance::PROPOSAL_CHANGED,
    /// Nobody decided in time.
    ProposalExpired = "PROPOSAL_EXPIRED" => governance::PROPOSAL_EXPIRED,
    /// An approval is missing.
    ApprovalRequired = "APPROVAL_REQUIRED" => governance::APPROVAL_REQUIRED,
    /// The approval was not used in time.
    ApprovalExpired = "APPROVAL_EXPIRED" => governance::APPROVAL_EXPIRED,
    /// The approval was taken back.
    ApprovalRevoked = "APPROVAL_REVOKED" => governance::APPROVAL_REVOKED,
    /// The write was denied.
    Denied = "DENIED" => governance::DENIED,
    /// The policy has become stricter.
    PolicyChanged = "POLICY_CHANGED" => governance::POLICY_CHANGED,
    /// The tool, adapter or tenant is paused.
    Paused = "PAUSED" => capacity::PAUSED,
    /// Another write holds the target.
    TargetBusy = "TARGET_BUSY" => capacity::TARGET_BUSY,
    /// Too many requests.
    RateLimited = "RATE_LIMITED" => capacity::RATE_LIMITED,
    /// A budget is used up.
    BudgetExhausted = "BUDGET_EXHAUSTED" => capacity::BUDGET_EXHAUSTED,
    /// The deadline passed before it could be done.
    DeadlineExceeded = "DEADLINE_EXCEEDED" => capacity::DEADLINE_EXCEEDED,
    /// Something that is needed does not answer.
    Unavailable = "UNAVAILABLE" => outcome::UNAVAILABLE,
    /// The write may have happened.
    OutcomeUnknown = "OUTCOME_UNKNOWN" => outcome::OUTCOME_UNKNOWN,
    /// Only a part of the write happened.
    PartialEffect = "PARTIAL_EFFECT" => outcome::PARTIAL_EFFECT,
    /// The answer of a read breaks its contract.
    OutputInvalid = "OUTPUT_INVALID" => outcome::OUTPUT_INVALID,
    /// The disk of the daemon is full.
    StorageFull = "STORAGE_FULL" => storage::STORAGE_FULL,
    /// A stored record cannot be read.
    StoreDamaged = "STORE_DAMAGED" => storage::STORE_DAMAGED,
    /// The daemon made a mistake.
    Internal = "INTERNAL" => storage::INTERNAL,
}

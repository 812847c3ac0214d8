//! What the request meets: another version, another use of a key, another state.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const PRECONDITION_FAILED: Entry = Entry {
    title: "A condition of the contract does not hold",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 412,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const VERSION_CONFLICT: Entry = Entry {
    title: "The target has changed since it was read",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const CONFLICT: Entry = Entry {
    title: "The service reports a conflict",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const IDEMPOTENCY_CONFLICT: Entry = Entry {
    title: "The key was used for another request",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const IDEMPOTENCY_EXPIRED: Entry = Entry {
    title: "The key is too old to be answered",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const INVALID_TRANSITION: Entry = Entry {
    title: "The state does not allow this",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const CANCELLED: Entry = Entry {
    title: "It was cancelled",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const ALREADY_RUNNING: Entry = Entry {
    title: "Another daemon holds the state directory",
    category: Category::Conflict,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Operator,
    since: V0_1,
};

//! Whether it may run now: pauses, locks, limits, budgets, deadlines.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const PAUSED: Entry = Entry {
    title: "The tool, adapter or tenant is paused",
    category: Category::Capacity,
    default_effect: Effect::None,
    retryable: true,
    http_status: 503,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const TARGET_BUSY: Entry = Entry {
    title: "Another write holds the target",
    category: Category::Capacity,
    default_effect: Effect::None,
    retryable: true,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const RATE_LIMITED: Entry = Entry {
    title: "Too many requests",
    category: Category::Capacity,
    default_effect: Effect::None,
    retryable: true,
    http_status: 429,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const BUDGET_EXHAUSTED: Entry = Entry {
    title: "A budget is used up",
    category: Category::Capacity,
    default_effect: Effect::None,
    retryable: false,
    http_status: 429,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const DEADLINE_EXCEEDED: Entry = Entry {
    title: "The deadline passed before it could be done",
    category: Category::Capacity,
    default_effect: Effect::None,
    retryable: false,
    http_status: 504,
    owner: Owner::Caller,
    since: V0_1,
};

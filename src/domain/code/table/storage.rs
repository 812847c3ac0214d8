//! The daemon itself: its disk, its records, its mistakes.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const STORAGE_FULL: Entry = Entry {
    title: "The disk of the daemon is full",
    category: Category::Storage,
    default_effect: Effect::None,
    retryable: true,
    http_status: 507,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const STORE_DAMAGED: Entry = Entry {
    title: "A stored record cannot be read",
    category: Category::Storage,
    default_effect: Effect::Unknown,
    retryable: false,
    http_status: 500,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const INTERNAL: Entry = Entry {
    title: "The daemon made a mistake",
    category: Category::Internal,
    default_effect: Effect::Unknown,
    retryable: false,
    http_status: 500,
    owner: Owner::Operator,
    since: V0_1,
};

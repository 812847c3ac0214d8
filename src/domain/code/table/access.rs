//! Who may do it: answered before anything else is looked at, and revealing nothing.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const UNAUTHENTICATED: Entry = Entry {
    title: "Who is asking is not known",
    category: Category::Authentication,
    default_effect: Effect::None,
    retryable: false,
    http_status: 401,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const PERMISSION_DENIED: Entry = Entry {
    title: "A capability is missing",
    category: Category::Permission,
    default_effect: Effect::None,
    retryable: false,
    http_status: 403,
    owner: Owner::Admin,
    since: V0_1,
};

pub(super) const NOT_FOUND: Entry = Entry {
    title: "There is nothing here that you may see",
    category: Category::Permission,
    default_effect: Effect::None,
    retryable: false,
    http_status: 404,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const APPROVER_NOT_AUTHORIZED: Entry = Entry {
    title: "This principal may not decide this proposal",
    category: Category::Permission,
    default_effect: Effect::None,
    retryable: false,
    http_status: 403,
    owner: Owner::Approver,
    since: V0_1,
};

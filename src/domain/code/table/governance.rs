//! Who says yes: proposals, decisions, policy.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const PROPOSAL_CHANGED: Entry = Entry {
    title: "The decision names another proposal",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Approver,
    since: V0_1,
};

pub(super) const PROPOSAL_EXPIRED: Entry = Entry {
    title: "Nobody decided in time",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const APPROVAL_REQUIRED: Entry = Entry {
    title: "An approval is missing",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Approver,
    since: V0_1,
};

pub(super) const APPROVAL_EXPIRED: Entry = Entry {
    title: "The approval was not used in time",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const APPROVAL_REVOKED: Entry = Entry {
    title: "The approval was taken back",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Approver,
    since: V0_1,
};

pub(super) const DENIED: Entry = Entry {
    title: "The write was denied",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 403,
    owner: Owner::Approver,
    since: V0_1,
};

pub(super) const POLICY_CHANGED: Entry = Entry {
    title: "The policy has become stricter",
    category: Category::Governance,
    default_effect: Effect::None,
    retryable: false,
    http_status: 409,
    owner: Owner::Approver,
    since: V0_1,
};

//! What came back: the service and its answer.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const UNAVAILABLE: Entry = Entry {
    title: "Something that is needed does not answer",
    category: Category::Downstream,
    default_effect: Effect::None,
    retryable: true,
    http_status: 503,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const OUTCOME_UNKNOWN: Entry = Entry {
    title: "The write may have happened",
    category: Category::Unknown,
    default_effect: Effect::Unknown,
    retryable: false,
    http_status: 504,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const PARTIAL_EFFECT: Entry = Entry {
    title: "Only a part of the write happened",
    category: Category::Downstream,
    default_effect: Effect::Partial,
    retryable: false,
    http_status: 502,
    owner: Owner::Operator,
    since: V0_1,
};

pub(super) const OUTPUT_INVALID: Entry = Entry {
    title: "The answer of a read breaks its contract",
    category: Category::Downstream,
    default_effect: Effect::None,
    retryable: false,
    http_status: 502,
    owner: Owner::ContractOwner,
    since: V0_1,
};

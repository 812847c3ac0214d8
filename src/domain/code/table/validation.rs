//! What was asked: answered from the request, the contract and the configuration alone.

use super::{Category, Effect, Entry, Owner, V0_1};

pub(super) const INVALID_ARGUMENT: Entry = Entry {
    title: "The request does not follow its schema",
    category: Category::Validation,
    default_effect: Effect::None,
    retryable: false,
    http_status: 400,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const UNSUPPORTED_TOOL: Entry = Entry {
    title: "The tool cannot be used in this way",
    category: Category::Validation,
    default_effect: Effect::None,
    retryable: false,
    http_status: 422,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const TOOL_DEPRECATED: Entry = Entry {
    title: "The tool still answers, but has a successor",
    category: Category::Warning,
    default_effect: Effect::None,
    retryable: false,
    http_status: 200,
    owner: Owner::ContractOwner,
    since: V0_1,
};

pub(super) const TOOL_RETIRED: Entry = Entry {
    title: "The tool is retired",
    category: Category::Validation,
    default_effect: Effect::None,
    retryable: false,
    http_status: 410,
    owner: Owner::ContractOwner,
    since: V0_1,
};

pub(super) const PAYLOAD_TOO_LARGE: Entry = Entry {
    title: "The request is too large",
    category: Category::Validation,
    default_effect: Effect::None,
    retryable: false,
    http_status: 413,
    owner: Owner::Caller,
    since: V0_1,
};

pub(super) const CONFIGURATION_INVALID: Entry = Entry {
    title: "The configuration has errors",
    category: Category::Validation,
    default_effect: Effect::None,
    retryable: false,
    http_status: 422,
    owner: Owner::Operator,
    since: V0_1,
};

//! Helpers for the integration tests. They start real processes and end exactly those.

pub(crate) mod http;
pub(crate) mod sandbox;

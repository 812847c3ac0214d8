//! Helpers for the integration tests. They start real processes and end exactly those.

pub(crate) mod daemon;
pub(crate) mod http;
pub(crate) mod sandbox;
mod secrets;
pub(crate) mod socket;

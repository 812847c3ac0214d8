//! Error codes.
pub enum Code {}

//! Problem details.

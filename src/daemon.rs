//! The composition root: the one place that names the store's engine, the adapters, the contracts and the API together.
//!
//! `serve` reads the configuration and the contracts, takes the lock of the state directory, shows itself on the socket,
//! opens the store, recovers, and runs until it is told to stop.

mod compose;
mod current;
mod directory;
mod invoker;
pub mod readiness;
mod serve;
mod state_dir;
mod tools;

pub use crate::api::network::NetworkError;
pub use compose::{Composed, compose, compose_kit};
pub use serve::{ServeError, ServeOptions, serve};

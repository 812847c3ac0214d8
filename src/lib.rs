//! `writd`: a durable workflow orchestrator daemon for writes.
//!
//! This page is the map. Arrows point at what a module may name; a test reads the `use` lines and refuses the others.
//!
//! ```text
//! main → cli → daemon → { api, reconcile, adapters, contracts, store engines, observe, config }
//! api, reconcile → engine → { store trait, ports } → domain
//! ```
//!
//! - [`domain`] decides: pure functions over values. No clock, randomness, files, network, log.
//! - [`ports`] are the traits through which the engine sees the outside.
//! - [`store`] keeps records: a thin, fallible, versioned trait, its engines and one conformance suite.
//! - [`engine`] does: load → decide → append → perform → append, in one writer.
//! - [`contracts`] turn YAML into verified contracts; only verified ones reach the engine.
//! - [`adapters`] perform one effect and say what happened to the world.
//! - [`reconcile`] settles unknown outcomes in the background.
//! - [`policy`] says which write may be proposed and who has to approve it.
//! - [`kit`] asks contracts and services, for their owners, what the daemon relies on.
//! - [`api`] is the socket, [`cli`] the commands, [`config`] `daemon.toml`, [`observe`] logs.
//! - [`daemon`] composes; it is the one place that names them all.

pub mod adapters;
pub mod api;
pub mod cli;
pub mod config;
pub mod contracts;
pub mod daemon;
pub mod domain;
pub mod engine;
pub mod kit;
pub mod observe;
pub mod policy;
pub mod ports;
pub mod reconcile;
pub mod store;

//! The integration tests, as one binary, so that it is linked once. Many drive real processes over real sockets.

mod cases;
mod cli;
mod contracts;
mod crash_loop;
mod daemon;
mod demo;
mod facilities;
mod identity;
mod json;
mod kit;
mod points;
mod policy;
mod power_cut;
mod production;
mod quotes;
mod readme;
mod sandbox;
mod support;
mod trace;

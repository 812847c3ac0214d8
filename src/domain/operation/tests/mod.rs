//! Tests of the state machine: golden tables, invariants, properties, clocks, digests.

mod approvals;
mod clocks;
mod digests;
mod golden;
mod invariants;
mod model;
mod preconditions;
mod properties;

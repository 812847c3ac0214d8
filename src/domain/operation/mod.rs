//! The operation: one write as a persisted state machine.

pub mod effect;

pub use effect::Effect;

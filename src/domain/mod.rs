//! The pure core. What it owns: the words of the product and every rule about them. Who may call it: everybody.
//! What it never does: read a clock, draw a random number, touch a file, a socket, a log or the store. Facts come in
//! as arguments, decisions go out as values.

// A new state, event or command must not compile until every pair is decided.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod budget;
pub mod code;
pub mod digest;
pub mod ids;
pub mod journal;
pub mod json;
pub mod operation;
pub mod origin;
pub mod pattern;
pub mod pause;
pub mod principal;
pub mod problem;
pub mod request;
pub mod run;
pub mod time;
pub mod token;
pub mod trace;

pub use code::Code;
pub use digest::{Digest, Hasher};
pub use time::{Millis, Time};

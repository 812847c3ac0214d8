//! Adapters perform one effect and say what happened to the world. Who may call them: the composition root hands them
//! to the engine behind its port. What they never do: decide, retry a write, or take an address from data.

pub mod http;

//! The offline tools against real stores.

mod made;
mod tampered;
mod verify;

//! The offline tools against real stores.

mod backup;
mod made;
mod mistakes;
mod recover;
mod restarts;
mod tampered;
mod verify;

//! The API: HTTP/1.1 and JSON over the local socket.

pub mod wire;

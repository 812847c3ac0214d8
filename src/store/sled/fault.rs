//! What sled answers when it does not answer: errors, and panics where it meets damaged files.

use std::any::Any;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call into sled failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// It returned an error.
    Error(::sled::Error),
    /// It panicked; the text of the panic.
    Panic(String),
}

impl From<::sled::Error> for Fault {
    fn from(error: ::sled::Error) -> Fault {
        Fault::Error(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        Fault::Error(::sled::Error::Io(error))
    }
}

impl Fault {
    /// Whether the disk (or a quota) is full.
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Fault::Error(::sled::Error::Io(io)) if is_full(io))
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        match self {
            Fault::Error(error) => error.to_string(),
            Fault::Panic(text) => format!("the engine panicked: {text}"),
        }
    }
}

/// Whether an I/O error says that there is no space. sled hands its background errors on as copies that keep only the
/// kind and the text.
pub(super) fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Runs a call into sled. sled asserts on what it finds in its files, so damaged media panic; a panic must not take
/// down the daemon, and what it leaves in sled's memory must not be used: the caller ends the handle.
pub(super) fn caught<T>(call: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(answer) => answer,
        Err(panic) => Err(Fault::Panic(panic_text(panic.as_ref()))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

//! The customers service: what `sandbox` leaves open, which is customers, their addresses and their mail.
//!
//! Called by the example's `main` and by the `demo` command.

mod customer;
mod render;
mod routes;
#[path = "../../sandbox/mod.rs"]
mod sandbox;
mod state;

pub(crate) use self::sandbox::Options;

/// Runs the service until SIGTERM. Prints `listening on http://ADDRESS` once it does.
///
/// # Errors
/// The ledger cannot be opened, is in use by another process or holds a line that is no record; the address
/// cannot be bound; the port file cannot be written.
pub(crate) async fn serve(options: Options) -> std::io::Result<()> {
    sandbox::serve::<state::Customers>(options).await
}

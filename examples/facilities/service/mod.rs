//! The facilities service: what `sandbox` leaves open, which is hotels, their assets, fault reports, work orders and
//! the contractors who are told of them.

mod decide;
mod directory;
mod orders;
mod procedures;
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
    sandbox::serve::<state::Facilities>(options).await
}

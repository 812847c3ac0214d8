//! What the daemon says about itself, and what waits in it.

use super::Check;
use crate::api::wire::{Health, HealthState, InboxView, OperationView, Page};
use crate::cli::client::{Ask, Client};

/// Asks it, and stops at the first thing that has no answer.
pub(super) async fn check(client: &Client, checks: &mut Vec<Check>) {
    let health: Health = match client.ask(Ask::get("/healthz")).await {
        Ok(health) => health,
        Err(error) => {
            let help = error.help().into_iter().next().unwrap_or_default();
            checks.push(Check::bad("daemon", error.to_string(), help));
            return;
        }
    };
    let found = format!("version {}, process {}", health.version, health.pid);
    match health.state {
        HealthState::Ready => checks.push(Check::good("daemon", format!("ready, {found}"))),
        HealthState::Starting => {
            let phase = health.progress.map(|progress| progress.phase).unwrap_or_default();
            checks.push(Check::warning("daemon", format!("starting ({phase}), {found}"), "wait for it"));
            return;
        }
        HealthState::Stopping => {
            checks.push(Check::warning("daemon", format!("stopping, {found}"), "it takes no new work"));
            return;
        }
    }
    if health.version != env!("CARGO_PKG_VERSION") {
        let found =
            format!("this command has version {}, the daemon {}", env!("CARGO_PKG_VERSION"), health.version);
        checks.push(Check::warning("daemon", found, "use the same version for both"));
    }
    quarantine(client, checks).await;
    inbox(client, checks).await;
}

async fn quarantine(client: &Client, checks: &mut Vec<Check>) {
    match client.ask::<Page<OperationView>>(Ask::get("/v1/operations?limit=1")).await {
        Ok(page) if page.unreadable > 0 => checks.push(Check::bad(
            "quarantine",
            format!("{} records cannot be read; their targets stay busy", page.unreadable),
            "stop the daemon, then: writd verify",
        )),
        Ok(_) => checks.push(Check::good("quarantine", "every record can be read")),
        Err(error) => {
            checks.push(Check::bad("quarantine", error.to_string(), "choose a name with --as NAME"))
        }
    }
}

async fn inbox(client: &Client, checks: &mut Vec<Check>) {
    let Ok(inbox) = client.ask::<InboxView>(Ask::get("/v1/inbox")).await else { return };
    let paused = inbox.unknown.iter().filter(|item| item.paused).count();
    if paused > 0 {
        checks.push(Check::warning(
            "unknown outcomes",
            format!("{paused} of {} need an operator", inbox.unknown_total),
            "writd inbox",
        ));
    } else {
        checks.push(Check::good(
            "unknown outcomes",
            format!("{}, none needs an operator", inbox.unknown_total),
        ));
    }
}

//! Whether the credentials that bases refer to can be had. What they are is not looked at.

use std::os::unix::fs::PermissionsExt as _;

use super::Check;
use crate::config::{Config, SecretRef};

/// Every reference of every base.
pub(super) fn check(config: &Config, checks: &mut Vec<Check>) {
    for base in &config.bases {
        let references = [("credential", &base.credential), ("read_credential", &base.read_credential)];
        for (key, reference) in references {
            match reference {
                Some(reference) => one(&base.name, key, reference, checks),
                None if key == "credential" && !base.origin.is_loopback() => checks.push(Check::warning(
                    "secrets",
                    format!("base {}: no credential for {}", base.name, base.origin),
                    "if the service wants one: credential = \"env:NAME\" or \"file:PATH\"",
                )),
                None => {}
            }
        }
    }
    if !checks.iter().any(|check| check.name == "secrets") {
        checks.push(Check::good("secrets", "no base refers to one"));
    }
}

fn one(base: &str, key: &str, reference: &SecretRef, checks: &mut Vec<Check>) {
    match reference {
        SecretRef::Env(name) => checks.push(match std::env::var_os(name) {
            Some(value) if !value.is_empty() => {
                Check::good("secrets", format!("base {base}: {key} is in the environment as {name}"))
            }
            _ => Check::warning(
                "secrets",
                format!("base {base}: {key} is not in this environment as {name}"),
                "the daemon's own environment counts; set it there",
            ),
        }),
        SecretRef::File(path) => checks.push(match std::fs::metadata(path) {
            Ok(found) if found.len() == 0 => Check::bad(
                "secrets",
                format!("base {base}: {key}: {} is empty", path.display()),
                "write the secret into it",
            ),
            Ok(found) if found.permissions().mode() & 0o077 != 0 => Check::warning(
                "secrets",
                format!("base {base}: {key}: {} can be read by others", path.display()),
                format!("chmod 600 {}", path.display()),
            ),
            Ok(_) => Check::good("secrets", format!("base {base}: {key} is in {}", path.display())),
            Err(error) => Check::bad(
                "secrets",
                format!("base {base}: {key}: {}: {error}", path.display()),
                "the file must be there and readable for the daemon",
            ),
        }),
    }
}

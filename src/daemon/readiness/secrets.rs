//! Bases: can their credentials be had, by nobody else, and who sees what is sent. What a secret is, is not looked at.

use std::os::unix::fs::PermissionsExt as _;

use super::{Gap, Report};
use crate::config::{Config, SecretRef};
use crate::domain::origin::Scheme;

pub(super) fn check(config: &Config, report: &mut Report) {
    for base in &config.bases {
        let remote = !base.origin.is_loopback();
        let place = format!("base {}", base.name);
        if remote && base.origin.scheme == Scheme::Http {
            let meaning = "plain http to another machine: the network sees everything, credentials too";
            report.add(Gap::PlainHttp, &place, meaning, "use https, and remove plain_http");
        }
        for (key, reference) in [("credential", &base.credential), ("read_credential", &base.read_credential)]
        {
            match reference {
                Some(reference) => one(&base.name, key, reference, report),
                None if key == "credential" && remote => report.add(
                    Gap::NoCredential,
                    &place,
                    format!("no credential for {}", base.origin),
                    "if the service wants one: credential = \"env:NAME\" or \"file:PATH\"",
                ),
                None => {}
            }
        }
    }
}

fn one(base: &str, key: &str, reference: &SecretRef, report: &mut Report) {
    let place = format!("base {base}: {key}");
    match reference {
        SecretRef::Env(name) => match std::env::var_os(name) {
            Some(value) if !value.is_empty() => {}
            Some(_) | None => report.add(
                Gap::SecretNotSet,
                place,
                format!("it is not in this environment as {name}"),
                "the daemon's own environment counts; set it there",
            ),
        },
        SecretRef::File(path) => match std::fs::metadata(path) {
            Ok(found) if found.len() == 0 => report.add(
                Gap::SecretEmpty,
                place,
                format!("{} is empty", path.display()),
                "write the secret into it",
            ),
            Ok(found) if found.permissions().mode() & 0o077 != 0 => report.add(
                Gap::SecretOpen,
                place,
                format!("{} can be read by others", path.display()),
                format!("chmod 600 {}", path.display()),
            ),
            Ok(_) => {}
            Err(error) => report.add(
                Gap::SecretUnreadable,
                place,
                format!("{}: {error}", path.display()),
                "the file must be there and readable for the daemon",
            ),
        },
    }
}

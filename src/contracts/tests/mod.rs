//! Tests over whole contracts: the shipped ones, every finding code, what is rendered and how answers are judged.

mod answers;
mod findings;
mod hidden;
mod lock;
mod public;
mod published;
mod quotes;
mod shipped;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Catalog, Contract, Finding};

pub(super) fn shipped_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows")
}

pub(super) fn report(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

pub(super) fn shipped() -> Catalog {
    Catalog::load(&shipped_dir()).unwrap_or_else(|findings| panic!("{}", report(&findings)))
}

pub(super) fn tool(name: &str) -> Arc<Contract> {
    shipped().get(&name.parse().unwrap()).unwrap()
}

//! Whether a daemon is fit for production: everything that is missing or weak, one line each with its code, its place, what
//! it means and what to do. `doctor` shows it; `serve --production` refuses to start while something in it blocks. It
//! only looks: nothing is asked, written or mended, and no secret is read.

mod contracts;
mod files;
mod gap;
mod people;
mod rules;
mod secrets;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{Config, DEFAULT_FILE};
use crate::contracts::Catalog;

pub use gap::Gap;

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The file that it was read from, where one is known.
    pub file: Option<&'a Path>,
    /// The contracts.
    pub catalog: &'a Catalog,
    /// The account that runs the daemon.
    pub own_uid: u32,
    /// The day, `2027-06-30`.
    pub today: &'a str,
}

/// One thing that is missing or weak.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Its code.
    pub code: Gap,
    /// Whether it keeps a daemon from production.
    pub blocks: bool,
    /// A key of the configuration, a contract, a file.
    pub place: String,
    /// What it means.
    pub meaning: String,
    /// What to do.
    pub remedy: String,
}

/// Everything that was found, what blocks first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Report {
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing blocks.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.blocking() == 0
    }

    /// How many findings block.
    #[must_use]
    pub fn blocking(&self) -> usize {
        self.findings.iter().filter(|finding| finding.blocks).count()
    }

    /// Whether there is a finding of one of these kinds.
    #[must_use]
    pub fn has(&self, gaps: &[Gap]) -> bool {
        self.findings.iter().any(|finding| gaps.contains(&finding.code))
    }

    fn add(
        &mut self,
        code: Gap,
        place: impl Into<String>,
        meaning: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (place, meaning, remedy) = (place.into(), meaning.into(), remedy.into());
        self.findings.push(Finding { code, blocks: code.blocks(), place, meaning, remedy });
    }
}

/// The configuration file that is read if this one is named, or none.
#[must_use]
pub fn file_of(named: Option<PathBuf>) -> PathBuf {
    let variable = || std::env::var_os("WRITD_CONFIG").map(PathBuf::from);
    named.or_else(variable).unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))
}

/// Looks at everything.
#[must_use]
pub fn report(look: Look<'_>) -> Report {
    let mut report = Report::default();
    people::check(look, &mut report);
    rules::check(look, &mut report);
    contracts::check(look, &mut report);
    secrets::check(look.config, &mut report);
    files::check(look, &mut report);
    report.findings.sort_by_key(|finding| !finding.blocks);
    report
}

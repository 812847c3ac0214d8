//! The private directory of a demonstration: configuration, contracts, state, ledger. Removed at the end.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;

/// The shipped configuration; the demonstration changes what stands in [`configuration`] and nothing else.
const DAEMON_TOML: &str = include_str!("../../../../../daemon.toml");
/// The shipped contracts.
const CONTRACTS: [(&str, &str); 3] = [
    (
        "commit_address_change.tool.yaml",
        include_str!("../../../../../workflows/customers/commit_address_change.tool.yaml"),
    ),
    ("get_customer.tool.yaml", include_str!("../../../../../workflows/customers/get_customer.tool.yaml")),
    (
        "send_confirmation.tool.yaml",
        include_str!("../../../../../workflows/customers/send_confirmation.tool.yaml"),
    ),
];
/// Contracts made from the shipped address change, for scenes that need other rules: file, its name as a tool, and the
/// one rule that differs.
const VARIANTS: [(&str, &str, (&str, &str)); 2] = [
    ("checked.tool.yaml", "change_address_after_a_look", ("check: if_match", "check: read")),
    ("hurried.tool.yaml", "change_address_at_once", ("decide_within: 30m", "decide_within: 1s")),
];
/// Nobody watches a demonstration for the minutes that real services need to settle.
const SHORT_CLOCKS: [(&str, &str); 2] =
    [("settle: 2s", "settle: 300ms"), ("confirm_interval: 1s", "confirm_interval: 200ms")];

/// The directory. Dropping it removes it, unless it is to be kept.
pub(super) struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// A new one that only this account can look into.
    pub(super) fn make(keep: bool) -> Result<Folder, Failure> {
        let path = std::env::temp_dir().join(format!("writd-demo-{}", uuid::Uuid::new_v4().simple()));
        at(&path, DirBuilder::new().mode(0o700).create(&path))?;
        let folder = Folder { path, keep };
        let contracts = folder.contracts();
        at(&contracts, fs::create_dir(&contracts))?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn config(&self) -> PathBuf {
        self.path.join("daemon.toml")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.path.join("state").join("writd.sock")
    }

    pub(super) fn ledger(&self) -> PathBuf {
        self.path.join("ledger.ndjson")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("daemon.log")
    }

    fn contracts(&self) -> PathBuf {
        self.path.join("workflows")
    }

    /// Writes configuration and contracts for a daemon that writes to this address.
    pub(super) fn furnish(&self, origin: &str) -> Result<(), Failure> {
        let write = |path: PathBuf, text: &str| at(&path, fs::write(&path, text));
        write(self.config(), &configuration(origin)?)?;
        for (name, text) in CONTRACTS {
            write(self.contracts().join(name), &replaced(text, &SHORT_CLOCKS, name == CONTRACTS[1].0)?)?;
        }
        for (file, tool, rule) in VARIANTS {
            let named = ("tool: commit_address_change\n", format!("tool: {tool}\n"));
            let text = replaced(CONTRACTS[0].1, &[(named.0, &named.1), rule], false)?;
            write(self.contracts().join(file), &replaced(&text, &SHORT_CLOCKS, false)?)?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // Whatever cannot be removed is in the directory for temporary files and harms nobody.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::File { path: path.to_owned(), error })
}

/// A rule that does not stand in the contract would make a scene that shows something else: then there is no scene.
fn replaced(text: &str, rules: &[(&str, &str)], reads: bool) -> Result<String, Failure> {
    let mut text = text.to_owned();
    for (from, to) in rules {
        if !reads && !text.contains(from) {
            return Err(Failure::internal(format!("`{}` does not stand in a shipped contract", from.trim())));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}

/// The shipped configuration with another address and shorter clocks.
fn configuration(origin: &str) -> Result<String, Failure> {
    let not_ours = |why: String| Failure::internal(format!("the shipped daemon.toml: {why}"));
    let mut table: toml::Table =
        DAEMON_TOML.parse().map_err(|error: toml::de::Error| not_ours(error.to_string()))?;
    let changes = [
        ("reconcile", "interval", "200ms"),
        ("reconcile", "max_interval", "500ms"),
        ("reconcile", "slow_interval", "500ms"),
        ("reconcile", "escalate_after", "1s"),
        ("daemon", "grace", "1s"),
        ("log", "level", "warn"),
    ];
    for (section, key, value) in changes {
        let section = table.get_mut(section).and_then(toml::Value::as_table_mut);
        let known = section.filter(|section| section.contains_key(key));
        let Some(section) = known else { return Err(not_ours(format!("there is no {key}"))) };
        section.insert(key.to_owned(), value.into());
    }
    let base = table.get_mut("base").and_then(toml::Value::as_array_mut).and_then(|bases| bases.first_mut());
    let Some(base) = base.and_then(toml::Value::as_table_mut) else {
        return Err(not_ours("no base".to_owned()));
    };
    base.insert("origin".to_owned(), origin.into());
    toml::to_string(&table).map_err(|error| not_ours(error.to_string()))
}

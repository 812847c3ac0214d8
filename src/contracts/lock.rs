//! `catalog.lock`: which tools each role may see, each with its version and fingerprint. Written by `writd contracts lock`,
//! read wherever the catalog is loaded: what is not as it was pinned keeps the whole catalog out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::catalog::{Catalog, Source, class_name};
use super::contract::Contract;
use super::finding::{Finding, FindingCode, Findings, child};
use super::read::Fields;
use super::release;
use super::units::{ToolRef, Version};
use super::yaml::{self, Document};
use crate::domain::Digest;

/// The file beside the contracts.
pub const LOCK_FILE: &str = "catalog.lock";
/// The folder beside it with the bodies that are or were pinned, each under its fingerprint: what a new minor is compared
/// with, and what a version that comes back must be.
pub const BODIES: &str = "catalog.bodies";
/// The role that sees what no other role is given.
const FIRST_ROLE: &str = "agent";
const HEAD: &str = "\
# Written by `writd contracts lock`; `writd contracts check` and the daemon refuse a catalog that is not as pinned here.
# role → tool → version: what that role may see.
";

/// One pinned contract.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pin {
    effect: String,
    fingerprint: String,
}

/// The pins of all roles.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lock {
    roles: BTreeMap<String, BTreeMap<String, BTreeMap<Version, Pin>>>,
}

/// The text of the lock beside the contracts, if there is one.
pub(super) fn source_in(dir: &Path) -> Option<std::io::Result<Source>> {
    let path = dir.join(LOCK_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(Ok(Source { file: path.display().to_string(), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(error)),
    }
}

/// A pinned body, if it is there and whole.
fn body_in(dir: &Path, fingerprint: &str) -> Option<Contract> {
    let body = std::fs::read(dir.join(BODIES).join(format!("{fingerprint}.json"))).ok()?;
    Contract::from_body(&body).ok().filter(|contract| contract.fingerprint().to_string() == fingerprint)
}

/// A version that is or was pinned.
struct Known {
    tool: String,
    version: Version,
    fingerprint: String,
}

/// Every version whose body is kept, whether or not something pins it still.
fn kept_in(dir: &Path) -> Vec<Known> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let fingerprint = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
        let body = std::fs::read(&path).ok()?;
        let whole = Digest::of(&body).to_string() == fingerprint;
        let value: Value = serde_json::from_slice(&body).ok().filter(|_| whole)?;
        let version = value.get("version")?.as_str()?.parse().ok()?;
        Some(Known { tool: value.get("tool")?.as_str()?.to_owned(), version, fingerprint })
    };
    std::fs::read_dir(dir.join(BODIES)).into_iter().flatten().filter_map(read).collect()
}

/// Reads a lock and holds the catalog to it.
pub(super) fn check(source: &Source, dir: &Path, catalog: &Catalog) -> Result<Lock, Vec<Finding>> {
    let mut findings = Findings::default();
    let mut lock = Lock::default();
    if let Some(document) = yaml::parse(&source.text, &mut findings) {
        lock = Lock::read(&document, &mut findings);
        lock.drift(catalog, &mut findings);
        lock.breaks(dir, catalog, &mut findings);
        document.place_all(&source.file, &mut findings);
    }
    findings.iter_mut().for_each(|finding| source.file.clone_into(&mut finding.file));
    if findings.is_empty() { Ok(lock) } else { Err(findings.into_sorted()) }
}

impl Lock {
    /// The lock in a directory; an empty one if there is none.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn load(dir: &Path) -> Result<Lock, Vec<Finding>> {
        let mut findings = Findings::default();
        let source = match source_in(dir) {
            None => return Ok(Lock::default()),
            Some(Ok(source)) => source,
            Some(Err(error)) => {
                let message = format!("{LOCK_FILE} cannot be read: {error}");
                findings.add(FindingCode::UnreadableFile, "", message, "mend or remove the file");
                return Err(findings.into_sorted());
            }
        };
        let lock = yaml::parse(&source.text, &mut findings).map(|document| {
            let lock = Lock::read(&document, &mut findings);
            document.place_all(&source.file, &mut findings);
            lock
        });
        match lock {
            Some(lock) if findings.is_empty() => Ok(lock),
            _ => Err(findings.into_sorted()),
        }
    }

    fn read(document: &Document, findings: &mut Findings) -> Lock {
        let mut lock = Lock::default();
        let Value::Object(roles) = &document.value else {
            super::read::wrong_type("", "a mapping of roles", &document.value, findings);
            return lock;
        };
        for (role, tools) in roles {
            let mut pinned = BTreeMap::new();
            let at = child("", role);
            for (tool, versions) in tools.as_object().into_iter().flatten() {
                let at = child(&at, tool);
                let pins: BTreeMap<Version, Pin> = versions
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter_map(|(version, pin)| one(version, pin, &child(&at, version), findings))
                    .collect();
                pinned.insert(tool.clone(), pins);
            }
            lock.roles.insert(role.clone(), pinned);
        }
        lock
    }

    /// Everything that is not as pinned.
    fn drift(&self, catalog: &Catalog, findings: &mut Findings) {
        let remedy = "run `writd contracts lock`, and look at what it changes";
        for (role, tools) in &self.roles {
            for (tool, pins) in tools {
                let at = child(&child("", role), tool);
                for (version, pin) in pins {
                    let at = child(&at, &version.to_string());
                    let found = catalog.list().find(|one| one.tool == *tool && one.version == *version);
                    let Some(contract) = found else {
                        let message = format!("`{tool}` {version} is pinned for `{role}`, and is not there");
                        findings.add(FindingCode::LockDrift, at, message, remedy);
                        continue;
                    };
                    if contract.fingerprint().to_string() != pin.fingerprint {
                        let mut own = Findings::default();
                        release::changed(contract, &format!("{LOCK_FILE} pins for `{role}`"), &mut own);
                        own.iter_mut().for_each(|finding| finding.pointer.clone_from(&at));
                        findings.append(own);
                    } else if class_name(contract) != pin.effect {
                        let message = format!(
                            "`{tool}` {version} is a {}, and is pinned as another",
                            class_name(contract)
                        );
                        findings.add(FindingCode::LockDrift, at, message, remedy);
                    }
                }
            }
        }
        for contract in catalog.list().filter(|contract| !self.pins(&contract.tool, contract.version)) {
            let message = format!("`{}` {} is pinned for no role", contract.tool, contract.version);
            findings.add(FindingCode::LockDrift, "", message, remedy);
        }
    }

    /// Versions that are pinned and gone, against the newer minors that stand in their place.
    fn breaks(&self, dir: &Path, catalog: &Catalog, findings: &mut Findings) {
        for (role, tools) in &self.roles {
            for (tool, pins) in tools {
                for (version, pin) in pins.iter().rev() {
                    let name = ToolRef { name: tool.clone(), major: version.major };
                    let Some(new) = catalog.get(&name).filter(|new| new.version > *version) else { continue };
                    let mut own = Findings::default();
                    match body_in(dir, &pin.fingerprint) {
                        Some(old) => release::between(&old, &new, &mut own),
                        None => {
                            let message = format!(
                                "the pinned body of `{tool}` {version} is not in {BODIES}, so {} cannot be compared with it",
                                new.version
                            );
                            let remedy =
                                "restore the file; or remove the pin, if nobody ever used that version";
                            own.add(FindingCode::LockDrift, "", message, remedy);
                        }
                    }
                    let at = child(&child(&child("", role), tool), &version.to_string());
                    for finding in own.iter_mut() {
                        if !finding.pointer.is_empty() {
                            finding.message = format!("{} ({})", finding.message, finding.pointer);
                        }
                        finding.pointer.clone_from(&at);
                    }
                    findings.append(own);
                }
            }
        }
    }

    /// The roles that may see a tool.
    pub fn roles_of<'l>(&'l self, tool: &'l ToolRef) -> impl Iterator<Item = &'l str> {
        let sees = |pins: &BTreeMap<Version, Pin>| pins.keys().any(|version| version.major == tool.major);
        let roles = self.roles.iter().filter(move |(_, tools)| tools.get(&tool.name).is_some_and(sees));
        roles.map(|(role, _)| role.as_str())
    }

    fn pins(&self, tool: &str, version: Version) -> bool {
        self.roles.values().any(|tools| tools.get(tool).is_some_and(|pins| pins.contains_key(&version)))
    }

    /// Every version that is pinned, or was once.
    fn known(&self, dir: &Path) -> Vec<Known> {
        let mut known = kept_in(dir);
        for (tool, pins) in self.roles.values().flatten() {
            known.extend(pins.iter().map(|(version, pin)| Known {
                tool: tool.clone(),
                version: *version,
                fingerprint: pin.fingerprint.clone(),
            }));
        }
        known
    }

    /// The lock that fits a catalog: every role keeps its tools, and what is new goes to `agent`.
    ///
    /// # Errors
    /// A version got another body since it was pinned, whether or not it still is; a new minor breaks the one that was,
    /// or is lower.
    pub fn renewed(&self, dir: &Path, catalog: &Catalog) -> Result<Lock, Vec<Finding>> {
        let mut findings = Findings::default();
        self.breaks(dir, catalog, &mut findings);
        let known = self.known(dir);
        for contract in catalog.list() {
            let (version, fingerprint) = (contract.version, contract.fingerprint().to_string());
            let before = || known.iter().filter(|one| one.tool == contract.tool);
            let newest = before().map(|one| one.version).filter(|one| one.major == version.major).max();
            let mut same = before().filter(|one| one.version == version).peekable();
            match newest {
                Some(newest) if same.peek().is_none() && newest > version => {
                    release::lowered(contract, newest, "is or was pinned", &mut findings);
                }
                _ if same.any(|one| one.fingerprint != fingerprint) => {
                    release::changed(contract, &format!("{LOCK_FILE} or {BODIES} pins"), &mut findings);
                }
                // What is pinned has been compared above.
                Some(newest) if newest < version && !self.pins(&contract.tool, newest) => {
                    let last = before().find(|one| one.version == newest);
                    let old = last.and_then(|one| body_in(dir, &one.fingerprint));
                    old.iter().for_each(|old| release::between(old, contract, &mut findings));
                }
                _ => {}
            }
        }
        if findings.is_empty() { Ok(self.pinning(catalog)) } else { Err(findings.into_sorted()) }
    }

    /// The same, whatever was pinned before.
    #[must_use]
    pub fn pinning(&self, catalog: &Catalog) -> Lock {
        let mut lock = Lock::default();
        let mut pin = |role: &str, contract: &Contract| {
            let tools = lock.roles.entry(role.to_owned()).or_default();
            let fingerprint = contract.fingerprint().to_string();
            let pin = Pin { effect: class_name(contract).to_owned(), fingerprint };
            tools.entry(contract.tool.clone()).or_default().insert(contract.version, pin);
        };
        for contract in catalog.list() {
            let tool = contract.tool_ref();
            let roles: Vec<&str> = self.roles_of(&tool).collect();
            match roles.as_slice() {
                [] => pin(FIRST_ROLE, contract),
                roles => roles.iter().for_each(|role| pin(role, contract)),
            }
        }
        lock
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (role, tools) in &self.roles {
            let _ = writeln!(text, "{role}:");
            for (tool, pins) in tools {
                let _ = writeln!(text, "  {tool}:");
                for (version, Pin { effect, fingerprint }) in pins {
                    let _ = writeln!(
                        text,
                        "    \"{version}\": {{ effect: {effect}, fingerprint: {fingerprint:?} }}"
                    );
                }
            }
        }
        text
    }
}

fn one(version: &str, pin: &Value, at: &str, findings: &mut Findings) -> Option<(Version, Pin)> {
    let known: Option<Version> = version.parse().ok();
    if known.is_none() {
        let message = format!("`{version}` is not a version");
        findings.add(FindingCode::BadValue, at, message, "write `\"major.minor\"`");
    }
    let mut fields = Fields::open(pin, at, findings);
    let classes = [("read", "read"), ("draft", "draft"), ("write", "write")];
    let effect = fields.one_of("effect", &classes, findings);
    let fingerprint = fields.text("fingerprint", findings);
    for name in ["effect", "fingerprint"] {
        fields.need(name, FindingCode::MissingField, "what is pinned", findings);
    }
    fields.done(findings);
    if fingerprint.as_deref().is_some_and(|text| text.parse::<Digest>().is_err()) {
        let message = "the fingerprint is not a SHA-256 in hexadecimal";
        findings.add(FindingCode::BadValue, child(at, "fingerprint"), message, "run `writd contracts lock`");
    }
    Some((known?, Pin { effect: effect?.to_owned(), fingerprint: fingerprint? }))
}

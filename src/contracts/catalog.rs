//! The catalog: every contract of a directory, all or nothing. One bad contract keeps the whole set out, so that the old
//! catalog stays as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contract::Contract;
use super::due::{self, Due};
use super::finding::{Finding, FindingCode, Findings, suggestion};
use super::model::{Compensation, EffectClass, Lifecycle};
use super::units::ToolRef;
use super::verify;
use super::{lock, release, resolve, yaml};
use crate::domain::Digest;

/// More files than this in one directory is not a catalog that people maintain.
const MAX_FILES: usize = 4096;
/// Deeper directories than this are a loop or a mistake.
const MAX_DIR_DEPTH: usize = 16;
const SUFFIX: &str = ".tool.yaml";

/// One file's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// As it is shown in findings.
    pub file: String,
    /// The YAML.
    pub text: String,
}

/// All loaded contracts; cheap to clone.
#[derive(Clone, Debug)]
pub struct Catalog {
    contracts: BTreeMap<ToolRef, BTreeMap<u32, Arc<Contract>>>,
    fingerprint: Digest,
    dues: Vec<Due>,
    lock: Option<lock::Lock>,
}

/// A contract with what is needed to report on it.
struct Loaded {
    file: String,
    document: yaml::Document,
    contract: Arc<Contract>,
}

/// Files that gave no contract: what refers to them is not a finding of its own.
#[derive(Default)]
struct Broken {
    names: Vec<String>,
    unnamed: bool,
}

impl Broken {
    fn add(&mut self, tool: Option<&serde_json::Value>) {
        match tool.and_then(serde_json::Value::as_str) {
            Some(name) => self.names.push(name.to_owned()),
            None => self.unnamed = true,
        }
    }
}

impl Catalog {
    /// A catalog without contracts.
    #[must_use]
    pub fn empty() -> Catalog {
        Catalog {
            contracts: BTreeMap::new(),
            fingerprint: Digest::of(b"writd catalog 1\n"),
            dues: Vec::new(),
            lock: None,
        }
    }

    /// Loads `**/*.tool.yaml` below a directory, and holds them to its `catalog.lock` if there is one.
    ///
    /// # Errors
    /// Every finding of every file, sorted by place; nothing is loaded then.
    pub fn load(dir: &Path) -> Result<Catalog, Vec<Finding>> {
        let mut catalog = Catalog::load_unlocked(dir)?;
        match lock::source_in(dir) {
            None => {}
            Some(Ok(source)) => catalog.lock = Some(lock::check(&source, dir, &catalog)?),
            Some(Err(error)) => {
                let mut findings = Findings::default();
                unreadable(&dir.join(lock::LOCK_FILE), &format!("cannot be read: {error}"), &mut findings);
                return Err(findings.into_sorted());
            }
        }
        Ok(catalog)
    }

    /// Whether a role sees a tool, by the lock. Without a lock every role sees everything.
    #[must_use]
    pub fn role_sees(&self, role: &str, tool: &ToolRef) -> bool {
        self.lock.as_ref().is_none_or(|lock| lock.roles_of(tool).any(|known| known == role))
    }

    /// The same without looking at the lock: for whoever writes it.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    pub fn load_unlocked(dir: &Path) -> Result<Catalog, Vec<Finding>> {
        let mut findings = Findings::default();
        let mut paths = Vec::new();
        collect(dir, SUFFIX, 0, &mut paths, &mut findings);
        paths.sort();
        let mut sources = Vec::with_capacity(paths.len());
        for path in paths {
            match std::fs::read(&path).map(String::from_utf8) {
                Ok(Ok(text)) => sources.push(Source { file: path.display().to_string(), text }),
                Ok(Err(_)) => unreadable(&path, "the file is not UTF-8", &mut findings),
                Err(error) => unreadable(&path, &format!("cannot be read: {error}"), &mut findings),
            }
        }
        match Catalog::from_sources(sources) {
            Ok(catalog) if findings.is_empty() => Ok(catalog),
            Ok(_) => Err(findings.into_sorted()),
            Err(more) => {
                let mut all = findings.into_sorted();
                all.extend(more);
                Err(all)
            }
        }
    }

    /// Loads from texts.
    ///
    /// # Errors
    /// Every finding of every text, sorted by place; nothing is loaded then.
    pub fn from_sources(sources: Vec<Source>) -> Result<Catalog, Vec<Finding>> {
        Catalog::read(sources, Broken::default())
    }

    fn read(sources: Vec<Source>, mut broken: Broken) -> Result<Catalog, Vec<Finding>> {
        let mut findings = Findings::default();
        let mut loaded: Vec<Loaded> = Vec::new();
        for source in sources {
            let mut own = Findings::default();
            let Some(document) = yaml::parse(&source.text, &mut own) else {
                broken.unnamed = true;
                place(&source.file, None, &mut own);
                findings.append(own);
                continue;
            };
            let declaration = resolve::resolve(&document.value, &mut own);
            verify::required(&declaration, &document.value, &mut own);
            let contract = verify::assemble(declaration, &document, &mut own);
            verify::rules(&document.value, contract.as_ref(), &mut own);
            own.prefer_exact();
            place(&source.file, Some(&document), &mut own);
            findings.append(own);
            match contract {
                Some(contract) => {
                    loaded.push(Loaded { file: source.file, document, contract: Arc::new(contract) });
                }
                None => broken.add(document.value.get("tool")),
            }
        }
        let catalog = Catalog::together(&loaded, &broken, &mut findings);
        if findings.is_empty() { Ok(catalog) } else { Err(findings.into_sorted()) }
    }

    /// One contract by itself: what it says about others is not looked at.
    ///
    /// # Errors
    /// Every finding, sorted by place.
    pub fn alone(source: Source) -> Result<Catalog, Vec<Finding>> {
        Catalog::read(vec![source], Broken { names: Vec::new(), unnamed: true })
    }

    fn together(loaded: &[Loaded], broken: &Broken, findings: &mut Findings) -> Catalog {
        let mut catalog = Catalog::empty();
        for one in loaded {
            let minors = catalog.contracts.entry(one.contract.tool_ref()).or_default();
            if minors.insert(one.contract.version.minor, Arc::clone(&one.contract)).is_some() {
                let mut own = Findings::default();
                let message = format!("`{}` {} exists already", one.contract.tool, one.contract.version);
                own.add(FindingCode::DuplicateTool, "/version", message, "give it a new version");
                place(&one.file, Some(&one.document), &mut own);
                findings.append(own);
            }
        }
        for one in loaded {
            let mut own = Findings::default();
            catalog.cross(&one.contract, broken, &mut own);
            if let Some(older) = catalog.before(&one.contract) {
                release::between(&older, &one.contract, &mut own);
            }
            let mut dues = due::dues(&one.contract);
            due::place(&mut dues, &one.file, |pointer| one.document.place(pointer));
            catalog.dues.extend(dues);
            place(&one.file, Some(&one.document), &mut own);
            findings.append(own);
        }
        let mut text = String::from("writd catalog 1\n");
        for contract in catalog.list() {
            text.push_str(&format!("{} {} {}\n", contract.tool, contract.version, contract.fingerprint()));
        }
        catalog.fingerprint = Digest::of(text.as_bytes());
        catalog.dues.extend(due::too_many(catalog.contracts.len()));
        catalog
    }

    /// Rules between contracts.
    fn cross(&self, contract: &Contract, broken: &Broken, findings: &mut Findings) {
        if let Lifecycle::Deprecated { successor: Some(next), .. }
        | Lifecycle::Retired { successor: Some(next) } = &contract.lifecycle
        {
            self.named(next, "/lifecycle/successor", contract.class(), broken, findings);
        }
        let Some(parts) = &contract.write else { return };
        let mut named =
            |tool: &ToolRef, at: &str, class: EffectClass| self.named(tool, at, class, broken, findings);
        let read = named(&parts.preview.read, parts.preview.place(), EffectClass::Read);
        if let Compensation::Tool(undo) = &parts.compensation {
            named(&undo.tool, "/compensation/tool", EffectClass::Write);
        }
        if let Some(readback) = &parts.readback {
            let looked = named(&readback.read, "/readback/read", EffectClass::Read);
            looked.iter().for_each(|read| verify::seen(&readback.expect, read, findings));
            if readback.with.is_none() && readback.read != parts.preview.read {
                let message = "another read than that of the preview needs its own arguments";
                findings.add(FindingCode::MissingField, "/readback", message, "add `with`");
            }
        }
        for (audience, pointer) in contract.redacted_versions() {
            let message = format!("`{pointer}` is the version, which is shown to whoever sees the write");
            let at = format!("/redact/{audience}");
            findings.add(FindingCode::RedactedPointer, at, message, "do not redact the version");
        }
        let Some(read) = read else { return };
        verify::shown(contract, parts, &read, findings);
    }

    fn named(
        &self,
        tool: &ToolRef,
        at: &str,
        class: EffectClass,
        broken: &Broken,
        findings: &mut Findings,
    ) -> Option<Arc<Contract>> {
        let Some(found) = self.get(tool) else {
            if broken.unnamed || broken.names.contains(&tool.name) {
                return None;
            }
            let known: Vec<String> = self.contracts.keys().map(ToolRef::to_string).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let message = format!("`{tool}` is not in the catalog");
            findings.add(FindingCode::ToolNotFound, at, message, suggestion(&tool.to_string(), &known));
            return None;
        };
        if class != found.class() {
            let wanted = match class {
                EffectClass::Read => "a read",
                EffectClass::Draft => "a draft",
                EffectClass::Write => "a write",
            };
            let message = format!("`{tool}` is not {wanted}");
            findings.add(FindingCode::ToolNotFound, at, message, format!("name {wanted}"));
            return None;
        }
        Some(found)
    }

    /// SHA-256 over names, versions and fingerprints.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// The newest minor of a tool's major version.
    #[must_use]
    pub fn get(&self, tool: &ToolRef) -> Option<Arc<Contract>> {
        self.contracts.get(tool)?.last_key_value().map(|(_, contract)| Arc::clone(contract))
    }

    /// The newest minor before this one, of the same major.
    fn before(&self, contract: &Contract) -> Option<Arc<Contract>> {
        let minors = self.contracts.get(&contract.tool_ref())?;
        minors.range(..contract.version.minor).next_back().map(|(_, older)| Arc::clone(older))
    }

    /// What should have happened by a day (`2027-06-30`), as warnings.
    #[must_use]
    pub fn warnings(&self, today: &str) -> Vec<Finding> {
        let Ok(today) = today.parse() else { return Vec::new() };
        self.dues.iter().filter(|due| due.is_told(today)).map(|due| due.finding().clone()).collect()
    }

    /// Every contract, sorted by name and version.
    pub fn list(&self) -> impl DoubleEndedIterator<Item = &Arc<Contract>> {
        self.contracts.values().flat_map(BTreeMap::values)
    }
}

/// The class of a contract in one word.
pub(super) fn class_name(contract: &Contract) -> &'static str {
    match contract.class() {
        EffectClass::Read => "read",
        EffectClass::Draft => "draft",
        EffectClass::Write => "write",
    }
}

pub(crate) fn place(file: &str, document: Option<&yaml::Document>, findings: &mut Findings) {
    match document {
        Some(document) => document.place_all(file, findings),
        None => findings.iter_mut().for_each(|finding| file.clone_into(&mut finding.file)),
    }
}

pub(super) fn unreadable(path: &Path, message: &str, findings: &mut Findings) {
    let mut own = Findings::default();
    own.add(FindingCode::UnreadableFile, "", message, "mend or remove the file");
    place(&path.display().to_string(), None, &mut own);
    findings.append(own);
}

/// The files below a directory whose names end so.
pub(super) fn collect(
    dir: &Path,
    suffix: &str,
    depth: usize,
    out: &mut Vec<PathBuf>,
    findings: &mut Findings,
) {
    if depth > MAX_DIR_DEPTH || out.len() > MAX_FILES {
        return unreadable(dir, "too many or too deep directories", findings);
    }
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return unreadable(dir, &format!("cannot be read: {error}"), findings),
    };
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok((path, kind)) if kind.is_dir() => collect(&path, suffix, depth + 1, out, findings),
            Ok((path, _)) if path.to_str().is_some_and(|path| path.ends_with(suffix)) => out.push(path),
            Ok(_) => {}
            Err(error) => unreadable(dir, &format!("cannot be read: {error}"), findings),
        }
    }
}

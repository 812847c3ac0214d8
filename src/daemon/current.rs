//! The catalog in force, and the one that waits to take its place. Both are whole: readers see one or the other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::tools::Tools;
use crate::contracts::{Catalog, Contract, Finding};
use crate::domain::problem::Problem;
use crate::domain::{Code, Digest};
use crate::ports::{Clock, Staged, Tool, ToolError, Toolbox};

/// A refusal lists findings up to here; `writd contracts check` shows all of them.
const MAX_FINDINGS: usize = 50;

pub(super) struct Current {
    dir: PathBuf,
    origins: HashMap<String, String>,
    clock: Arc<dyn Clock>,
    in_force: RwLock<Arc<Tools>>,
    staged: Mutex<Option<Arc<Tools>>>,
}

impl Current {
    pub(super) fn new(
        dir: &Path,
        origins: HashMap<String, String>,
        clock: Arc<dyn Clock>,
        catalog: Catalog,
    ) -> Current {
        let tools = Arc::new(Tools::new(catalog, origins.clone()));
        let dir = dir.to_owned();
        Current { dir, origins, clock, in_force: RwLock::new(tools), staged: Mutex::new(None) }
    }

    /// What is worth a warning about the catalog in force.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings_of(&self.tools())
    }

    fn tools(&self) -> Arc<Tools> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn warnings_of(&self, tools: &Tools) -> Vec<String> {
        let today = self.clock.now().date();
        let overdue = tools.catalog().warnings(&today);
        let overdue = overdue.iter().map(|finding| finding.to_string().replace("\n   ", ":"));
        let missing = tools.catalog().list().filter(|contract| !self.origins.contains_key(contract.base()));
        let homeless = missing.map(|contract| {
            let (tool, base) = (contract.tool_ref(), contract.base());
            format!("{tool} needs the base `{base}`, which is not configured: it is refused")
        });
        homeless.chain(overdue).collect()
    }
}

/// The contracts that another catalog does not have as they are.
fn changed(new: &Catalog, old: &Catalog) -> Vec<String> {
    let named = |one: &Arc<Contract>| format!("{} {}", one.tool, one.version);
    let has =
        |all: &Catalog, one: &Contract| all.list().any(|other| other.fingerprint() == one.fingerprint());
    let mut names: Vec<String> = new.list().filter(|one| !has(old, one)).map(named).collect();
    names.extend(old.list().filter(|one| !has(new, one)).map(|one| format!("{} (gone)", named(one))));
    names
}

fn refused(findings: &[Finding]) -> ToolError {
    let detail =
        format!("the contracts are refused, the old catalog stays in force: {} findings", findings.len());
    let mut problem = Problem::new(Code::ConfigurationInvalid, detail);
    for finding in findings.iter().take(MAX_FINDINGS) {
        let text = finding.to_string().replace("\n   ", ":");
        problem = problem.finding(finding.pointer.clone(), Code::ConfigurationInvalid, text);
    }
    Box::new(problem)
}

impl Toolbox for Current {
    fn current(&self, tool: &str, major: u32) -> Option<Arc<dyn Tool>> {
        self.tools().current(tool, major)
    }

    fn agents_see(&self, tool: &str) -> bool {
        self.tools().agents_see(tool)
    }

    fn pinned(&self, fingerprint: Digest, body: &[u8]) -> Result<Arc<dyn Tool>, String> {
        self.tools().pinned(fingerprint, body)
    }

    fn fingerprint(&self) -> Digest {
        self.tools().fingerprint()
    }

    fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.tools().all()
    }

    fn stage(&self) -> Result<Staged, ToolError> {
        let catalog = Catalog::load(&self.dir).map_err(|findings| refused(&findings))?;
        let in_force = self.tools();
        let breaks = catalog.breaks(in_force.catalog());
        if !breaks.is_empty() {
            return Err(refused(&breaks));
        }
        let changed = changed(&catalog, in_force.catalog());
        let tools = Arc::new(Tools::new(catalog, self.origins.clone()));
        let staged = Staged {
            fingerprint: tools.fingerprint(),
            contracts: tools.catalog().list().count(),
            changed,
            warnings: self.warnings_of(&tools),
        };
        *self.staged.lock().unwrap_or_else(PoisonError::into_inner) = Some(tools);
        Ok(staged)
    }

    fn adopt(&self, fingerprint: Digest) -> bool {
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner).take();
        match staged.filter(|tools| tools.fingerprint() == fingerprint) {
            Some(tools) => {
                *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = tools;
                true
            }
            None => false,
        }
    }
}

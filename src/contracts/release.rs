//! What a version number promises: one body per version, and no breaking change below a new major. Compares the minors of
//! one catalog with each other, and a new catalog with the one that is in force.

use std::sync::Arc;

use super::catalog::Catalog;
use super::contract::Contract;
use super::diff::{ChangeKind, ContractDiff};
use super::finding::{Finding, FindingCode, Findings};
use super::units::Version;

/// What breaks is listed up to here; `contracts diff` shows all of it.
const SHOWN: usize = 5;

/// A finding if the newer minor breaks what the older one promised.
pub(super) fn between(old: &Contract, new: &Contract, findings: &mut Findings) {
    for change in breaking(old, new).into_iter().take(SHOWN) {
        let message =
            format!("{} {} breaks {} {}: {}", new.tool, new.version, old.tool, old.version, change.why);
        let remedy = format!("call it {}.0: a breaking change is a new major", old.version.major + 1);
        findings.add(FindingCode::BreakingChange, change.pointer, message, remedy);
    }
}

fn breaking(old: &Contract, new: &Contract) -> Vec<super::diff::ContractChange> {
    let mut changes = ContractDiff::between(old, new).changes;
    changes.retain(|change| change.kind == ChangeKind::Major);
    changes
}

impl Catalog {
    /// What speaks against putting this catalog in the place of another one: a version that got another body, a new
    /// minor that breaks the one that is in force, or one that is lower. Findings without file and line.
    #[must_use]
    pub fn breaks(&self, in_force: &Catalog) -> Vec<Finding> {
        let mut findings = Findings::default();
        for new in self.list() {
            let same = in_force.list().find(|old| old.tool == new.tool && old.version == new.version);
            match (same, in_force.get(&new.tool_ref())) {
                (Some(old), _) if old.fingerprint() != new.fingerprint() => {
                    changed(new, "the daemon has in force", &mut findings);
                }
                (_, Some(old)) if old.version < new.version => between(&old, new, &mut findings),
                (None, Some(old)) => lowered(new, old.version, "the daemon has in force", &mut findings),
                (Some(_), _) | (None, None) => {}
            }
        }
        findings.into_sorted()
    }
}

/// The finding about a version that is new, and lower than one that is known.
pub(super) fn lowered(new: &Contract, known: Version, than: &str, findings: &mut Findings) {
    let message = format!("{} {} is new, and lower than {known}, which {than}", new.tool, new.version);
    let remedy = format!("give it a version above {known}");
    findings.add(FindingCode::BreakingChange, "/version", message, remedy);
}

/// The finding about another body under the same version.
pub(super) fn changed(new: &Arc<Contract>, than: &str, findings: &mut Findings) {
    let message = format!("{} {} has another body than the one that {than}", new.tool, new.version);
    let remedy = "give it a new version (`writd contracts diff` says which), or take the change back";
    findings.add(FindingCode::ChangedBody, "/version", message, remedy);
}

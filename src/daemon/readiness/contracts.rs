//! Contracts: can their unknown outcomes be settled, and does somebody know that their services keep their promises.

use super::{Gap, Look, Report};
use crate::contracts::{Compensation, Contract, EffectClass, LOCK_FILE, Recovery};
use crate::kit::Record;

pub(super) fn check(look: Look<'_>, report: &mut Report) {
    let dir = look.config.daemon.contracts.display().to_string();
    if look.catalog.list().next().is_none() {
        let meaning = "there is none: nothing can be read or written";
        return report.add(Gap::NoContracts, dir, meaning, "see `contracts` in daemon.toml");
    }
    if !look.config.daemon.contracts.join(LOCK_FILE).exists() {
        let meaning = "the contracts are not pinned: whoever changes a file changes what is sent";
        report.add(Gap::NotLocked, dir, meaning, "writd contracts lock");
    }
    for warning in look.catalog.warnings(look.today) {
        report.add(Gap::Overdue, warning.file, warning.message, warning.remedy);
    }
    let used = look.catalog.list().filter(|contract| !contract.is_retired());
    let used: Vec<&Contract> = used.map(|contract| contract.as_ref()).collect();
    for contract in &used {
        write(contract, report);
        if !look.config.bases.iter().any(|base| base.name == contract.base()) {
            report.add(
                Gap::NoBase,
                place(contract),
                format!("{} uses the base {}, which is not configured", contract.tool_ref(), contract.base()),
                "add a [[base]] to daemon.toml",
            );
        }
    }
    tested(look, &used, report);
}

fn place(contract: &Contract) -> String {
    format!("contract {}", contract.tool_ref())
}

fn write(contract: &Contract, report: &mut Report) {
    let Ok(write) = contract.as_write() else { return };
    if contract.class() != EffectClass::Write {
        return;
    }
    match &write.recovery {
        Recovery::None => report.add(
            Gap::TierNone,
            place(contract),
            "recovery is none: only a person can settle its unknown outcomes",
            "have the service tell what became of a key: recovery: status_by_key",
        ),
        Recovery::StatusByKey(_) => {}
    }
    match &write.compensation {
        Compensation::None(_) => report.add(
            Gap::Irreversible,
            place(contract),
            "it has no compensation: approvers decide for good",
            "declare the write that undoes it, if there is one",
        ),
        Compensation::Tool(_) => {}
    }
}

fn tested(look: Look<'_>, used: &[&Contract], report: &mut Report) {
    let record = match Record::load(&look.config.daemon.state_dir) {
        Ok(record) => record,
        Err(error) => {
            let place = look.config.daemon.state_dir.display().to_string();
            let remedy = "writd contracts test --base URL writes a new one";
            return report.add(Gap::RecordUnreadable, place, error.to_string(), remedy);
        }
    };
    for contract in used {
        let name = format!("{} ({})", contract.tool_ref(), contract.version);
        let remedy = format!("writd contracts test --tool {} --base URL", contract.tool_ref());
        match record.of(&contract.fingerprint().to_string()) {
            None => {
                let meaning = format!("{name} has no passing live test of its present fingerprint");
                report.add(Gap::NotTested, place(contract), meaning, remedy);
            }
            Some(tested) if !tested.unproven.is_empty() => {
                let meaning =
                    format!("{name} passed at {}, not proven: {}", tested.at, tested.unproven.join("; "));
                report.add(Gap::Unproven, place(contract), meaning, remedy);
            }
            Some(_) => {}
        }
    }
}

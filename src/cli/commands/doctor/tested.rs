//! Contracts without a passing live test of their present fingerprint.

use super::Check;
use crate::config::Config;
use crate::contracts::Catalog;
use crate::kit::Record;

const NAME: &str = "contract tests";

/// One line per contract that has none, or whose test left something unproven.
pub(super) fn check(config: &Config, catalog: &Catalog, checks: &mut Vec<Check>) {
    let record = match Record::load(&config.daemon.state_dir) {
        Ok(record) => record,
        Err(error) => {
            let help = "writd contracts test --base URL writes a new one";
            return checks.push(Check::warning(NAME, error.to_string(), help));
        }
    };
    let before = checks.len();
    for contract in catalog.list().filter(|contract| !contract.is_retired()) {
        let name = format!("{} ({})", contract.tool_ref(), contract.version);
        let help = format!("writd contracts test --tool {} --base URL", contract.tool_ref());
        match record.of(&contract.fingerprint().to_string()) {
            None => checks.push(Check::warning(
                NAME,
                format!("{name} has no passing live test of its present fingerprint"),
                help,
            )),
            Some(tested) if !tested.unproven.is_empty() => checks.push(Check::warning(
                NAME,
                format!("{name} passed at {}, not proven: {}", tested.at, tested.unproven.join("; ")),
                help,
            )),
            Some(_) => {}
        }
    }
    if checks.len() == before {
        checks.push(Check::good(NAME, "every contract passed a live test in its present form"));
    }
}

//! The record of live runs: which contract, by its fingerprint, passed where and when. A changed contract has another
//! fingerprint, and so no passing run. Kept as one small file in the state directory.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::report::{Part, Report, Verdict};
use crate::domain::Time;

/// Its name in the state directory.
const FILE: &str = "contract-tests.json";
/// The form of the file. Another one is not guessed at.
const FORMAT: u32 = 1;
/// No record of people's contracts is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A live run in which nothing failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tested {
    /// `name.vN`.
    pub tool: String,
    /// `major.minor`.
    pub version: String,
    /// When.
    pub at: Time,
    /// Where.
    pub origin: String,
    /// What was asked and not proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
}

/// All of them, by the fingerprint of the contract.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record(BTreeMap<String, Tested>);

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    passed: BTreeMap<String, Tested>,
}

/// Why the record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something else stands in the file.
    #[error("{} is not a record of contract tests that this release reads; remove it", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
    },
}

impl Record {
    /// Reads it from a state directory; empty if there is none yet.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn load(state_dir: &Path) -> Result<Record, RecordError> {
        let path = state_dir.join(FILE);
        let text = match fs::metadata(&path).map(|found| found.len()) {
            Ok(length) if length > MAX_BYTES => return Err(RecordError::Format { path }),
            Ok(_) => fs::read(&path),
            Err(error) => Err(error),
        };
        match text {
            Ok(bytes) => match serde_json::from_slice::<Stored>(&bytes) {
                Ok(stored) if stored.format == FORMAT => Ok(Record(stored.passed)),
                Ok(_) | Err(_) => Err(RecordError::Format { path }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Record::default()),
            Err(error) => Err(RecordError::File { path, error }),
        }
    }

    /// Writes it, by rename: whoever reads at the same time sees the old or the new one.
    ///
    /// # Errors
    /// The directory or the file cannot be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), RecordError> {
        let path = state_dir.join(FILE);
        let fail = |error| RecordError::File { path: path.clone(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(state_dir).map_err(fail)?;
        let stored = Stored { format: FORMAT, passed: self.0.clone() };
        let mut text = serde_json::to_vec_pretty(&stored).map_err(|error| fail(error.into()))?;
        text.push(b'\n');
        let half = state_dir.join(format!("{FILE}.new"));
        let mut file = File::create(&half).map_err(fail)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(fail)?;
        fs::rename(&half, &path).map_err(fail)
    }

    /// The passing run of a fingerprint.
    #[must_use]
    pub fn of(&self, fingerprint: &str) -> Option<&Tested> {
        self.0.get(fingerprint)
    }

    /// Takes in a report: a contract that passed live is written down, one that failed is taken out.
    pub fn take(&mut self, report: &Report, at: Time) {
        for tool in &report.tools {
            let asked = |part| tool.checks.iter().any(|check| check.part == part);
            if tool.count(Verdict::Failed) > 0 {
                self.0.remove(&tool.fingerprint);
            } else if let (Some(origin), true) = (&tool.origin, asked(Part::Service)) {
                let unproven = tool.checks.iter().filter(|check| check.verdict == Verdict::Unproven);
                let tested = Tested {
                    tool: tool.tool.clone(),
                    version: tool.version.clone(),
                    at,
                    origin: origin.clone(),
                    unproven: unproven.map(|check| check.name.clone()).collect(),
                };
                self.0.insert(tool.fingerprint.clone(), tested);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::report::{Check, ToolReport};

    fn report(origin: Option<&str>, checks: Vec<Check>) -> Report {
        let tool = ToolReport {
            tool: "t.v1".into(),
            version: "1.0".into(),
            fingerprint: "f".into(),
            boundaries: 0,
            origin: origin.map(str::to_owned),
            checks,
        };
        Report { tools: vec![tool] }
    }

    #[test]
    fn a_passing_live_run_is_kept_a_failing_one_takes_it_out() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let mut record = Record::load(&state).unwrap();
        let asked = Check::unproven(Part::Service, "tenant", "", "");
        let at = Time::from_millis(1_784_419_200_000);
        record.take(&report(None, vec![Check::passed(Part::Input, "i", "")]), at);
        assert_eq!(record.of("f"), None, "an offline run is not a live one");
        record.take(&report(Some("http://x"), vec![asked.clone()]), at);
        record.save(&state).unwrap();
        let read = Record::load(&state).unwrap();
        assert_eq!(read.of("f").map(|tested| tested.unproven.clone()), Some(vec!["tenant".to_owned()]));
        record.take(&report(Some("http://x"), vec![asked, Check::failed(Part::Case, "c", "", "")]), at);
        assert_eq!(record.of("f"), None);
        fs::write(state.join(FILE), "{\"format\":2,\"passed\":{}}").unwrap();
        assert!(matches!(Record::load(&state), Err(RecordError::Format { .. })));
    }
}

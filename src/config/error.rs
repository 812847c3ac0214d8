//! What is wrong with the configuration: where, what it means, what to do. No message repeats a value: people paste
//! secrets into the wrong place.

use std::fmt;

/// One finding that refuses the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Stable name: `UNKNOWN_KEY`, `UNKNOWN_SECTION`, `DUPLICATE_KEY`, `WRONG_TYPE`, `INVALID_VALUE`, `MISSING_KEY`,
    /// `SYNTAX`, `RULE`, `UNKNOWN_VARIABLE`, `UNREADABLE`.
    pub code: &'static str,
    /// File name, or `environment`.
    pub source: String,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// Full path of the key: `limits.page_max`, `principal[2].roles`, or the variable.
    pub path: String,
    /// What it means.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// One finding that only warns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Stable name: `REMOVED_KEY`, `NO_OWN_PRINCIPAL`, `ONE_UID_SEVERAL_ROLES`, `OWNER_UNKNOWN`.
    pub code: &'static str,
    /// File name, or `environment`.
    pub source: String,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// Full path of the key.
    pub path: String,
    /// What it means.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_finding(f, "error", self.code, (&self.source, self.line, &self.path), &self.message, &self.help)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_finding(
            f,
            "warning",
            self.code,
            (&self.source, self.line, &self.path),
            &self.message,
            &self.help,
        )
    }
}

fn write_finding(
    f: &mut fmt::Formatter<'_>,
    severity: &str,
    code: &str,
    (source, line, path): (&str, Option<usize>, &str),
    message: &str,
    help: &Option<String>,
) -> fmt::Result {
    write!(f, "{severity}[{code}] {source}")?;
    if let Some(line) = line {
        write!(f, ":{line}")?;
    }
    if path.is_empty() {
        write!(f, ": {message}")?;
    } else {
        write!(f, ": {path}: {message}")?;
    }
    if let Some(help) = help {
        write!(f, "\n  help: {help}")?;
    }
    Ok(())
}

//! The log.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::config::{Log, LogFormat};

/// The log could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// `WRITD_LOG` is not a filter.
    #[error("WRITD_LOG is not a log filter: {0}. Examples: `info`, `writd=debug`")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// A log was started before in this process.
    #[error("the log could not be started: {0}")]
    Started(String),
}

/// Starts the log. `filter` is `WRITD_LOG`, which wins over the configured level.
///
/// # Errors
/// [`LogError`].
pub fn start_logs(log: &Log, filter: Option<&str>) -> Result<(), LogError> {
    let filter = match filter {
        Some(filter) => EnvFilter::try_new(filter)?,
        // sled says little that an operator can act on; what it does that matters comes back as an error.
        None => EnvFilter::try_new(format!("{},sled=warn,pagecache=warn", log.level.as_str()))?,
    };
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| LogError::Started(error.to_string()))
}

//! `writd check-config`: all findings of daemon.toml at once.

use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::policy::Table;

/// Reads the configuration as the daemon would.
pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let (config, warnings) = context.config()?;
    Table::compile(&config.rules).map_err(Failure::Config)?;
    let answer = json!({
        "valid": true,
        "warnings": warnings.iter().map(|warning| json!({
            "code": warning.code, "source": warning.source, "line": warning.line, "path": warning.path,
            "message": warning.message, "help": warning.help,
        })).collect::<Vec<_>>(),
        "state_dir": config.daemon.state_dir,
        "socket": config.daemon.socket,
    });
    context.output.answer(&answer, || {
        let mut page = Paper::new();
        for warning in &warnings {
            for line in warning.to_string().lines() {
                page.prose(Style::Warn, &safe(line));
            }
        }
        page.prose(Style::Plain, "the configuration is valid");
        page.field("state", &safe(&config.daemon.state_dir.display().to_string()));
        page.field("socket", &safe(&config.daemon.socket.display().to_string()));
        page.field("contracts", &safe(&config.daemon.contracts.display().to_string()));
        page
    })
}

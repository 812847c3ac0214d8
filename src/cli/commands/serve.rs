//! `writd serve`: the daemon, or only a look at what it would start with.

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::Catalog;
use crate::domain::Code;

/// Run the daemon.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Only check configuration and contracts, and start nothing
    #[arg(long)]
    check: bool,
}

/// Checks, then runs.
pub(super) fn run(args: ServeArgs, context: &Context) -> Result<(), Failure> {
    let (config, warnings) = context.config()?;
    for warning in &warnings {
        context.output.note(&safe_lines(&warning.to_string()));
    }
    if !args.check {
        return Err(super::not_in_this_build("serve", &config.daemon.state_dir));
    }
    match Catalog::load(&config.daemon.contracts) {
        Ok(catalog) => {
            let mut page = Paper::new();
            let count = catalog.list().count();
            page.prose(Style::Plain, &format!("configuration and {count} contracts have no findings"));
            context.output.page(&page)
        }
        Err(findings) => {
            context.output.note_page(&super::contracts::page(&findings));
            Err(Failure::Told(Code::ConfigurationInvalid))
        }
    }
}

fn safe_lines(text: &str) -> String {
    text.lines().map(safe).collect::<Vec<_>>().join("\n")
}

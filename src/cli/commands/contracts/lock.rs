//! `writd contracts lock`: pins the contracts as they are into `catalog.lock`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{directory, refuse};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::{Catalog, LOCK_FILE, Lock};

/// Pin the contracts as they are.
#[derive(Args, Debug)]
pub(crate) struct LockArgs {
    /// The directory [default: as the configuration says]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: LockArgs, context: &Context) -> Result<(), Failure> {
    let dir = directory(args.dir, context)?;
    let lock = Catalog::load_unlocked(&dir)
        .and_then(|catalog| Lock::load(&dir).and_then(|before| before.renewed(&catalog)));
    let lock = match lock {
        Ok(lock) => lock,
        Err(findings) => return Err(refuse(&findings, context)?),
    };
    let path = dir.join(LOCK_FILE);
    let text = lock.text();
    let changed = std::fs::read_to_string(&path).is_ok_and(|before| before == text);
    if !changed {
        // In one step: a daemon that loads meanwhile sees the old lock or the new one.
        let beside = dir.join(format!("{LOCK_FILE}.new"));
        let written = std::fs::write(&beside, &text).and_then(|()| std::fs::rename(&beside, &path));
        written.map_err(|error| Failure::File { path: path.clone(), error })?;
    }
    let answer = json!({ "file": path.display().to_string(), "written": !changed });
    context.output.answer(&answer, || {
        let mut page = Paper::new();
        let what = if changed { "is as it was" } else { "is written" };
        page.prose(Style::Plain, &safe(&format!("{} {what}", path.display())));
        page
    })
}

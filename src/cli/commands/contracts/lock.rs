//! `writd contracts lock`: pins the contracts as they are into `catalog.lock`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use serde_json::json;

use super::{directory, refuse};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::contracts::{BODIES, Catalog, Contract, LOCK_FILE, Lock};

/// Pin the contracts as they are.
#[derive(Args, Debug)]
pub(crate) struct LockArgs {
    /// The directory [default: as the configuration says]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: LockArgs, context: &Context) -> Result<(), Failure> {
    let dir = directory(args.dir, context)?;
    let made = Catalog::load_unlocked(&dir).and_then(|catalog| {
        let lock = Lock::load(&dir)?.renewed(&dir, &catalog)?;
        Ok((lock, catalog))
    });
    let (lock, catalog) = match made {
        Ok(made) => made,
        Err(findings) => return Err(refuse(&findings, context)?),
    };
    let path = dir.join(LOCK_FILE);
    let failed = |error| Failure::File { path: path.clone(), error };
    // The bodies first: a lock that is there has what it pins.
    bodies(&dir, &catalog).map_err(failed)?;
    let written = replace(&path, lock.text().as_bytes()).map_err(failed)?;
    let answer = json!({ "file": path.display().to_string(), "written": written });
    context.output.answer(&answer, || {
        let mut page = Paper::new();
        let what = if written { "is written" } else { "is as it was" };
        page.prose(Style::Plain, &safe(&format!("{} {what}", path.display())));
        page
    })
}

/// Writes a file in one step, if it is not as it should be: who reads meanwhile sees the old one or the new one.
fn replace(path: &Path, text: &[u8]) -> io::Result<bool> {
    if fs::read(path).is_ok_and(|before| before == text) {
        return Ok(false);
    }
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)?;
    Ok(true)
}

fn name(contract: &Contract) -> String {
    format!("{}.json", contract.fingerprint())
}

/// What was pinned once stays, so that its version does not come back with another body.
fn bodies(dir: &Path, catalog: &Catalog) -> io::Result<()> {
    let folder = dir.join(BODIES);
    fs::create_dir_all(&folder)?;
    for contract in catalog.list() {
        replace(&folder.join(name(contract)), contract.body())?;
    }
    Ok(())
}

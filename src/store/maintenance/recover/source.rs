//! The damaged store, read from a copy: opening may change files, and several ways are tried.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::{MaintenanceError, open};
use crate::store::OpenError;

/// The copy that is read.
const COPY: &str = "store.salvage";
/// A fresh store, for the files that are the same in every store.
const MODEL: &str = "store.salvage-model";

/// An opened copy.
pub(super) struct Source {
    pub(super) store: open::Opened,
    pub(super) copy: PathBuf,
    /// In words.
    pub(super) how: &'static str,
}

/// Opens a copy of the store, in the least invasive way that works.
pub(super) fn open(state_dir: &Path) -> Result<Source, MaintenanceError> {
    let from = open::store_path(state_dir);
    let copy = state_dir.join(COPY);
    let model = state_dir.join(MODEL);
    let ways: [(&'static str, Prepare); 3] = [
        ("as it is", |_, _| Ok(())),
        ("without its snapshots, from the log alone", |copy, _| without_snapshots(copy)),
        ("from the log alone, with the settings of a fresh store", |copy, model| {
            without_snapshots(copy)?;
            fs::copy(model.join("conf"), copy.join("conf"))?;
            remove(&copy.join("blobs"))?;
            fs::create_dir(copy.join("blobs"))
        }),
    ];
    let mut last = None;
    for (how, prepare) in ways {
        open::remove_unfinished(&copy)?;
        open::remove_unfinished(&model)?;
        let failed = |error: io::Error| MaintenanceError::file(&copy, &error);
        copy_dir(&from, &copy).map_err(failed)?;
        drop(open::open_at(&model)?);
        prepare(&copy, &model).map_err(failed)?;
        open::remove_unfinished(&model)?;
        match open::open_at(&copy) {
            Ok(store) => return Ok(Source { store, copy, how }),
            Err(MaintenanceError::Open(error @ (OpenError::InUse { .. } | OpenError::Full { .. }))) => {
                return Err(error.into());
            }
            Err(error) => last = Some(error),
        }
    }
    open::remove_unfinished(&copy)?;
    let why = last.map(|error| error.to_string()).unwrap_or_default();
    Err(MaintenanceError::Refused(format!(
        "nothing can be read of {}: {why}. It was not changed. Import the last export into an empty state directory",
        from.display()
    )))
}

/// Makes a copy readable.
type Prepare = fn(&Path, &Path) -> io::Result<()>;

fn without_snapshots(copy: &Path) -> io::Result<()> {
    for entry in fs::read_dir(copy)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &to)?;
        } else if entry.file_name() != "reserve" {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

//! Files that a killed run left behind: nobody published or removed them.
//!
//! A file that waits is locked by the run that writes it, and the system takes the lock away when
//! that run ends, however it ends. So a file with a free lock belongs to nobody.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The beginning of the name of every file that waits.
pub(super) const PREFIX: &str = ".lookalike-";

/// A younger file may be on its way from its name to its lock.
const YOUNG: Duration = Duration::from_secs(1);

/// Marks a file that waits as one of a run that is alive. Only on Unix: elsewhere a lock would keep
/// the run itself from reading the file back. Where the file system has no locks, files are never
/// called left behind.
pub(super) fn mark(file: &File) {
    #[cfg(unix)]
    let _ = file.lock();
    #[cfg(not(unix))]
    let _ = file;
}

/// The files in a folder that a killed run left behind, by name.
pub(super) fn leftovers(folder: &Path) -> Vec<PathBuf> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_ours = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(is_ours)
        .map(|entry| entry.path())
        .filter(|file| is_left(file))
        .collect();
    found.sort();
    found
}

/// True for a file, not quite new, that nobody has locked.
fn is_left(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|time| time.elapsed().ok());
    about.is_file()
        && age.is_some_and(|age| age > YOUNG)
        && File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok())
}

//! Ctrl-C and its kin: the first during a search ends the search, any other ends the program with nothing left behind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::show;

/// Set to make the search end with what it has.
static CANCEL: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// What becomes of a search that is ended now; none when nothing is searched for.
static SEARCHING: Mutex<Option<&str>> = Mutex::new(None);
/// A file that is written but not yet published.
static UNPUBLISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Listens from now on. Where the caller ignores hang-ups (nohup), nothing is changed; that Ctrl-C is ignored, as by jobs in the
/// background of a script, must not keep us from cleaning up when we are told to end.
pub(crate) fn install() {
    let _ = if ignores_hang_up() { ctrlc::try_set_handler(handle) } else { ctrlc::set_handler(handle) };
}

/// True when the system says so; where it does not say, the caller's choice is left alone.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

#[allow(clippy::exit, reason = "the handler has a thread of its own and cannot return through main")]
fn handle() {
    let searching = *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(what) = searching.filter(|_| !CANCEL.swap(true, Ordering::SeqCst)) {
        show::say(&format!("{what} (once more to give up)"));
        return;
    }
    // The lock is never released: nobody can publish or make another file meanwhile.
    let unpublished = UNPUBLISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*unpublished {
        remove(file);
    }
    show::say("interrupted: nothing was written");
    std::process::exit(i32::from(crate::INTERRUPTED));
}

fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
    if let Some(folder) = file.parent().filter(|folder| is_private(folder)) {
        let _ = std::fs::remove_dir(folder);
    }
}

/// A release for standard output waits in a folder of its own.
fn is_private(folder: &Path) -> bool {
    folder.parent() == Some(std::env::temp_dir().as_path())
        && folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lookalike-"))
}

/// The flag that ends a search.
pub(crate) fn cancel() -> Arc<AtomicBool> {
    Arc::clone(&CANCEL)
}

/// True when somebody asked for the search to end.
pub(crate) fn is_cancelled() -> bool {
    CANCEL.load(Ordering::SeqCst)
}

/// What becomes of a release whose search is ended.
pub(crate) const RELEASE: &str = "stopping the search: what it has so far will be written and verified";
/// What becomes of experiments.
pub(crate) const EXPERIMENTS: &str = "stopping the search: the runs that ended are kept";
/// What becomes of a comparison.
pub(crate) const COMPARISON: &str = "stopping the search: what was compared so far will be told";

/// Runs a search, which the first Ctrl-C ends; `what` says what becomes of it then.
pub(crate) fn during_search<T>(what: &'static str, search: impl FnOnce() -> T) -> T {
    let set = |to| *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner) = to;
    set(Some(what));
    let found = search();
    set(None);
    found
}

/// Runs what comes before a search, which the first Ctrl-C ends; the search then goes on.
pub(crate) fn before_search<T>(first: impl FnOnce() -> T) -> T {
    let found = during_search("stopping to look for the bound: the search goes on", first);
    CANCEL.store(false, Ordering::SeqCst);
    found
}

/// Remembers the file that must go if the program is stopped; none when there is no such file any more.
pub(crate) fn unpublished(file: Option<&Path>) {
    *UNPUBLISHED.lock().unwrap_or_else(PoisonError::into_inner) = file.map(Path::to_path_buf);
}

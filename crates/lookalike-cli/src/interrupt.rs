//! Ctrl-C and other signals: the first one during a search ends the search, any other ends the
//! program, which says truly what was written.

#[cfg(feature = "studio")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use lookalike::run::{Cancel, Stage};
use lookalike::table::{self, PublishedFiles, StdoutState};

use crate::show;

/// Set to end the search with its best result so far.
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);
/// The message when the search that runs is ended; none when no search runs.
static SEARCHING: Mutex<Option<&str>> = Mutex::new(None);

/// Set when everything is verified and only the files need their names.
static FINISHING: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Where the caller ignores hang-ups (nohup), nothing is changed; that Ctrl-C
/// is ignored, as by jobs in the background of a script, must not keep us from cleaning up when we
/// get a signal to end.
pub(crate) fn install() {
    let _ =
        if ignores_hang_up() { ctrlc::try_set_handler(handle) } else { ctrlc::set_handler(handle) };
}

/// True when the system says so; where it does not say, the caller's choice is left alone.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Set while a server runs: Ctrl-C is its usual end.
static SERVING: AtomicBool = AtomicBool::new(false);

/// From now on the program is a server.
#[cfg(feature = "studio")]
pub(crate) fn serving() {
    SERVING.store(true, Ordering::SeqCst);
}

/// The file that opens the browser of a server.
static OPENING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes this file when the program ends.
#[cfg(feature = "studio")]
pub(crate) fn remove_at_end(path: &Path) {
    *OPENING.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_path_buf());
}

/// Removes it now.
pub(crate) fn remove_now() {
    if let Some(path) = OPENING.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = std::fs::remove_file(path);
    }
}

fn handle() {
    if SERVING.load(Ordering::SeqCst) {
        end("ended", 0);
    }
    let searching = *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(what) = searching.filter(|_| CANCEL.end_search()) {
        show::say(&format!("{what} (press again to quit)"));
        return;
    }
    // The program will end in a moment by itself.
    if FINISHING.swap(false, Ordering::SeqCst) {
        return;
    }
    end("interrupted", crate::INTERRUPTED);
}

/// From now on the program needs only moments to its end: the next signal is ignored, the one after
/// ends it.
pub(crate) fn finishing() {
    FINISHING.store(true, Ordering::SeqCst);
}

/// Ends the program from whatever thread, says why and what was written, and leaves nothing else
/// behind.
#[allow(clippy::exit, reason = "a thread beside the main one cannot return through main")]
pub(crate) fn end(why: &str, code: u8) -> ! {
    remove_now();
    let words = format!("{why}: {}", what_is_there(&table::give_up()));
    // A full pipe on standard error must not keep the program from ending.
    let (send, said) = mpsc::channel();
    thread::spawn(move || {
        show::say(&words);
        let _ = send.send(());
    });
    let _ = said.recv_timeout(Duration::from_millis(500));
    std::process::exit(i32::from(code));
}

/// Names the outputs that are complete.
fn what_is_there(written: &PublishedFiles) -> String {
    let files: Vec<String> = written.files.iter().map(|file| show::path(file)).collect();
    let files =
        (!files.is_empty()).then(|| format!("these files are complete: {}", files.join(", ")));
    let stream = match written.stream {
        StdoutState::Nothing => None,
        StdoutState::Part => {
            Some("standard output may have an incomplete result: do not use it".to_string())
        }
        StdoutState::Whole => Some("the whole result is on standard output".to_string()),
    };
    match [stream, files].into_iter().flatten().collect::<Vec<_>>().join("; ") {
        nothing if nothing.is_empty() => "nothing was written".to_string(),
        something => something,
    }
}

/// The flag that ends a search.
pub(crate) fn cancel() -> Arc<AtomicBool> {
    CANCEL.search_flag()
}

/// What Ctrl-C ends in a run of the library.
pub(crate) fn of_run() -> &'static Cancel {
    &CANCEL
}

/// True when the user asked to end the search.
pub(crate) fn is_cancelled() -> bool {
    CANCEL.is_search_ended()
}

/// The message for the bound before a search.
const BOUND: &str = "stopping the lower bound: the search continues";
/// The message for a release.
const RELEASE: &str = "stopping the search: the best release so far will be written and verified";
/// The message for experiments.
pub(crate) const EXPERIMENTS: &str = "stopping the search: finished runs are kept";
/// The message for a comparison.
pub(crate) const COMPARISON: &str = "stopping the search: the results so far will be printed";

/// Runs a search, which the first Ctrl-C ends with this message.
pub(crate) fn during_search<T>(what: &'static str, search: impl FnOnce() -> T) -> T {
    set_searching(Some(what));
    let found = search();
    set_searching(None);
    found
}

/// A run comes to this stage: the first Ctrl-C during a bound or a search ends that alone.
pub(crate) fn entering(stage: Stage) {
    let mut searching = SEARCHING.lock().unwrap_or_else(PoisonError::into_inner);
    *searching = match stage {
        Stage::Search => Some(RELEASE),
        // After a search there is a release to be kept.
        Stage::Bound if *searching == Some(RELEASE) => Some(RELEASE),
        Stage::Bound => Some(BOUND),
        _ => None,
    };
}

fn set_searching(to: Option<&'static str>) {
    *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner) = to;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_was_written_is_said_only_when_nothing_was() {
        let said = |files: &[&str], stream| {
            what_is_there(&PublishedFiles { files: files.iter().map(Into::into).collect(), stream })
        };
        assert_eq!(said(&[], StdoutState::Nothing), "nothing was written");
        assert_eq!(
            said(&["a.csv", "b.toml"], StdoutState::Nothing),
            "these files are complete: a.csv, b.toml"
        );
        assert_eq!(
            said(&["r.toml"], StdoutState::Part),
            "standard output may have an incomplete result: do not use it; these files are complete: \
             r.toml"
        );
        for (files, stream) in [
            (&[][..], StdoutState::Part),
            (&[][..], StdoutState::Whole),
            (&["a.csv"][..], StdoutState::Part),
        ] {
            assert!(!said(files, stream).contains("nothing"), "{files:?} {stream:?}");
        }
    }
}

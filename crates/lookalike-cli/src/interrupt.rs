//! Ctrl-C and its kin: the first during a search ends the search, any other ends the program, which
//! says truly what was written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use lookalike::table::{self, PublishedFiles, StdoutState};

use crate::show;

/// Set to make the search end with what it has.
static CANCEL: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// What becomes of a search that is ended now; none when nothing is searched for.
static SEARCHING: Mutex<Option<&str>> = Mutex::new(None);

/// Set when all is verified and only the names are missing.
static FINISHING: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Where the caller ignores hang-ups (nohup), nothing is changed; that Ctrl-C
/// is ignored, as by jobs in the background of a script, must not keep us from cleaning up when we
/// are told to end.
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

fn handle() {
    let searching = *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(what) = searching.filter(|_| !CANCEL.swap(true, Ordering::SeqCst)) {
        show::say(&format!("{what} (once more to give up)"));
        return;
    }
    // In a moment all is there, and the program ends by itself.
    if FINISHING.swap(false, Ordering::SeqCst) {
        return;
    }
    end("interrupted", crate::INTERRUPTED);
}

/// From now on the program needs only moments to its end: the next signal is let pass, the one
/// after ends it.
pub(crate) fn finishing() {
    FINISHING.store(true, Ordering::SeqCst);
}

/// Ends the program from whatever thread, says why and what was written, and leaves nothing else
/// behind.
#[allow(clippy::exit, reason = "a thread beside the main one cannot return through main")]
pub(crate) fn end(why: &str, code: u8) -> ! {
    let words = format!("{why}: {}", what_is_there(&table::give_up()));
    // Whoever does not read standard error cannot keep the program from ending.
    let (send, said) = mpsc::channel();
    thread::spawn(move || {
        show::say(&words);
        let _ = send.send(());
    });
    let _ = said.recv_timeout(Duration::from_millis(500));
    std::process::exit(i32::from(code));
}

/// In words, what is there of all that the program was to write.
fn what_is_there(written: &PublishedFiles) -> String {
    let files: Vec<String> = written.files.iter().map(|file| show::path(file)).collect();
    let files = (!files.is_empty()).then(|| format!("complete before that: {}", files.join(", ")));
    let stream = match written.stream {
        StdoutState::Nothing => None,
        StdoutState::Part => {
            Some("standard output may have got a part, which is of no use".to_string())
        }
        StdoutState::Whole => Some("all was written to standard output before".to_string()),
    };
    match [stream, files].into_iter().flatten().collect::<Vec<_>>().join("; ") {
        nothing if nothing.is_empty() => "nothing was written".to_string(),
        something => something,
    }
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
pub(crate) const RELEASE: &str =
    "stopping the search: what it has so far will be written and verified";
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
            "complete before that: a.csv, b.toml"
        );
        assert_eq!(
            said(&["r.toml"], StdoutState::Part),
            "standard output may have got a part, which is of no use; complete before that: r.toml"
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

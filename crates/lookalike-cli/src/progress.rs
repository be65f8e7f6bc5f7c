//! The stages of a long run: a line for each on a terminal, and its seconds.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The time between two updates of the line of a long stage.
const OFTEN: Duration = Duration::from_millis(500);

/// The stage that runs, and the seconds of those before it.
#[derive(Debug)]
pub(crate) struct StageProgress {
    visible: bool,
    begun: Instant,
    now: Option<(&'static str, Instant)>,
    times: Vec<(&'static str, f64)>,
}

impl StageProgress {
    /// Prints stages on a terminal, unless `quiet`.
    pub(crate) fn new(quiet: bool) -> StageProgress {
        let visible = !quiet && std::io::stderr().is_terminal();
        StageProgress { visible, begun: Instant::now(), now: None, times: Vec::new() }
    }

    /// Ends the stage that runs and begins the next.
    pub(crate) fn stage(&mut self, name: &'static str) {
        self.end();
        self.now = Some((name, Instant::now()));
        self.show(format_args!("{name:>9} ..."));
    }

    /// Ends the last stage.
    pub(crate) fn end(&mut self) {
        if let Some((name, since)) = self.now.take() {
            let seconds = since.elapsed().as_secs_f64();
            self.times.push((name, seconds));
            self.show(format_args!("\r\x1b[K{name:>9} {:>9}\n", crate::show::seconds(seconds)));
        }
    }

    /// Updates the line of the stage.
    pub(crate) fn at(&self, step: &str) {
        if let Some((name, _)) = self.now {
            self.show(format_args!("\r\x1b[K{name:>9} {step} ..."));
        }
    }

    /// Does the work of a stage and updates its line from time to time.
    pub(crate) fn watching<T>(
        &self,
        line: impl Fn() -> Option<String> + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        if !self.visible {
            return work();
        }
        let (done, waits) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The sender is dropped when the work is done.
                while waits.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                    if let Some(line) = line() {
                        self.at(&line);
                    }
                }
            });
            let _done = done;
            work()
        })
    }

    /// Prints a warning while a stage runs.
    pub(crate) fn warn(&self, what: &str) {
        self.show(format_args!("\r\x1b[K"));
        crate::show::warning(what);
    }

    /// The seconds that each stage took.
    pub(crate) fn times(&self) -> &[(&'static str, f64)] {
        &self.times
    }

    /// The seconds since the beginning.
    pub(crate) fn total(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn show(&self, line: std::fmt::Arguments) {
        if self.visible {
            let mut stderr = std::io::stderr().lock();
            let _ = stderr.write_fmt(line).and_then(|()| stderr.flush());
        }
    }
}

impl Drop for StageProgress {
    fn drop(&mut self) {
        if self.now.is_some() {
            // An error message begins on a line of its own.
            self.show(format_args!("\n"));
        }
    }
}

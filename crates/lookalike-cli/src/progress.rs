//! The stages of a long run: a line for each on a terminal, and its seconds.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lookalike::run::{Event, Progress, Stage};
use lookalike_report::words::bound_sign;

use crate::{hints, interrupt, show};

/// Watches a run of the library: prints its stages and warnings, and says what Ctrl-C does.
#[derive(Debug)]
pub(crate) struct RunProgress {
    stages: Mutex<StageProgress>,
    begun: Instant,
    /// Publishing a file takes moments; the reader of standard output may take any time.
    to_stream: bool,
}

impl RunProgress {
    pub(crate) fn new(quiet: bool, to_stream: bool) -> RunProgress {
        let stages = Mutex::new(StageProgress::new(quiet));
        RunProgress { stages, begun: Instant::now(), to_stream }
    }

    pub(crate) fn event(&self, event: Event<'_>) {
        match event {
            Event::Stage(stage) => {
                interrupt::entering(stage);
                if stage != Stage::Publish {
                    self.stages().stage(stage.name());
                } else if !self.to_stream {
                    interrupt::finishing();
                }
            }
            Event::Warning(warning) => self.stages().warn(&hints::warning(warning)),
            Event::Progress(progress) => self.stages().at(&search_line(&progress)),
            _ => {}
        }
    }

    /// Ends the last stage.
    pub(crate) fn end(&self) {
        self.stages().end();
        if self.to_stream {
            interrupt::finishing();
        }
    }

    /// The seconds since the beginning.
    pub(crate) fn total(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn stages(&self) -> MutexGuard<'_, StageProgress> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line of progress while a search runs.
fn search_line(progress: &Progress) -> String {
    let gap = progress.bound.zip(progress.gap).map_or(String::new(), |(bound, gap)| {
        format!(", bound {}{:.0}, gap {gap:.2}", bound_sign(&bound), bound.value)
    });
    let left = progress
        .left
        .map_or(String::new(), |left| format!(", {} left", show::seconds(left.as_secs_f64())));
    format!("loss {:.0}{gap}{left}", progress.loss)
}

/// The stage that runs.
#[derive(Debug)]
pub(crate) struct StageProgress {
    visible: bool,
    now: Option<(&'static str, Instant)>,
}

impl StageProgress {
    /// Prints stages on a terminal, unless `quiet`.
    pub(crate) fn new(quiet: bool) -> StageProgress {
        let visible = !quiet && std::io::stderr().is_terminal();
        StageProgress { visible, now: None }
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
            self.show(format_args!("\r\x1b[K{name:>9} {:>9}\n", show::seconds(seconds)));
        }
    }

    /// Updates the line of the stage.
    pub(crate) fn at(&self, step: &str) {
        if let Some((name, _)) = self.now {
            self.show(format_args!("\r\x1b[K{name:>9} {step} ..."));
        }
    }

    /// Prints a warning while a stage runs.
    pub(crate) fn warn(&self, what: &str) {
        self.show(format_args!("\r\x1b[K"));
        show::warning(what);
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

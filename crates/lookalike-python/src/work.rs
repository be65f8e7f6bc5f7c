//! A call of Python: the work has a thread and a pool of its own, and the caller waits for it without
//! the interpreter's lock, looking for signals.
//!
//! The pool ends with the call. So `import` starts no thread, a call leaves none, and a process that
//! is forked between two calls works: its next call makes new threads.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lookalike::run::{Cancel, Event, Progress, Stage};
use lookalike::{Error, Result};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::options::{OnInterrupt, Options};
use crate::{errors, hints};

/// How often a waiting caller looks for signals.
const LOOK: Duration = Duration::from_millis(20);

/// How long a caller waits for work that was given up: then it goes on alone, and its result is
/// dropped.
const PATIENCE: Duration = Duration::from_millis(100);

/// What the worker sends to the caller.
enum News<T> {
    Event(Value),
    Stage(Stage),
    End(std::thread::Result<Result<T>>),
}

/// What work may use.
pub(crate) struct Worker<'a> {
    pub(crate) cancel: Cancel,
    /// Gets every event of a run.
    pub(crate) watch: &'a (dyn Fn(Event<'_>) + Sync),
    /// Gets other events, as JSON.
    other: &'a (dyn Fn(Value) + Sync),
}

impl Worker<'_> {
    /// Reports an event of a comparison or a report.
    pub(crate) fn notify(&self, event: &lookalike_report::Event<'_>) {
        (self.other)(match event {
            lookalike_report::Event::Search(step) => json!({
                "event": "search",
                "number": step.number,
                "searches": step.searches,
                "algorithm": step.algorithm.name(),
                "k": step.k,
            }),
            event => match event.warning(hints::words) {
                Some((code, message)) => {
                    json!({ "event": "warning", "code": code, "message": message })
                }
                None => return,
            },
        });
    }
}

/// Does work in threads of its own, and gives its events to a function of Python.
///
/// # Errors
/// Those of the work; `KeyboardInterrupt`, or what another signal's handler or the function raised.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    options: &Options,
    watch: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Worker<'_>) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let cancel = Cancel::default();
    let of_worker = cancel.clone();
    let threads = options.threads.unwrap_or(0);
    let (send, mut receive) = mpsc::channel::<News<T>>();
    let is_watched = watch.is_some();
    let work = move || {
        let found = panic::catch_unwind(AssertUnwindSafe(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| no_threads(&error.to_string()))?;
            let watch = |event: Event<'_>| report(&send, event, is_watched);
            let other = |event| drop(is_watched.then(|| send.send(News::Event(event))));
            let worker = Worker { cancel: of_worker, watch: &watch, other: &other };
            pool.install(|| job(&worker))
        }));
        let _ = send.send(News::End(found));
    };
    let started = std::thread::Builder::new().name("lookalike".into()).spawn(work);
    let started =
        started.map_err(|error| errors::exception(py, &no_threads(&error.to_string())))?;
    let mut waiting = Waiting { cancel, on_interrupt: options.on_interrupt, ..Waiting::default() };
    loop {
        let news;
        (receive, news) = py.detach(move || {
            let news = receive.recv_timeout(LOOK);
            (receive, news)
        });
        if let Err(raised) = py.check_signals() {
            waiting.interrupted(py, raised);
        }
        match news {
            Ok(News::Stage(begun)) => waiting.begin(begun),
            Ok(News::Event(event)) => {
                if let (Some(watch), None) = (watch, &waiting.given_up)
                    && let Err(raised) = watch.call1((event.to_string(),))
                {
                    waiting.interrupted(py, raised);
                }
            }
            Ok(News::End(found)) => {
                // The threads of its pool end soon after it.
                let _ = py.detach(|| started.join());
                return match (waiting.given_up, found) {
                    (Some((_, raised)), _) => Err(raised),
                    (None, Ok(Ok(found))) => Ok(found),
                    (None, Ok(Err(error))) => Err(errors::exception(py, &error)),
                    (None, Err(panic)) => Err(errors::panicked(py, &*panic)),
                };
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the worker of lookalike ended"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        match waiting.given_up {
            Some((since, raised)) if since.elapsed() > PATIENCE => {
                leave(py, started);
                return Err(raised);
            }
            given_up => waiting.given_up = given_up,
        }
    }
}

/// Workers that nobody waits for any more, and the process that has them.
static LEFT: Mutex<Vec<(u32, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// Leaves a worker to itself. It may be in the code of a stream of Python, which needs the interpreter:
/// so the interpreter waits for it before it ends.
fn leave(py: Python<'_>, worker: JoinHandle<()>) {
    let Ok(mut left) = LEFT.lock() else { return };
    left.push((std::process::id(), worker));
    drop(left);
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Ordering::SeqCst) {
        let register = || py.import("atexit")?.getattr("register");
        // Without it, a program that ends at this very moment may end with an abort.
        let _ = register().and_then(|at_exit| at_exit.call1((wrap_pyfunction!(finish, py)?,)));
    }
}

/// Waits until no worker is left; a signal ends the waiting.
#[pyfunction]
fn finish(py: Python<'_>) -> PyResult<()> {
    let left = LEFT.lock().map(|mut left| std::mem::take(&mut *left)).unwrap_or_default();
    for (process, worker) in left {
        if process != std::process::id() {
            // A process that was forked has none of the threads of its parent.
            std::mem::forget(worker);
            continue;
        }
        while !worker.is_finished() {
            py.detach(|| std::thread::sleep(LOOK));
            py.check_signals()?;
        }
    }
    Ok(())
}

/// A caller who waits for work, and what was interrupted of it.
#[derive(Default)]
struct Waiting {
    cancel: Cancel,
    on_interrupt: OnInterrupt,
    stage: Option<Stage>,
    /// The best release so far is to be kept.
    keeps: bool,
    /// Since when nobody wants the result any more, and what is raised.
    given_up: Option<(Instant, PyErr)>,
}

impl Waiting {
    fn begin(&mut self, stage: Stage) {
        self.stage = Some(stage);
        // The bound was ended alone: now there is a search to end.
        if self.keeps && stage == Stage::Search {
            self.cancel.end_search();
        }
    }

    /// Something was raised, by a signal or by the function that gets the events: Ctrl-C may keep the
    /// best release so far; everything else, and a second Ctrl-C, gives the work up.
    fn interrupted(&mut self, py: Python<'_>, raised: PyErr) {
        let is_before = matches!(self.stage, None | Some(Stage::Read | Stage::Encode));
        let is_kept = self.on_interrupt == OnInterrupt::Keep
            && !is_before
            && !self.keeps
            && raised.is_instance_of::<PyKeyboardInterrupt>(py);
        if is_kept {
            self.keeps = true;
            self.cancel.end_search();
        } else if self.given_up.is_none() {
            self.cancel.abandon();
            self.given_up = Some((Instant::now(), raised));
        }
    }
}

/// Sends an event on to the caller.
fn report<T>(to: &Sender<News<T>>, event: Event<'_>, is_watched: bool) {
    // Who waits no more needs no news.
    if let Event::Stage(stage) = event {
        let _ = to.send(News::Stage(stage));
    }
    if is_watched && let Some(event) = object(event) {
        let _ = to.send(News::Event(event));
    }
}

/// An event as JSON.
fn object(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Stage(stage) => Some(json!({ "event": "stage", "stage": stage.name() })),
        Event::Warning(warning) => {
            let (code, message) = (warning.code(), hints::warning(warning));
            Some(json!({ "event": "warning", "code": code, "message": message }))
        }
        Event::Progress(Progress { share, left, loss, bound, gap }) => Some(json!({
            "event": "progress",
            "share": share,
            "left": left.map(|left| left.as_secs_f64()),
            "loss": loss,
            "bound": bound.map(|bound| bound.value),
            "gap": gap,
        })),
        _ => None,
    }
}

fn no_threads(why: &str) -> Error {
    Error::exhausted("no-threads", format!("cannot start threads: {why}"))
}

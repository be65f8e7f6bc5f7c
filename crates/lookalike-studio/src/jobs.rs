//! Long work, one job at a time, in a thread of its own and with workers of its own: a call of the page
//! does not wait behind it. All that a job says is kept, so that a page that is loaded anew hears it from
//! the beginning.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use lookalike::run::{Cancel, Event, Progress, Stage};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::failure::{Answer, Failure};
use crate::state::App;
use crate::words;
use crate::work::{self, Work};

/// A job and all that it said.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    kind: &'static str,
    /// Ends the search, or gives the job up.
    pub(crate) cancel: Cancel,
    /// Ends the measuring of a result that is kept already.
    pub(crate) measuring: Cancel,
    is_running: AtomicBool,
    /// Somebody has asked for the end of the search, perhaps before it began.
    is_stopped: AtomicBool,
    now: Mutex<Now>,
    said: Mutex<Vec<(&'static str, Value)>>,
    /// The number of events so far.
    news: watch::Sender<usize>,
}

/// How far a job is.
#[derive(Debug)]
struct Now {
    stage: &'static str,
    since: Instant,
    /// The time that the stage is given; none where nobody knows.
    limit: Option<Duration>,
    /// The part of the stage that is done, where its steps are counted.
    share: Option<f64>,
    /// The newest event of progress.
    said: Instant,
}

/// A page hears of a job that goes on at least so often.
const OFTEN: Duration = Duration::from_millis(700);

impl Job {
    fn new(id: u64, kind: &'static str) -> Job {
        let begun = Instant::now();
        let now = Now { stage: "start", since: begun, limit: None, share: None, said: begun };
        Job {
            id,
            kind,
            cancel: Cancel::default(),
            measuring: Cancel::default(),
            is_running: AtomicBool::new(true),
            is_stopped: AtomicBool::new(false),
            now: Mutex::new(now),
            said: Mutex::default(),
            news: watch::channel(0).0,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::SeqCst)
    }

    pub(crate) fn view(&self) -> Value {
        let state = if self.is_running() { "running" } else { "done" };
        json!({ "id": self.id, "kind": self.kind, "state": state })
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the search and keeps its best; once there is a result, ends the measuring of it.
    pub(crate) fn stop(&self) {
        if self.now().stage == MEASURE {
            self.measuring.end_search();
            return;
        }
        self.is_stopped.store(true, Ordering::SeqCst);
        self.cancel.end_search();
    }

    /// Gives the job up. A result that is there already stays.
    pub(crate) fn abandon(&self) {
        self.measuring.end_search();
        if self.now().stage != MEASURE {
            self.cancel.abandon();
        }
    }

    /// A stage begins; `limit` is the time that it is given.
    pub(crate) fn stage(&self, stage: &'static str, limit: Option<Duration>) {
        let begun = Instant::now();
        *self.now() = Now { stage, since: begun, limit, share: None, said: begun };
        self.say("stage", json!({ "stage": stage }));
    }

    /// So much of the stage is done.
    pub(crate) fn share(&self, share: f64) {
        self.now().share = Some(share);
        self.tell_progress();
    }

    /// Time, and the share of it or of the steps, for a stage that says nothing by itself.
    fn tell_progress(&self) {
        let mut now = self.now();
        now.said = Instant::now();
        let elapsed = now.since.elapsed();
        let left = now.limit.and_then(|limit| limit.checked_sub(elapsed));
        let of_time = now.limit.map(|limit| elapsed.as_secs_f64() / limit.as_secs_f64().max(0.1));
        let share = now.share.or(of_time.map(|share| share.min(0.99)));
        drop(now);
        self.say(
            "progress",
            json!({
                "share": share, "left": left.map(|left| left.as_secs_f64()),
                "elapsed": elapsed.as_secs_f64(), "loss": null, "bound": null, "gap": null,
            }),
        );
    }

    fn tick(&self) {
        if self.now().said.elapsed() >= OFTEN {
            self.tell_progress();
        }
    }

    pub(crate) fn say(&self, event: &'static str, data: Value) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        // The last event is said by `end`.
        if !self.is_running() {
            return;
        }
        // A page that comes later needs the newest progress alone.
        match said.last_mut() {
            Some(last) if last.0 == "progress" && event == "progress" => {
                *last = (event, data);
                self.news.send_modify(|_| {});
            }
            _ => {
                said.push((event, data));
                self.news.send_replace(said.len());
            }
        }
    }

    /// The last event. Whoever has seen it can start the next job.
    fn end(&self, event: &'static str, data: Value) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push((event, data));
        self.is_running.store(false, Ordering::SeqCst);
        self.news.send_replace(said.len());
    }

    /// The events from one on, and whether there will be more.
    pub(crate) fn since(&self, first: usize) -> (Vec<(&'static str, Value)>, bool) {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        (said[first.min(said.len())..].to_vec(), self.is_running())
    }

    /// Where a reader goes on who has seen so many events: an event of progress at the end may be
    /// replaced by a newer one.
    pub(crate) fn open_from(&self, seen: usize) -> usize {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = seen > 0 && said.get(seen - 1).is_some_and(|last| last.0 == "progress");
        if is_open && self.is_running() { seen - 1 } else { seen }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<usize> {
        self.news.subscribe()
    }

    /// News of the run: losses as shares of the detail, `scale` is the loss of a table without any;
    /// `limit` is the time of the search.
    pub(crate) fn event(&self, event: Event<'_>, scale: f64, limit: Duration) {
        match event {
            Event::Stage(stage) => {
                let limit = match stage {
                    Stage::Search => Some(limit),
                    // As the run gives it.
                    Stage::Bound => Some(limit / 5),
                    _ => None,
                };
                self.stage(stage.name(), limit);
                // The end of the bound alone was not what somebody wanted who said stop.
                if stage == Stage::Search && self.is_stopped.load(Ordering::SeqCst) {
                    self.cancel.end_search();
                }
            }
            Event::Warning(warning) => {
                self.say("warning", json!({ "message": warning.message(words::hint) }));
            }
            Event::Progress(now) => {
                self.now().said = Instant::now();
                self.say("progress", progress(&now, scale));
            }
            _ => {}
        }
    }
}

/// The stage after a result is kept.
pub(crate) const MEASURE: &str = "measure";

fn progress(now: &Progress, scale: f64) -> Value {
    json!({
        "share": now.share, "left": now.left.map(|left| left.as_secs_f64()), "elapsed": null,
        "loss": now.loss / scale, "bound": now.bound.map(|bound| bound.value / scale), "gap": now.gap,
    })
}

/// Starts a job, unless another one runs.
pub(crate) fn start(app: &Arc<App>, work: Work) -> Answer<u64> {
    let mut state = app.state();
    if state.job.as_ref().is_some_and(|job| job.is_running()) {
        let why = "another job runs: stop it, or wait for its end";
        return Err(Failure::new(StatusCode::CONFLICT, "busy", why));
    }
    let project = state.project()?;
    project.check_unchanged(None)?;
    if project.is_table_changed() {
        let why = "the table was changed on disk after it was read: read it again";
        return Err(Failure::new(StatusCode::CONFLICT, "table-changed", why));
    }
    state.next_job += 1;
    let job = Arc::new(Job::new(state.next_job, work.name()));
    state.job = Some(Arc::clone(&job));
    drop(state);
    let id = job.id;
    let ticking = Arc::clone(&job);
    std::thread::spawn(move || {
        while ticking.is_running() {
            std::thread::sleep(Duration::from_millis(250));
            ticking.tick();
        }
    });
    let app = Arc::clone(app);
    std::thread::spawn(move || {
        let work = || with_workers(|| work::done(&app, &job, &work));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let done = done.unwrap_or_else(|_| {
            let why = "the program made a mistake here: nothing was written";
            Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", why))
        });
        match done {
            Ok(result) => job.end("done", result),
            Err(failure) => job.end("failed", json!({ "error": failure.json() })),
        }
        app.tell("job", json!({ "id": job.id, "state": "done" }).to_string());
    });
    Ok(id)
}

/// Workers of the job alone: those that all calls share would be busy with it.
fn with_workers<T: Send>(work: impl FnOnce() -> Answer<T> + Send) -> Answer<T> {
    let threads = rayon::current_num_threads();
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => Err(Failure::bad("the system gives no threads: end other programs, try again")),
    }
}

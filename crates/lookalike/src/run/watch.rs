//! Who watches a run: events while it goes on, and a way to end it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result, Warning};
use crate::problem::bound::Bound;
use crate::search::budget::Budget;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The table is read.
    Read,
    /// Texts become codes; the request is checked against the cells.
    Encode,
    /// The lower bound on the loss: before a long search, or after a short one.
    Bound,
    /// The search for the recoding.
    Search,
    /// A recoding from a file is applied to the rows.
    Apply,
    /// The release is written where nobody looks for it.
    Write,
    /// The release is read back and audited.
    Verify,
    /// The release gets its name. It takes moments, but for a slow reader of standard output.
    Publish,
}

impl Stage {
    /// The name in reports, such as `encode`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Encode => "encode",
            Stage::Bound => "bound",
            Stage::Search => "search",
            Stage::Apply => "apply",
            Stage::Write => "write",
            Stage::Verify => "verify",
            Stage::Publish => "publish",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// News of a run. [`Event::Progress`] comes from another thread than the others, about twice a
/// second.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins; the one before has ended.
    Stage(Stage),
    /// A warning about the request, the table or the release. All of them are in the report, too.
    Warning(&'a Warning),
    /// The state of the search.
    Progress(Progress),
}

/// The state of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The share of the time limit that has passed, from 0 to 1; none without a limit.
    pub share: Option<f64>,
    /// The time until the limit; none without one.
    pub left: Option<Duration>,
    /// The loss (NCP) of the best release so far.
    pub loss: f64,
    /// The lower bound on the loss, where it is known before the search.
    pub bound: Option<Bound>,
    /// The loss as a multiple of that bound.
    pub gap: Option<f64>,
}

/// Ends a search or a whole run from another thread. Clones share their state.
///
/// # Example
/// ```
/// use lookalike::run::{Cancel, Run};
/// use lookalike::{ErrorKind, Request, table};
///
/// let cancel = Cancel::default();
/// cancel.abandon(); // another thread would do this
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let error = Run::new(&request).cancel(&cancel).in_memory(source).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Interrupted);
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    search: Arc<AtomicBool>,
    run: Arc<AtomicBool>,
}

impl Cancel {
    /// Ends the search that runs: the best release so far is written, verified and published. The
    /// bound before a search is ended alone, and the search goes on. Returns false when the same
    /// was asked for before.
    pub fn end_search(&self) -> bool {
        !self.search.swap(true, Ordering::SeqCst)
    }

    /// Gives the whole run up: it ends soon with [`ErrorKind::Interrupted`], and nothing is
    /// published.
    ///
    /// [`ErrorKind::Interrupted`]: crate::ErrorKind::Interrupted
    pub fn abandon(&self) {
        self.run.store(true, Ordering::SeqCst);
        self.search.store(true, Ordering::SeqCst);
    }

    /// True when the search was ended or the run given up.
    pub fn is_search_ended(&self) -> bool {
        self.search.load(Ordering::SeqCst)
    }

    /// True when the run was given up.
    pub fn is_abandoned(&self) -> bool {
        self.run.load(Ordering::SeqCst)
    }

    /// The flag that ends a search, for a [`Budget`].
    pub fn search_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.search)
    }

    /// The flag that gives a run up.
    pub(super) fn run_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.run)
    }

    /// The next search goes on even where the step before it was ended.
    pub(super) fn resume(&self) {
        self.search.store(false, Ordering::SeqCst);
        // Somebody may have given the run up just before.
        if self.is_abandoned() {
            self.search.store(true, Ordering::SeqCst);
        }
    }

    /// # Errors
    /// [`Interrupted`](crate::ErrorKind::Interrupted) when the run was given up.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_abandoned() { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// A function that is called with every event.
pub(super) type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// The time between two reports of a search.
const OFTEN: Duration = Duration::from_millis(500);

/// The stage that runs, the seconds of those before it, and who wants to know.
pub(super) struct Clock<'a> {
    watch: Option<Watch<'a>>,
    now: Option<(Stage, Instant)>,
    times: Vec<(Stage, f64)>,
}

impl<'a> Clock<'a> {
    pub(super) fn new(watch: Option<Watch<'a>>) -> Clock<'a> {
        Clock { watch, now: None, times: Vec::new() }
    }

    /// Ends the stage that runs and begins the next.
    pub(super) fn stage(&mut self, stage: Stage) {
        self.end();
        self.now = Some((stage, Instant::now()));
        self.say(Event::Stage(stage));
    }

    /// The seconds of the stages that have ended, in their order.
    pub(super) fn times(&self) -> Vec<(Stage, f64)> {
        self.times.clone()
    }

    pub(super) fn end(&mut self) {
        if let Some((stage, since)) = self.now.take() {
            self.times.push((stage, since.elapsed().as_secs_f64()));
        }
    }

    pub(super) fn say(&self, event: Event<'_>) {
        if let Some(watch) = self.watch {
            watch(event);
        }
    }

    /// Makes a search and reports its state from time to time.
    pub(super) fn during<T>(
        &self,
        budget: &Budget,
        bound: Option<Bound>,
        search: impl FnOnce() -> T,
    ) -> T {
        let Some(watch) = self.watch else { return search() };
        let (done, waits) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The sender is dropped when the search is done.
                while waits.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                    if let Some(progress) = progress(budget, bound) {
                        watch(Event::Progress(progress));
                    }
                }
            });
            let _done = done;
            search()
        })
    }
}

/// The state of the search under a budget; none before it has found a release.
fn progress(budget: &Budget, bound: Option<Bound>) -> Option<Progress> {
    let loss = budget.reported_loss()?;
    let left = budget.left();
    Some(Progress {
        share: left.map(|_| budget.share()),
        left,
        loss,
        bound,
        gap: bound.and_then(|bound| bound.gap(loss)),
    })
}

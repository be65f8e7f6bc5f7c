//! One run: a search on a table, its losses, its time, its answers to queries. A run that was stored
//! is read, not made again.
//!
//! Every search has one thread, as the papers' had: times of searches that share their work among
//! threads in different ways could not be compared. A search that takes less than a second is made
//! three times, and the shortest time counts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lookalike::evaluate::loss::loss;
use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::run::audit_outcome;
use lookalike::{
    Algorithm, Budget, Error, ErrorKind, Outcome, Problem, Request, SearchOptions, Status, solve,
};

use lookalike_report::compare::request_for;

use crate::Event;
use crate::data::Data;
use crate::store::{RunNumbers, Store};

/// Why the experiments ended early.
#[derive(Debug)]
pub enum Stop {
    /// The cancel flag was set.
    Interrupted,
    /// A release failed the audit: a bug of this program. Algorithm, table and what is wrong.
    Broken(String),
    /// A table or a file is wrong.
    Failed(Error),
}

impl Stop {
    /// The hierarchies of the experiments are part of this crate: a value that they lack is an
    /// error of the table.
    pub(crate) fn of_table(self) -> Stop {
        let Stop::Failed(error) = &self else { return self };
        if error.kind() != ErrorKind::Hierarchy {
            return self;
        }
        let why = error.reason().split(": ").next().unwrap_or_default();
        let why = format!("this is not Adult as UCI publishes it: {why}; fetch it again");
        Stop::Failed(Error::data("wrong-lab-table", why))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// The result of experiments.
pub type Outcomes<T> = std::result::Result<T, Stop>;

/// The seed of every search, table and query.
pub(crate) const SEED: u64 = 1;
/// Searches shorter than this are made again.
const SHORT: f64 = 1.0;

/// Makes and stores runs.
pub(crate) struct Lab<'a> {
    pub(crate) quick: bool,
    cancel: &'a Arc<AtomicBool>,
    notify: &'a dyn Fn(Event<'_>),
    store: Store,
    /// Runs that were made now, and runs that were stored before.
    pub(crate) counts: Cell<(u64, u64)>,
    one_thread: rayon::ThreadPool,
    drawn: RefCell<BTreeMap<String, Vec<Query>>>,
}

/// The question of one run.
#[derive(Debug)]
pub(crate) struct Experiment<'a> {
    pub(crate) paper: &'static str,
    pub(crate) data: &'a Data,
    pub(crate) request: Request,
    pub(crate) search: SearchOptions,
    pub(crate) time: Option<Duration>,
    /// The name of each mean query error, and its queries.
    pub(crate) workloads: Vec<(String, Workload)>,
}

impl<'a> Experiment<'a> {
    /// A run without a time limit and without queries.
    pub(crate) fn new(
        paper: &'static str,
        data: &'a Data,
        request: Request,
        algorithm: Algorithm,
    ) -> Experiment<'a> {
        Experiment {
            paper,
            data,
            request,
            search: SearchOptions::new(algorithm, SEED),
            time: None,
            workloads: Vec::new(),
        }
    }
}

impl<'a> Lab<'a> {
    /// With the runs of a folder.
    pub(crate) fn new(
        quick: bool,
        folder: &Path,
        cancel: &'a Arc<AtomicBool>,
        notify: &'a dyn Fn(Event<'_>),
    ) -> Outcomes<Lab<'a>> {
        let store = Store::new(&folder.join("runs"))?;
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one_thread = one_thread.map_err(|error| {
            Error::exhausted("no-threads", format!("cannot start a thread: {error}"))
        })?;
        let (counts, drawn) = (Cell::default(), RefCell::default());
        Ok(Lab { quick, cancel, notify, store, counts, one_thread, drawn })
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::SeqCst)
    }

    /// The first of two where everything is measured, the second where it must be quick.
    pub(crate) fn choose<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The numbers of a run.
    pub(crate) fn run(&self, experiment: &Experiment) -> Outcomes<RunNumbers> {
        let request = request_for(&experiment.request, experiment.search.algorithm, SEED);
        let what = [
            experiment.data.fingerprint.clone(),
            written(&request),
            format!("{:?} {:?} {:?}", experiment.search, experiment.time, experiment.workloads),
        ];
        let k = request.k.map_or(String::new(), |k| format!(", k = {k}"));
        let label = format!(
            "{}, {} columns, {}{k}",
            experiment.data.name,
            request.columns.len(),
            experiment.search.algorithm
        );
        self.kept(experiment.paper, &label, &what.join(" | "), || {
            self.measure(experiment, &request)
        })
    }

    /// The numbers of any measurement: those that were kept, or new ones.
    pub(crate) fn kept(
        &self,
        paper: &str,
        label: &str,
        what: &str,
        work: impl FnOnce() -> Outcomes<RunNumbers>,
    ) -> Outcomes<RunNumbers> {
        let pace = if self.quick { "quick" } else { "full" };
        let key = format!(
            "lookalike {} | {paper} | {pace} | {label} | {what}",
            env!("CARGO_PKG_VERSION")
        );
        let (made, there) = self.counts.get();
        if let Some(numbers) = self.store.get(&key) {
            self.counts.set((made, there + 1));
            return Ok(numbers);
        }
        (self.notify)(Event::Run(&format!("run {}: {label}", made + there + 1)));
        let numbers = work()?;
        // The result of a stopped search is worth nothing.
        if self.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        self.store.put(&key, &numbers)?;
        self.counts.set((made + 1, there));
        // As they will be read: a number may lose its last digit on the way through a file.
        Ok(self.store.get(&key).unwrap_or(numbers))
    }

    fn measure(&self, experiment: &Experiment, request: &Request) -> Outcomes<RunNumbers> {
        if self.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let names: Vec<String> =
            experiment.data.table.columns().iter().map(|column| column.name.clone()).collect();
        let roles = request.roles(&names)?;
        let problem = match Problem::new(&experiment.data.table, &roles, request) {
            Ok(problem) => problem,
            Err(error) if error.is_infeasible() => {
                return Ok(RunNumbers::from([("infeasible".to_string(), 1.0)]));
            }
            Err(error) => return Err(error.into()),
        };
        let (outcome, seconds) = self.search(&problem, experiment);
        if self.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let mut numbers = numbers(&problem, &outcome);
        numbers.insert("seconds".to_string(), seconds);
        let audited =
            audit_outcome(&experiment.data.table, &roles, request, &problem, &outcome, SEED)?;
        if !audited.broken.is_empty() {
            return Err(Stop::Broken(format!(
                "{} on {}: {}",
                experiment.search.algorithm, experiment.data.name, audited.broken
            )));
        }
        for (name, workload) in audited.released.iter().flat_map(|_| &experiment.workloads) {
            let queries = self.queries(experiment, request, workload)?;
            let released = audited.released.as_ref().expect("asked only then");
            let answers = query::answer(&experiment.data.table, released, request, &queries)?;
            numbers
                .extend(query::summarize(&answers).mean_error.map(|error| (name.clone(), error)));
        }
        Ok(numbers)
    }

    /// The outcome, and the seconds of the search.
    fn search(&self, problem: &Problem, experiment: &Experiment) -> (Outcome, f64) {
        let once = || {
            let budget = Budget::new(experiment.time, Arc::clone(self.cancel));
            let begun = Instant::now();
            let outcome = self.one_thread.install(|| solve(problem, experiment.search, &budget));
            (outcome, begun.elapsed().as_secs_f64())
        };
        let (outcome, mut seconds) = once();
        if seconds < SHORT && outcome.status != Status::Stopped {
            seconds = seconds.min(once().1).min(once().1);
        }
        (outcome, seconds)
    }

    /// Draws queries once for all releases of a table.
    fn queries(
        &self,
        experiment: &Experiment,
        request: &Request,
        workload: &Workload,
    ) -> Outcomes<Vec<Query>> {
        let key = format!("{} {workload:?}", experiment.data.fingerprint);
        if let Some(queries) = self.drawn.borrow().get(&key) {
            return Ok(queries.clone());
        }
        let queries = query::draw(&experiment.data.table, request, workload)?;
        self.drawn.borrow_mut().insert(key, queries.clone());
        Ok(queries)
    }
}

/// Losses, and the optimum of an exact search. Numbers that are not finite are not stored.
fn numbers(problem: &Problem, outcome: &Outcome) -> RunNumbers {
    let loss = loss(problem, &outcome.recoding);
    #[allow(clippy::cast_precision_loss, reason = "counts of rows and nodes, for pictures")]
    let real = |number: u64| number as f64;
    let mut found = vec![
        ("ncp", loss.ncp),
        ("gcp", loss.gcp),
        ("c_dm", real(loss.c_dm)),
        ("hdm", loss.hdm),
        ("distortion", loss.distortion),
        ("classes", real(outcome.recoding.classes().len() as u64)),
        ("stopped", f64::from(u8::from(outcome.status == Status::Stopped))),
    ];
    if let Some(optimum) = &outcome.optimum {
        found.extend([
            ("value", optimum.value),
            ("bound", optimum.bound),
            ("nodes", real(optimum.nodes)),
        ]);
        found.push(("proven", f64::from(u8::from(optimum.is_proven))));
    }
    found
        .into_iter()
        .filter(|(_, number)| number.is_finite())
        .map(|(name, number)| (name.to_string(), number))
        .collect()
}

/// The request as text, with its hierarchies.
fn written(request: &Request) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

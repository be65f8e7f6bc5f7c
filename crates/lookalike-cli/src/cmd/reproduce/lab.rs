//! One run: a search on a table, its losses, its time, its answers to queries; taken from the store
//! when it is there.
//!
//! Every search has one thread, as the papers' had: times of searches that share their work among
//! threads in different ways could not be compared. A search that takes less than a second is made
//! three times, and the shortest time counts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lookalike::evaluate::loss::loss;
use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::request::HierarchySpec;
use lookalike::run::audit_outcome;
use lookalike::{
    Algorithm, Budget, Error, Outcome, Problem, Request, SearchOptions, Status, solve,
};

use super::data::Data;
use super::store::{Numbers, Store};
use crate::cmd::write_text;
use crate::progress::Progress;
use crate::request::usage;
use crate::{interrupt, measure};

/// Why experiments end before their end.
#[derive(Debug)]
pub(super) enum Stop {
    /// Somebody wants it.
    Interrupted,
    /// A release did not hold: a bug of this program.
    Broken(String),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

pub(super) type Outcomes<T> = std::result::Result<T, Stop>;

/// All lots are drawn from here.
pub(super) const SEED: u64 = 1;
/// Searches shorter than this are made again.
const SHORT: f64 = 1.0;

/// Where runs are made.
#[derive(Debug)]
pub(super) struct Lab<'a> {
    pub(super) quick: bool,
    /// Where the taxonomies of Adult are written to.
    hierarchies: PathBuf,
    progress: &'a Progress,
    store: Store,
    /// How many runs were made and how many were there.
    pub(super) counts: Cell<(u64, u64)>,
    one_thread: rayon::ThreadPool,
    drawn: RefCell<BTreeMap<String, Vec<Query>>>,
}

/// What a run is about.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) paper: &'static str,
    pub(super) data: &'a Data,
    pub(super) request: Request,
    pub(super) search: SearchOptions,
    pub(super) time: Option<Duration>,
    /// Queries to ask the release, and what their mean error is called.
    pub(super) workloads: Vec<(String, Workload)>,
}

impl<'a> Job<'a> {
    /// A run that ends by itself and is asked nothing.
    pub(super) fn new(
        paper: &'static str,
        data: &'a Data,
        request: Request,
        algorithm: Algorithm,
    ) -> Job<'a> {
        Job {
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
    /// With the runs and hierarchies of a folder.
    pub(super) fn new(quick: bool, folder: &Path, progress: &'a Progress) -> Outcomes<Lab<'a>> {
        let (hierarchies, store) = (folder.join("hierarchies"), Store::new(&folder.join("runs"))?);
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one_thread =
            one_thread.map_err(|error| usage(format!("no thread can be started: {error}")))?;
        let (counts, drawn) = (Cell::default(), RefCell::default());
        Ok(Lab { quick, hierarchies, progress, store, counts, one_thread, drawn })
    }

    /// The first of two where everything is measured, the second where it must be quick.
    pub(super) fn choose<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A hierarchy file of this name with this text.
    pub(super) fn hierarchy(&self, name: &str, text: &str) -> Outcomes<HierarchySpec> {
        let path = self.hierarchies.join(name);
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
            write_text(&path, lookalike::table::Existing::Overwrite, text)?;
        }
        Ok(HierarchySpec::File(path))
    }

    /// The numbers of a run.
    pub(super) fn run(&self, job: &Job) -> Outcomes<Numbers> {
        let request = measure::asking_for(&job.request, job.search.algorithm, SEED);
        let what = [
            job.data.fingerprint.clone(),
            written(&request),
            format!("{:?} {:?} {:?}", job.search, job.time, job.workloads),
        ];
        let k = request.k.map_or(String::new(), |k| format!(", k = {k}"));
        let label = format!(
            "{}, {} columns, {}{k}",
            job.data.name,
            request.columns.len(),
            job.search.algorithm
        );
        self.kept(job.paper, &label, &what.join(" | "), || self.measure(job, &request))
    }

    /// The numbers of any measurement: those that were kept, or new ones.
    pub(super) fn kept(
        &self,
        paper: &str,
        label: &str,
        what: &str,
        work: impl FnOnce() -> Outcomes<Numbers>,
    ) -> Outcomes<Numbers> {
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
        self.progress.at(&format!("run {}: {label}", made + there + 1));
        let numbers = work()?;
        // What a stopped search found says nothing.
        if interrupt::is_cancelled() {
            return Err(Stop::Interrupted);
        }
        self.store.put(&key, &numbers)?;
        self.counts.set((made + 1, there));
        // As they will be read: a number may lose its last digit on the way through a file.
        Ok(self.store.get(&key).unwrap_or(numbers))
    }

    fn measure(&self, job: &Job, request: &Request) -> Outcomes<Numbers> {
        if interrupt::is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let names: Vec<String> =
            job.data.table.columns().iter().map(|column| column.name.clone()).collect();
        let roles = request.roles(&names)?;
        let problem = match Problem::new(&job.data.table, &roles, request) {
            Ok(problem) => problem,
            Err(error) if error.is_infeasible() => {
                return Ok(Numbers::from([("infeasible".to_string(), 1.0)]));
            }
            Err(error) => return Err(error.into()),
        };
        let (outcome, seconds) = self.search(&problem, job);
        if interrupt::is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let mut numbers = numbers(&problem, &outcome);
        numbers.insert("seconds".to_string(), seconds);
        let judged = audit_outcome(&job.data.table, &roles, request, &problem, &outcome, SEED)?;
        if !judged.broken.is_empty() {
            return Err(Stop::Broken(format!(
                "{} on {}: {}",
                job.search.algorithm, job.data.name, judged.broken
            )));
        }
        for (name, workload) in judged.released.iter().flat_map(|_| &job.workloads) {
            let queries = self.queries(job, request, workload)?;
            let released = judged.released.as_ref().expect("asked only then");
            let answers = query::answer(&job.data.table, released, request, &queries)?;
            numbers
                .extend(query::summarize(&answers).mean_error.map(|error| (name.clone(), error)));
        }
        Ok(numbers)
    }

    /// What was found, and the seconds.
    fn search(&self, problem: &Problem, job: &Job) -> (Outcome, f64) {
        let once = || {
            let budget = Budget::new(job.time, interrupt::cancel());
            let begun = Instant::now();
            let outcome = self.one_thread.install(|| solve(problem, job.search, &budget));
            (outcome, begun.elapsed().as_secs_f64())
        };
        let (outcome, mut seconds) = once();
        if seconds < SHORT && outcome.status != Status::Stopped {
            seconds = seconds.min(once().1).min(once().1);
        }
        (outcome, seconds)
    }

    /// Draws queries once for all releases of a table.
    fn queries(&self, job: &Job, request: &Request, workload: &Workload) -> Outcomes<Vec<Query>> {
        let key = format!("{} {workload:?}", job.data.fingerprint);
        if let Some(queries) = self.drawn.borrow().get(&key) {
            return Ok(queries.clone());
        }
        let queries = query::draw(&job.data.table, request, workload)?;
        self.drawn.borrow_mut().insert(key, queries.clone());
        Ok(queries)
    }
}

/// Losses, and what an exact search says of itself. What is not finite is left out.
fn numbers(problem: &Problem, outcome: &Outcome) -> Numbers {
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

/// The request as text; hierarchy files by their names, wherever the folder is.
fn written(request: &Request) -> String {
    let mut request = request.clone();
    for column in request.columns.values_mut() {
        if let Some(HierarchySpec::File(path)) = &mut column.hierarchy {
            *path = path.file_name().map(PathBuf::from).unwrap_or_default();
        }
    }
    serde_json::to_string(&request).unwrap_or_default()
}

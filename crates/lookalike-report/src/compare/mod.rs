//! Algorithms, values of k and sets of rules on one table: loss, bound, time and query errors of each
//! search. No release is written; each is audited in memory.

mod measure;
mod output;
mod plots;
mod purpose;

use lookalike::problem::row_count;
use lookalike::run::{Cancel, Effort, search_options};
use lookalike::search::global::Techniques;
use lookalike::table::Table;
use lookalike::{Algorithm, Error, Hint, Request, Result};
use serde_json::Value;

use crate::Event;
pub(crate) use measure::without_kept;
pub use measure::{ComparedRun, ReleaseNumbers, RunResult, read};
pub use purpose::{PurposeResult, Spread};

/// One set of rules.
#[derive(Clone, Debug)]
pub struct RuleSet {
    /// Its name in the results; may be empty where there is one set.
    pub name: String,
    /// Roles, rules and limits; its algorithm and its k are ignored.
    pub request: Request,
    /// The values of k, at least one; `None` is a set without the rule k.
    pub ks: Vec<Option<u64>>,
}

/// The searches to make for every set of rules.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// The algorithms, in the order of the results.
    pub algorithms: Vec<Algorithm>,
    /// The techniques of `optimal`.
    pub techniques: Techniques,
    /// The effort for the lower bounds.
    pub bound: Effort,
    /// The seed of searches and queries: nothing is published that it could disclose.
    pub seed: u64,
    /// The number of random counts for each release; 0 for none.
    pub queries: u64,
}

/// The usual algorithms, a quick bound, seed 1 and 1,000 queries.
impl Default for ComparePlan {
    fn default() -> ComparePlan {
        ComparePlan {
            algorithms: usual_algorithms(),
            techniques: Techniques::default(),
            bound: Effort::default(),
            seed: SEED,
            queries: 1_000,
        }
    }
}

/// The default seed.
const SEED: u64 = 1;

/// The results of all searches that were made.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One for each set of rules, k and algorithm, in this order.
    pub runs: Vec<ComparedRun>,
    /// Rows of the table.
    pub rows: u64,
    /// The number of queries that were asked for.
    pub queries: u64,
}

impl Comparison {
    /// The JSON object of `compare`, without the seed: who has it can repeat the random choices.
    /// `words` writes hints.
    pub fn json(&self, words: impl Fn(&Hint) -> String) -> Value {
        output::json(self, &words)
    }

    /// The results as CSV: a line for each run; unknown numbers are empty.
    pub fn csv(&self, words: impl Fn(&Hint) -> String) -> String {
        output::csv(&self.runs, &words)
    }
}

/// Every homogeneous local algorithm without the `-row` variants.
pub fn usual_algorithms() -> Vec<Algorithm> {
    let is_usual = |algorithm: &Algorithm| {
        algorithm.is_homogeneous() && !algorithm.is_global() && !algorithm.name().ends_with("-row")
    };
    Algorithm::ALL.into_iter().filter(is_usual).collect()
}

/// The same request for one of the algorithms, with a seed: a measurement can be repeated.
pub fn request_for(request: &Request, algorithm: Algorithm, seed: u64) -> Request {
    let non_homogeneous = !algorithm.is_homogeneous();
    Request {
        algorithm: Some(algorithm.name().to_string()),
        non_homogeneous,
        seed: Some(seed),
        ..request.clone()
    }
}

/// Refuses requests that make no sense, before a table is read.
///
/// # Errors
/// [`Request`](lookalike::ErrorKind::Request) then.
pub fn check_sets(sets: &[RuleSet], plan: &ComparePlan) -> Result<()> {
    for set in sets {
        set.request.suppress()?;
        set.request.time()?;
        for &algorithm in &plan.algorithms {
            let request = request_for(&set.request, algorithm, plan.seed);
            search_options(&request, plan.seed, plan.techniques)?;
        }
    }
    Ok(())
}

/// Makes all searches on a table that [`read`] gave. When [`Cancel::end_search`] is called, the
/// results so far are returned.
///
/// On Linux the peak of the program's memory is reset before each search, to measure that search.
///
/// # Example
/// ```
/// use lookalike::{Algorithm, Hint, Request, table};
/// use lookalike_report::compare::{ComparePlan, RuleSet, compare, plots, read};
///
/// let request = Request::new(2).quasi_identifiers(["age"]);
/// let sets = [RuleSet { name: String::new(), request, ks: vec![Some(2), Some(3)] }];
/// let algorithms = vec![Algorithm::Mondrian, Algorithm::Cluster];
/// let plan = ComparePlan { algorithms, queries: 10, ..ComparePlan::default() };
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "t".as_ref())?;
/// let table = read(source, &sets)?;
/// let found = compare(&table, &sets, &plan, &Default::default(), &|_| {})?;
/// assert_eq!(found.runs.len(), 4);
/// assert_eq!(found.json(Hint::words)["runs"][3]["algorithm"], "cluster");
/// assert_eq!(plots(&sets, &plan, &found)[0].0, "loss-by-k.svg");
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a set does not fit the table, and [`Interrupted`](lookalike::ErrorKind::Interrupted) after
/// [`Cancel::abandon`]. Rules that no release can satisfy are a result.
pub fn compare(
    table: &Table,
    sets: &[RuleSet],
    plan: &ComparePlan,
    cancel: &Cancel,
    notify: &dyn Fn(Event<'_>),
) -> Result<Comparison> {
    check_sets(sets, plan)?;
    let runs = measure::measure(table, sets, plan, cancel, notify)?;
    if cancel.is_abandoned() {
        return Err(Error::interrupted());
    }
    let rows = match sets.first() {
        Some(set) => row_count(table, &set.request)?,
        None => table.rows() as u64,
    };
    Ok(Comparison { runs, rows, queries: plan.queries })
}

/// The plots that have points, as file name and SVG: loss by k, gap by k, time by loss, for each set
/// of rules.
pub fn plots(sets: &[RuleSet], plan: &ComparePlan, found: &Comparison) -> Vec<(String, String)> {
    plots::draw(sets, &plan.algorithms, &found.runs)
}

/// The names of all plots that [`plots`](fn@plots) may draw.
pub fn plot_names(sets: &[RuleSet]) -> Vec<String> {
    plots::names(sets)
}

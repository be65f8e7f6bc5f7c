//! A search that ends in time, even where one of its steps does not.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::error::{Error, Hint, Result};
use crate::numbers::counted;
use crate::problem::Problem;
use crate::request::Persons;
use crate::search::budget::Budget;
use crate::search::{Algorithm, Outcome, SearchOptions, from_kept, solve};

use super::watch::Cancel;

/// A search that is overdue by this much is no longer waited for, if it has kept a release.
const PATIENCE: Duration = Duration::from_millis(800);

/// One that has kept none is waited for longer: it may be putting together what it has, which takes
/// time for each tuple.
const PATIENCE_PER_TUPLE: Duration = Duration::from_micros(100);

/// As [`solve`], but it returns even where a search does not: soon after the budget is spent, with
/// the best release that was found until then. The search has threads of its own, which go on by
/// themselves in that case.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use lookalike::run::solve_in_time;
/// use lookalike::table::{Treatment, open_text};
/// use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions};
///
/// # fn main() -> lookalike::Result<()> {
/// let source = open_text("age,sex\n34,f\n36,f\n51,m\n58,m\n".into(), "people.csv".as_ref())?;
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'")?;
/// let roles = request.roles(source.names())?;
/// let table = source.read(&[Treatment::Code; 2])?;
/// let problem = Arc::new(Problem::new(&table, &roles, &request)?);
/// let budget = Budget::new(Some(Duration::from_secs(5)), Arc::default());
/// let outcome = solve_in_time(&problem, SearchOptions::new(Algorithm::Auto, 1), &budget)?;
/// assert_eq!(outcome.recoding.classes().len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Exhausted`](crate::ErrorKind::Exhausted) when nothing was found until then; when a global
/// recoding is asked for and persons change over their rows.
pub fn solve_in_time(
    problem: &Arc<Problem>,
    search: SearchOptions,
    budget: &Budget,
) -> Result<Outcome> {
    solve_for_run(problem, search, budget, &Cancel::default())
}

/// The same for a run, which nobody waits for any more once it was given up: the search is left to
/// itself, and ends when it looks at its budget.
///
/// # Errors
/// As [`solve_in_time`], and [`Interrupted`](crate::ErrorKind::Interrupted) then.
pub(super) fn solve_for_run(
    problem: &Arc<Problem>,
    search: SearchOptions,
    budget: &Budget,
    cancel: &Cancel,
) -> Result<Outcome> {
    if search.algorithm.is_global() {
        refuse_changing(problem)?;
    }
    let failed = |why: String| {
        Error::exhausted("no-threads", format!("cannot start threads for the search: {why}"))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
    let pool = pool.map_err(|error| failed(error.to_string()))?;
    let budget = budget.keeping();
    let (send, receive) = mpsc::channel();
    let (of_thread, its_budget) = (Arc::clone(problem), budget.clone());
    let work = move || {
        let found = panic::catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| solve(&of_thread, search, &its_budget))
        }));
        // Freed before the answer is sent: the caller then has the memory to itself.
        drop((of_thread, pool));
        let _ = send.send(found);
    };
    std::thread::Builder::new()
        .name("search".into())
        .spawn(work)
        .map_err(|error| failed(error.to_string()))?;
    let tuples = u32::try_from(problem.tuples()).unwrap_or(u32::MAX);
    let mut since = None;
    loop {
        match receive.recv_timeout(Duration::from_millis(20)) {
            Ok(Ok(outcome)) => return Ok(outcome),
            Ok(Err(panicked)) => panic::resume_unwind(panicked),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(failed("one of them ended".into()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => cancel.check()?,
        }
        let Some(overdue) = budget.overdue(&mut since).filter(|&overdue| overdue > PATIENCE) else {
            continue;
        };
        if let Some(kept) = budget.take() {
            return Ok(from_kept(problem, &kept));
        }
        if overdue > PATIENCE + PATIENCE_PER_TUPLE * tuples {
            let reason = format!(
                "{} did not stop when its time was over, and had found no release until then; \
                 nothing is written, please report this",
                search.algorithm
            );
            return Err(Error::exhausted("search-hangs", reason).hint(Hint::OtherAlgorithm));
        }
    }
}

/// Refuses a global recoding of whole persons who change: it publishes every value in one way, so rows
/// of one person that differ may differ in the release, and would not be in one class.
///
/// # Errors
/// [`Request`](crate::ErrorKind::Request) where some person changes.
pub fn refuse_changing(problem: &Problem) -> Result<()> {
    if !problem.has_changing_persons() {
        return Ok(());
    }
    let changing = problem.persons().map_or(0, |persons| persons.changing);
    let reason = format!(
        "the quasi-identifiers of {} change from row to row, and a global recoding cannot keep \
         their rows in one class",
        counted(changing, "person", "persons")
    );
    Err(Error::request("changing-persons", reason)
        .hint(Hint::UseAlgorithm { names: vec![Algorithm::Auto.name().into()] })
        .hint(Hint::CountPersons { reading: Persons::Rows.name().into() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::partition::rows;
    use crate::search::Status;
    use crate::search::tuning::Tuning;
    use crate::search::{Algorithm, ENDLESS};
    use crate::testing;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    /// A search that comes to a step without end, under a budget, on a table of its own: what came
    /// back, and after how long.
    fn endless(
        toml: &str,
        time: Option<Duration>,
        cancel: Arc<AtomicBool>,
    ) -> (Arc<Problem>, Result<Outcome>, Duration) {
        let toml = format!(
            "k = 3\nrest = \"drop\"\n{toml}[columns]\nage = {{ role = \"quasi\" }}\ncity = {{ role = \"quasi\" }}\n"
        );
        let problem = Arc::new(testing::problem(&testing::random_table(5, 90), &toml).unwrap());
        let begun = Instant::now();
        let found = solve_in_time(
            &problem,
            SearchOptions {
                tuning: Tuning::tiny(),
                ..SearchOptions::new(Algorithm::Auto, ENDLESS)
            },
            &Budget::new(time, cancel),
        );
        (problem, found, begun.elapsed())
    }

    fn holds(problem: &Problem, outcome: &Outcome) {
        assert_eq!(outcome.status, Status::Stopped);
        assert!(
            outcome.recoding.classes().iter().all(|class| rows(class) >= 3)
                && outcome.recoding.classes().len() > 3
        );
        let released: u64 = outcome.recoding.classes().iter().map(rows).sum();
        assert_eq!(released + rows(outcome.recoding.suppressed()), problem.row_count());
        assert!(rows(outcome.recoding.suppressed()) <= problem.allowance());
    }

    #[test]
    fn a_step_without_end_holds_up_neither_the_time_nor_the_first_signal() {
        for suppress in ["", "[limits]\nsuppress = \"20%\"\n"] {
            let (problem, found, took) =
                endless(suppress, Some(Duration::from_millis(200)), Arc::default());
            holds(&problem, &found.unwrap());
            assert!(
                took >= Duration::from_millis(200) + PATIENCE && took < Duration::from_secs(10),
                "{took:?}"
            );
        }
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            set.store(true, Ordering::Relaxed);
        });
        let (problem, found, took) = endless("", None, flag);
        holds(&problem, &found.unwrap());
        assert!(took >= PATIENCE && took < Duration::from_secs(10), "{took:?}");
    }

    #[test]
    fn a_run_that_was_given_up_does_not_wait_for_a_step_without_end() {
        let toml = "k = 3\nrest = 'drop'\n[columns]\nage = { role = 'quasi' }\ncity = { role = 'quasi' }\n";
        let problem = Arc::new(testing::problem(&testing::random_table(5, 90), toml).unwrap());
        let (cancel, begun) = (Cancel::default(), Instant::now());
        let abandoned = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            abandoned.abandon();
        });
        let options = SearchOptions {
            tuning: Tuning::tiny(),
            ..SearchOptions::new(Algorithm::Auto, ENDLESS)
        };
        let budget = Budget::new(None, cancel.search_flag());
        let error = solve_for_run(&problem, options, &budget, &cancel).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Interrupted);
        // Sooner than for a search that was only ended.
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(200), "{took:?}");
        assert!(took < Duration::from_millis(200) + PATIENCE, "{took:?}");
    }

    #[test]
    fn a_search_that_never_stops_and_has_nothing_is_an_error() {
        // In stages nothing is kept before the end.
        let rules = "rules = [{ k = 9, columns = [\"city\"] }]\n";
        let (_, found, _) = endless(rules, Some(Duration::from_millis(100)), Arc::default());
        let error = found.unwrap_err();
        assert!(error.kind() == crate::ErrorKind::Exhausted, "{error}");
        assert!(
            error.to_string().starts_with("auto did not stop when its time was over"),
            "{error}"
        );
    }
}

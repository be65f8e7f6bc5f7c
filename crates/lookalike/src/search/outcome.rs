//! The one call: search, leave out what may be left out, recode.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece};
use crate::problem::recoding::{Recoding, RingSize, Rings};
use crate::rng;
use crate::search::budget::{Budget, Kept};
use crate::search::global::Optimum;
use crate::search::suppress;
use crate::search::{Search, stages};

/// How sure the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// There is no better release of this kind.
    Optimal,
    /// The algorithm ended; no claim about the best release.
    Heuristic,
    /// The budget ran out first: valid, but coarser than it would have been.
    Stopped,
}

/// A release in codes, and how the search ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The classes and what they show.
    pub recoding: Recoding,
    /// How the search ended.
    pub status: Status,
    /// Who could be whose, when the release is not homogeneous: then the classes of the recoding
    /// hold no rule by themselves.
    pub rings: Option<Rings>,
    /// Cost, bound and blocks, when the release is a global recoding.
    pub optimum: Option<Optimum>,
}

/// Finds classes that hold every rule, or rings whose windows do. It cannot fail: [`Problem::new`]
/// has seen to it that there is an answer.
pub fn anonymize(problem: &Problem, search: Search, budget: &Budget) -> Outcome {
    // To use up its time is what `auto` is for.
    let is_stopped =
        || if search.algorithm.is_anytime() { budget.is_cancelled() } else { budget.is_spent() };
    let stopped = |otherwise: Status| if is_stopped() { Status::Stopped } else { otherwise };
    if search.algorithm.is_global() {
        let optimum = stages::run_global(problem, search, budget);
        let recoding =
            Recoding::global(problem, optimum.generalization.clone()).without_traces(problem);
        let status = match () {
            () if optimum.is_proven => Status::Optimal,
            () if optimum.was_stopped => Status::Stopped,
            () => Status::Heuristic,
        };
        return Outcome { recoding, status, rings: None, optimum: Some(optimum) };
    }
    let (recoding, rings) = if search.algorithm.is_homogeneous() {
        let (groups, suppressed) = suppress::with_suppression(problem, search, budget);
        (Recoding::new(problem, &groups.partition, &groups.ranges, suppressed), None)
    } else {
        let (recoding, rings) = on_rings(problem, search, budget, rng::below_from_system);
        (recoding, Some(rings))
    };
    Outcome { recoding, status: stopped(Status::Heuristic), rings, optimum: None }
}

/// A search that is overdue by this much is not waited for any longer, if it has kept a release.
const PATIENCE: Duration = Duration::from_millis(800);

/// One that has kept none is waited for longer: it may be putting together what it has, which takes
/// time for each tuple.
const PATIENCE_PER_TUPLE: Duration = Duration::from_micros(100);

/// As [`anonymize`], but it comes back even where a search does not: soon after the budget is
/// spent, with the best that was found until then. The search has threads of its own, which are
/// left to themselves in that case.
///
/// # Errors
/// [`Exhausted`](crate::ErrorKind::Exhausted) when nothing was found until then.
pub fn anonymize_in_time(
    problem: &Arc<Problem>,
    search: Search,
    budget: &Budget,
) -> Result<Outcome> {
    let failed =
        |why: String| Error::exhausted(format!("cannot start threads for the search: {why}"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
    let pool = pool.map_err(|error| failed(error.to_string()))?;
    let budget = budget.keeping();
    let (send, receive) = mpsc::channel();
    let (of_thread, its_budget) = (Arc::clone(problem), budget.clone());
    let work = move || {
        let found = panic::catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| anonymize(&of_thread, search, &its_budget))
        }));
        // Before anybody is told: who goes on has the memory to itself.
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
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let Some(overdue) = budget.overdue(&mut since).filter(|&overdue| overdue > PATIENCE) else {
            continue;
        };
        if let Some(kept) = budget.take() {
            return Ok(from_kept(problem, &kept));
        }
        if overdue > PATIENCE + PATIENCE_PER_TUPLE * tuples {
            return Err(Error::exhausted(format!(
                "{} did not stop when its time was over, and had found no release until then: nothing is written; take another \
                 --algorithm, and please report this",
                search.algorithm
            )));
        }
    }
}

/// The release of classes that a search has kept: rows that are in none of them are suppressed.
fn from_kept(problem: &Problem, kept: &Kept) -> Outcome {
    let mut left: Vec<u32> = problem.pieces_without(&[]).iter().map(|piece| piece.count).collect();
    for piece in kept.partition.iter().flatten() {
        left[piece.tuple as usize] -= piece.count;
    }
    let suppressed = (0..)
        .zip(left)
        .filter(|&(_, count)| count > 0)
        .map(|(tuple, count)| Piece { tuple, count })
        .collect();
    let recoding = Recoding::new(problem, &kept.partition, &kept.ranges, suppressed);
    Outcome { recoding, status: Status::Stopped, rings: None, optimum: None }
}

/// Draws a shift for each ring and deals the rows out to the boxes. Nothing is left out but what no
/// release could have.
fn on_rings(
    problem: &Problem,
    search: Search,
    budget: &Budget,
    lot: impl Fn(u64) -> u64 + Sync,
) -> (Recoding, Rings) {
    let suppressed = problem.trimmed().to_vec();
    let (found, ranges) =
        stages::run_rings(problem, search, &problem.pieces_without(&suppressed), budget, &lot);
    let mut rows = Partition::default();
    let mut rings =
        Rings { rings: Vec::with_capacity(found.len()), tuples: Vec::new(), classes: Vec::new() };
    for ring in found {
        let (places, window) = (ring.tuples.len(), ring.window);
        let shift = usize::try_from(lot(window as u64)).expect("less than the window");
        (0..places).for_each(|place| {
            rows.push([Piece { tuple: ring.tuples[(place + shift) % places], count: 1 }])
        });
        rings.rings.push(RingSize { places, window, shift });
        rings.tuples.extend(ring.tuples);
    }
    let (recoding, classes) = Recoding::of_rings(problem, &rows, &ranges, suppressed);
    rings.classes = classes;
    (recoding, rings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::partition::rows;
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
        let found = anonymize_in_time(
            &problem,
            Search::new(Algorithm::Auto, ENDLESS),
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
    fn a_search_that_never_stops_and_has_nothing_is_an_error() {
        // In stages nothing is kept before the end.
        let rules = "rules = [{ k = 9, columns = [\"city\"] }]\n";
        let (_, found, _) = endless(rules, Some(Duration::from_millis(100)), Arc::default());
        let error = found.unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Exhausted { .. }), "{error}");
        assert!(
            error.to_string().starts_with("auto did not stop when its time was over"),
            "{error}"
        );
    }

    #[test]
    fn a_box_goes_with_the_row_that_stands_the_shift_on_and_every_shift_is_asked_for_below_its_window()
     {
        let toml = "k = 3\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let problem = testing::problem(&testing::random_table(2, 60), toml).unwrap();
        for lot in [0, 1, 2] {
            let search = Search::new(Algorithm::Ring, 1);
            // Equal rows are put in order by lot too: below what, is their number.
            let asked = |below: u64| if below == 3 { lot } else { below - 1 };
            let (recoding, rings) = on_rings(&problem, search, &Budget::unlimited(), asked);
            let mut from = 0;
            for ring in &rings.rings {
                assert_eq!((ring.window, ring.shift as u64), (3, lot));
                let place = |at: usize| from + at % ring.places;
                for at in 0..ring.places {
                    let class = rings.classes[place(at)] as usize;
                    let carried = rings.tuples[place(at + ring.shift)];
                    assert!(
                        recoding.classes().class(class).iter().any(|piece| piece.tuple == carried)
                    );
                    for step in 0..ring.window {
                        let covered = rings.tuples[place(at + step)];
                        let shown = recoding.shown(class).iter().enumerate();
                        assert!(
                            shown.clone().all(
                                |(column, range)| range.contains(problem.code(column, covered))
                            )
                        );
                    }
                }
                from += ring.places;
            }
            assert_eq!(from, 60);
        }
    }
}

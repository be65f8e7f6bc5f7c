//! From a problem to a recoding: search, suppression, and how sure the result is.

use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece};
use crate::problem::recoding::{Recoding, RingSize, Rings};
use crate::rng;
use crate::search::budget::{BestSoFar, Budget};
use crate::search::global::Optimum;
use crate::search::suppression::{self, Lightened};
use crate::search::{SearchOptions, stages};

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

/// A release in codes, and how the search ended. At most one of `rings` and `optimum` is there.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The classes and their published values.
    pub recoding: Recoding,
    /// How the search ended.
    pub status: Status,
    /// The rings of a release that is not homogeneous: then the classes of the recoding satisfy no
    /// rule by themselves.
    pub rings: Option<Rings>,
    /// Cost, bound and blocks, when the release is a global recoding.
    pub optimum: Option<Optimum>,
    /// The mean loss of a published row, from 0 to 1, before rows were left out to make the others
    /// finer; none where the search leaves out no rows for that.
    pub loss_before: Option<f64>,
}

/// Finds classes that satisfy every rule, or rings whose windows do. It cannot fail:
/// [`Problem::new`] has checked that there is an answer.
///
/// # Example
/// ```
/// use lookalike::table::{Treatment, open_text};
/// use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions, Status, solve};
///
/// # fn main() -> lookalike::Result<()> {
/// let source = open_text("age,sex\n34,f\n36,f\n51,m\n58,m\n".into(), "people.csv".as_ref())?;
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'")?;
/// let roles = request.roles(source.names())?;
/// let table = source.read(&[Treatment::Code; 2])?;
/// let problem = Problem::new(&table, &roles, &request)?;
/// let outcome = solve(&problem, SearchOptions::new(Algorithm::Mondrian, 1), &Budget::unlimited());
/// assert_eq!(outcome.recoding.classes().len(), 2);
/// assert_eq!(outcome.status, Status::Heuristic);
/// # Ok(())
/// # }
/// ```
pub fn solve(problem: &Problem, search: SearchOptions, budget: &Budget) -> Outcome {
    // `auto` goes on until its time is over: that is no early end.
    let is_stopped =
        || if search.algorithm.is_anytime() { budget.is_cancelled() } else { budget.is_spent() };
    let stopped = |otherwise: Status| if is_stopped() { Status::Stopped } else { otherwise };
    if search.algorithm.is_global() {
        let optimum = stages::run_global(problem, search, budget);
        let recoding =
            Recoding::global(problem, optimum.generalization.clone()).without_traces(problem);
        let status = if optimum.is_proven {
            Status::Optimal
        } else if optimum.was_stopped {
            Status::Stopped
        } else {
            Status::Heuristic
        };
        let optimum = Some(optimum);
        return Outcome { recoding, status, rings: None, optimum, loss_before: None };
    }
    let (recoding, rings, loss_before) = if search.algorithm.is_homogeneous() {
        let Lightened { classes, suppressed, loss_before } =
            suppression::with_suppression(problem, search, budget);
        let recoding = Recoding::new(problem, &classes.partition, &classes.ranges, suppressed);
        (recoding, None, Some(loss_before))
    } else {
        let (recoding, rings) = on_rings(problem, search, budget, rng::below_from_system);
        (recoding, Some(rings), None)
    };
    let status = stopped(Status::Heuristic);
    Outcome { recoding, status, rings, optimum: None, loss_before }
}

/// The release of classes that a search has kept: rows that are in none of them are suppressed.
pub(crate) fn from_kept(problem: &Problem, kept: &BestSoFar) -> Outcome {
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
    let status = Status::Stopped;
    Outcome { recoding, status, rings: None, optimum: None, loss_before: None }
}

/// Draws a shift for each ring and deals the rows out to the boxes. Only the rows of mandatory
/// suppression are suppressed.
fn on_rings(
    problem: &Problem,
    search: SearchOptions,
    budget: &Budget,
    draw: impl Fn(u64) -> u64 + Sync,
) -> (Recoding, Rings) {
    let suppressed = problem.mandatory().to_vec();
    let (found, ranges) =
        stages::run_rings(problem, search, &problem.pieces_without(&suppressed), budget, &draw);
    let mut rows = Partition::default();
    let mut rings =
        Rings { rings: Vec::with_capacity(found.len()), tuples: Vec::new(), classes: Vec::new() };
    for ring in found {
        let (places, window) = (ring.tuples.len(), ring.window);
        let shift = usize::try_from(draw(window as u64)).expect("less than the window");
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
    use crate::search::Algorithm;
    use crate::search::tests::options;
    use crate::testing;

    #[test]
    fn a_box_goes_with_the_row_a_shift_further_and_every_shift_is_below_its_window() {
        let toml = "k = 3\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let problem = testing::problem(&testing::random_table(2, 60), toml).unwrap();
        for draw in [0, 1, 2] {
            let search = options(Algorithm::Ring, 1);
            // Equal rows are put in random order too: those draws are below their number.
            let asked = |below: u64| if below == 3 { draw } else { below - 1 };
            let (recoding, rings) = on_rings(&problem, search, &Budget::unlimited(), asked);
            let mut from = 0;
            for ring in &rings.rings {
                assert_eq!((ring.window, ring.shift as u64), (3, draw));
                let place = |at: usize| from + at % ring.places;
                for at in 0..ring.places {
                    let class = rings.classes[place(at)] as usize;
                    let other = rings.tuples[place(at + ring.shift)];
                    assert!(
                        recoding.classes().class(class).iter().any(|piece| piece.tuple == other)
                    );
                    for step in 0..ring.window {
                        let covered = rings.tuples[place(at + step)];
                        let published = recoding.ranges(class).iter().enumerate();
                        assert!(
                            published.clone().all(
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

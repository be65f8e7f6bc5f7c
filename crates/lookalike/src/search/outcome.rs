//! From a problem to a recoding: search, suppression, and how sure the result is.

use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece};
use crate::problem::recoding::{Recoding, RingSize, Rings};
use crate::rng;
use crate::search::budget::{Budget, Kept};
use crate::search::global::Optimum;
use crate::search::suppress;
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
pub fn solve(problem: &Problem, search: SearchOptions, budget: &Budget) -> Outcome {
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

/// The release of classes that a search has kept: rows that are in none of them are suppressed.
pub(crate) fn from_kept(problem: &Problem, kept: &Kept) -> Outcome {
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
    search: SearchOptions,
    budget: &Budget,
    lot: impl Fn(u64) -> u64 + Sync,
) -> (Recoding, Rings) {
    let suppressed = problem.mandatory().to_vec();
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
    use crate::search::Algorithm;
    use crate::search::tests::options;
    use crate::testing;

    #[test]
    fn a_box_goes_with_the_row_that_stands_the_shift_on_and_every_shift_is_asked_for_below_its_window()
     {
        let toml = "k = 3\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let problem = testing::problem(&testing::random_table(2, 60), toml).unwrap();
        for lot in [0, 1, 2] {
            let search = options(Algorithm::Ring, 1);
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

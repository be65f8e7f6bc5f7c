//! Rows on a ring: each is published with the box of itself and the few that follow, and with the
//! other cells of one of them, drawn at random.
//!
//! The table is cut into classes (see `top_down`). The rows of a class are put on a ring, near ones
//! beside each other and equal ones in random order. The box that begins at a place covers the rows
//! of a window of w places from there on. A shift is drawn for each ring, like that order from the
//! system's randomness, and the box that begins at place i is published with the other cells of the
//! row at place i + shift. Every row is then one of w released rows, and every released row one of
//! w rows of the source, all equally likely to one who knows the quasi-identifiers alone.
//!
//! This is **not** the guarantee of the other algorithms: rows that could be the same person are
//! not indistinguishable. It is non-homogeneous k-anonymity, for which a class of equal rows may be
//! a single row, and which needs an audit of its own (`audit::Proof`). Whoever learns which row one
//! person of a ring has, learns the shift, and with it the rows of all others on that ring.
//!
//! # Guarantee
//! Every window of a ring satisfies every rule; the window of a ring is the shortest tried for
//! which that is so, at least k, at most the whole ring.
//!
//! # Complexity
//! That of `top_down`, O(d n m) for the tours of classes of m different rows, O(n) a window tried
//! and O(d n log w) for the boxes; O(d n) space.
//!
//! # Reference
//! W. K. Wong, N. Mamoulis, D. W. Cheung: Non-homogeneous generalization in privacy preserving data
//! publishing, SIGMOD 2010.
//!
//! # Departures from the paper
//! One shift for all rows of a ring instead of a random choice of cycles. "Every window satisfies
//! the rules" stands for "windows of k rows", so that rules on sensitive values are met too: the
//! chance that a person has a value is its share in the person's window.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange};
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece};
use crate::problem::privacy::Tally;
use crate::search::boxes::split::Block;
use crate::search::task::Task;

/// One ring, place by place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TupleRing {
    /// The tuple of the row at each place.
    pub(crate) tuples: Vec<u32>,
    /// How many places a box covers.
    pub(crate) window: usize,
}

/// A ring of each class. Each box lies over the `window` rows from its place on. `draw` returns a
/// random number below its argument.
pub(crate) fn rings(
    task: &Task,
    classes: &Partition,
    draw: impl Fn(u64) -> u64 + Sync,
) -> Vec<TupleRing> {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let ring = |tally: &mut Tally, class: usize| {
        let mut tuples = Vec::new();
        for equal in tour(task, &penalty, classes.class(class)) {
            let start = tuples.len();
            tuples.extend(
                equal
                    .iter()
                    .flat_map(|piece| std::iter::repeat_n(piece.tuple, piece.count as usize)),
            );
            // Indistinguishable rows stand in an order that nobody can know: one by their other
            // values would disclose the shift.
            for at in (start + 1..tuples.len()).rev() {
                let other = usize::try_from(draw((at - start + 1) as u64)).expect("a place before");
                tuples.swap(at, start + other);
            }
        }
        TupleRing { window: window(task, &tuples, tally), tuples }
    };
    (0..classes.len()).into_par_iter().map_init(|| task.problem.tally(), ring).collect()
}

/// The pieces of a class by their quasi-identifiers, in an order in which neighbours are near: from
/// each to the nearest that is left. It depends on nothing else.
fn tour(task: &Task, penalty: &Penalty, class: &[Piece]) -> Vec<Vec<Piece>> {
    let set = Block::new(task.problem, task.attributes, class.to_vec());
    let mut order: Vec<usize> = (0..class.len()).collect();
    order.sort_by_key(|&at| (set.row(at), class[at].tuple));
    let equal: Vec<&[usize]> =
        order.chunk_by(|&one, &other| set.row(one) == set.row(other)).collect();
    let pieces = |equal: &[usize]| equal.iter().map(|&at| class[at]).collect::<Vec<Piece>>();
    if equal.len() > task.tuning.ring_tour || task.budget.is_spent() {
        return equal.into_iter().map(pieces).collect();
    }
    let mut left = equal;
    let mut toured = vec![left.remove(0)];
    while !left.is_empty() {
        let here: Vec<CodeRange> =
            set.row(toured[toured.len() - 1][0]).iter().map(|&code| CodeRange::one(code)).collect();
        let nearer = |best: (usize, f64), (place, equal): (usize, &&[usize])| {
            let distance = penalty.of_join_row(&here, set.row(equal[0]));
            if distance < best.1 { (place, distance) } else { best }
        };
        let (nearest, _) = left.iter().enumerate().fold((0, f64::INFINITY), nearer);
        toured.push(left.swap_remove(nearest));
    }
    toured.into_iter().map(pieces).collect()
}

/// The shortest window tried for which every window of the ring satisfies the rules.
fn window(task: &Task, tuples: &[u32], tally: &mut Tally) -> usize {
    let least = usize::try_from(task.privacy.least_rows())
        .map_or(tuples.len(), |least| least.min(tuples.len()));
    let mut window = least;
    while window < tuples.len()
        && task.privacy.needs_sensitive()
        && !all_hold(task, tuples, window, tally)
    {
        window += 1 + window / task.tuning.ring_window_part;
    }
    window.min(tuples.len())
}

fn all_hold(task: &Task, tuples: &[u32], window: usize, tally: &mut Tally) -> bool {
    let mut codes = vec![0; task.problem.sensitive_columns()];
    tally.clear();
    for &tuple in &tuples[..window] {
        task.problem.sensitive_codes(tuple, &mut codes);
        tally.add(&codes, 1);
    }
    (0..tuples.len()).all(|at| {
        let holds = task.privacy.holds(tally);
        task.problem.sensitive_codes(tuples[at], &mut codes);
        tally.remove(&codes, 1);
        task.problem.sensitive_codes(tuples[(at + window) % tuples.len()], &mut codes);
        tally.add(&codes, 1);
        holds
    })
}

/// For each place of a ring the range of the codes in the window that begins there.
pub(crate) fn ranges(codes: &[Code], window: usize) -> Vec<CodeRange> {
    let count = codes.len();
    let mut ranges: Vec<CodeRange> = codes.iter().map(|&code| CodeRange::one(code)).collect();
    // Ranges of 1, 2, 4 ... places, then two of them that overlap.
    let mut span = 1;
    while span * 2 <= window {
        ranges = (0..count).map(|at| ranges[at].join(ranges[(at + span) % count])).collect();
        span *= 2;
    }
    (0..count).map(|at| ranges[at].join(ranges[(at + window - span) % count])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::partition::{joined, rows};
    use crate::rng::Rng;
    use crate::search::boxes::Objective;
    use crate::search::local::top_down;
    use crate::search::stages::run_rings;
    use crate::search::tests::{for_each_task, options, with_threads};
    use crate::{Algorithm, Budget};

    #[test]
    fn the_ranges_are_those_of_every_window() {
        let mut rng = Rng::new(4);
        for _ in 0..500 {
            let count = usize::try_from(1 + rng.below(20)).unwrap();
            let codes: Vec<Code> =
                (0..count).map(|_| Code::try_from(rng.below(50)).unwrap()).collect();
            let window = usize::try_from(1 + rng.below(count as u64)).unwrap();
            let slow = |at: usize| {
                (0..window)
                    .map(|step| CodeRange::one(codes[(at + step) % count]))
                    .reduce(CodeRange::join)
                    .unwrap()
            };
            assert_eq!(
                ranges(&codes, window),
                (0..count).map(slow).collect::<Vec<_>>(),
                "{codes:?}, {window}"
            );
        }
    }

    #[test]
    fn every_row_stands_on_one_ring_and_every_window_satisfies_the_rules() {
        let (mut longer, mut part) = (0, 0);
        for_each_task(100, |task, what| {
            let made = |threads: usize| {
                with_threads(threads, || {
                    rings(task, &top_down::top_down(task, Objective::Table), |below| below / 2)
                })
            };
            let rings = made(1);
            assert_eq!(made(3), rings, "{what}");
            let mut all: Vec<_> = rings
                .iter()
                .flat_map(|ring| &ring.tuples)
                .map(|&tuple| crate::problem::partition::Piece { tuple, count: 1 })
                .collect();
            assert!(joined(&mut all).eq(task.pieces.iter().copied()), "{what}");
            let mut tally = task.problem.tally();
            for ring in &rings {
                let places = ring.tuples.len();
                for at in 0..places {
                    let window: Vec<_> =
                        (0..ring.window).map(|step| ring.tuples[(at + step) % places]).collect();
                    let pieces: Vec<_> = window
                        .iter()
                        .map(|&tuple| crate::problem::partition::Piece { tuple, count: 1 })
                        .collect();
                    assert!(task.holds(&mut tally, &pieces), "{what}");
                }
                longer += u32::from(ring.window as u64 > task.privacy.least_rows());
                part += u32::from(ring.window < places);
            }
            assert_eq!(
                rings.iter().map(|ring| ring.tuples.len() as u64).sum::<u64>(),
                rows(task.pieces)
            );
        });
        assert!(
            longer > 20 && part > 100,
            "{longer} windows had to be longer than k, {part} were shorter than the ring"
        );
    }

    /// A box is never larger than that of the class whose rows are on the ring.
    #[test]
    fn boxes_of_rings_lie_within_those_of_their_classes() {
        let mut tighter = 0;
        for_each_task(30, |task, what| {
            let (rings, boxes) = run_rings(
                task.problem,
                options(Algorithm::Ring, 1),
                task.pieces,
                &Budget::unlimited(),
                |_| 0,
            );
            let width = task.problem.attributes().len();
            let mut boxes = boxes.chunks_exact(width);
            for ring in rings {
                let pieces: Vec<_> = ring
                    .tuples
                    .iter()
                    .map(|&tuple| crate::problem::partition::Piece { tuple, count: 1 })
                    .collect();
                let class = task.problem.ranges(&pieces);
                for published in boxes.by_ref().take(ring.tuples.len()) {
                    assert!(
                        published
                            .iter()
                            .zip(&class)
                            .all(|(one, all)| all.lo <= one.lo && one.hi <= all.hi),
                        "{what}"
                    );
                    tighter += u32::from(published != class);
                }
            }
            assert!(boxes.next().is_none());
        });
        assert!(tighter > 100);
    }
}

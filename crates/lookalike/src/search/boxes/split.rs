//! Splits a set of rows into two compact halves, and transfers rows from one set to another: the
//! steps of the top-down method, which other searches use too.
//!
//! Two rows that lie far apart are the seeds of the halves; every other row, in the order given,
//! goes where it adds less loss. The farthest pair is approximated: from the first row to the one
//! farthest from it, from there to the farthest again, for a few rounds.
//!
//! # Complexity
//! O(d n) for n pieces and d attributes and each round.
//!
//! # Reference
//! J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using Local
//! Recoding, KDD 2006, section 4.2.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::rng::Rng;
use crate::search::boxes::{Objective, bit};

/// Pieces of tuples with their codes side by side, so that they are read from front to back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) pieces: Vec<Piece>,
    /// The codes of the pieces, row by row.
    cells: Vec<Code>,
    width: usize,
}

impl Block {
    /// These pieces with their codes on some attributes.
    pub(crate) fn new(problem: &Problem, attributes: &[usize], pieces: Vec<Piece>) -> Block {
        let codes = |piece: &Piece| {
            attributes.iter().map(|&at| problem.code(at, piece.tuple)).collect::<Vec<Code>>()
        };
        let cells = pieces.iter().flat_map(codes).collect();
        Block { pieces, cells, width: attributes.len() }
    }

    /// These pieces in a random order; indistinguishable pieces stay side by side.
    pub(crate) fn shuffled(
        problem: &Problem,
        attributes: &[usize],
        mut pieces: Vec<Piece>,
        seed: u64,
    ) -> Block {
        let sets = shuffled(problem, attributes, &mut pieces, seed);
        Block::new(problem, attributes, sets.concat())
    }

    /// The pieces of one half in their order, but its seed before all others, in no more space than
    /// they need.
    fn half(&self, seed: usize, half_of: &[SplitHalf], half: SplitHalf) -> Block {
        let chosen = || (0..self.pieces.len()).filter(|&at| half_of[at] == half && at != seed);
        let count = 1 + chosen().count();
        let (pieces, cells) = (Vec::with_capacity(count), Vec::with_capacity(count * self.width));
        let mut block = Block { pieces, cells, width: self.width };
        for at in std::iter::once(seed).chain(chosen()) {
            block.push(self.pieces[at], self.row(at));
        }
        block
    }

    /// The rows of its pieces.
    pub(crate) fn rows(&self) -> u64 {
        partition::rows(&self.pieces)
    }

    /// The codes of a piece.
    pub(crate) fn row(&self, at: usize) -> &[Code] {
        &self.cells[at * self.width..][..self.width]
    }

    /// Adds a piece with its codes.
    pub(crate) fn push(&mut self, piece: Piece, row: &[Code]) {
        self.pieces.push(piece);
        self.cells.extend_from_slice(row);
    }

    /// Adds all rows of another block.
    pub(crate) fn append(&mut self, mut other: Block) {
        self.pieces.append(&mut other.pieces);
        self.cells.append(&mut other.cells);
    }

    /// The values of its rows on each attribute, each as one of 64 bits.
    pub(crate) fn values(&self) -> Vec<u64> {
        let mut values = vec![0; self.width];
        for row in self.cells.chunks_exact(self.width) {
            values.iter_mut().zip(row).for_each(|(values, &code)| *values |= bit(code));
        }
        values
    }

    /// The smallest box around its rows. Panics when it has none.
    pub(crate) fn ranges(&self) -> Vec<CodeRange> {
        let mut ranges: Vec<CodeRange> =
            self.row(0).iter().map(|&code| CodeRange::one(code)).collect();
        for row in self.cells.chunks_exact(ranges.len()) {
            grow(&mut ranges, row);
        }
        ranges
    }
}

/// Sets of indistinguishable pieces in a random order.
pub(crate) fn shuffled<'a>(
    problem: &Problem,
    attributes: &[usize],
    pieces: &'a mut [Piece],
    seed: u64,
) -> Vec<&'a [Piece]> {
    let codes =
        |&Piece { tuple, .. }: &Piece| attributes.iter().map(move |&at| problem.code(at, tuple));
    pieces.par_sort_unstable_by(|one, other| codes(one).cmp(codes(other)).then(one.cmp(other)));
    let mut sets: Vec<&[Piece]> =
        pieces.chunk_by(|one, other| codes(one).eq(codes(other))).collect();
    sets.sort_unstable_by_key(|set| set[0]);
    Rng::new(seed).shuffle(&mut sets);
    sets
}

/// Widens a box to contain a row; true when it did not before.
fn grow(ranges: &mut [CodeRange], row: &[Code]) -> bool {
    let mut has_grown = false;
    for (range, &code) in ranges.iter_mut().zip(row) {
        has_grown |= !range.contains(code);
        *range = range.join(CodeRange::one(code));
    }
    has_grown
}

/// Splits a block into two halves, each around one of two pieces far apart; the search for these
/// starts at a piece and takes some rounds. None when all rows are indistinguishable.
pub(crate) fn halves(
    penalty: &Penalty,
    objective: Objective,
    rounds: u32,
    block: &Block,
    from: usize,
) -> Option<(Block, Block)> {
    let seeds = far_pair(penalty, rounds, block, from)?;
    let mut halves = [seeds.0, seeds.1].map(|seed| GrowingHalf::new(penalty, block, seed));
    let mut half_of: Vec<SplitHalf> = Vec::with_capacity(block.pieces.len());
    for (at, piece) in block.pieces.iter().enumerate() {
        let (row, count) = (block.row(at), u64::from(piece.count));
        if at == seeds.0 || at == seeds.1 {
            half_of.push(if at == seeds.0 { SplitHalf::First } else { SplitHalf::Second });
            continue;
        }
        // Indistinguishable rows stay together: a tie would part them by their numbers.
        if at > 0 && block.row(at - 1) == row {
            halves[half_of[at - 1] as usize].rows += count;
            half_of.push(half_of[at - 1]);
            continue;
        }
        let [(one, first), (other, second)] = [&halves[0], &halves[1]].map(|half| {
            let then = penalty.of_join_row(&half.ranges, row);
            (objective.value(count, half.rows, half.row_loss, then), then)
        });
        let is_first = one < other || (one <= other && halves[0].rows <= halves[1].rows);
        let (half, row_loss) =
            if is_first { (SplitHalf::First, first) } else { (SplitHalf::Second, second) };
        half_of.push(half);
        let half = &mut halves[half as usize];
        grow(&mut half.ranges, row);
        half.rows += count;
        half.row_loss = row_loss;
    }
    let [first, second] = [(seeds.0, SplitHalf::First), (seeds.1, SplitHalf::Second)]
        .map(|(seed, half)| block.half(seed, &half_of, half));
    Some((first, second))
}

/// One of the two halves of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitHalf {
    First,
    Second,
}

/// A half during a split.
struct GrowingHalf {
    ranges: Vec<CodeRange>,
    rows: u64,
    row_loss: f64,
}

impl GrowingHalf {
    fn new(penalty: &Penalty, block: &Block, seed: usize) -> GrowingHalf {
        let ranges: Vec<CodeRange> =
            block.row(seed).iter().map(|&code| CodeRange::one(code)).collect();
        let rows = u64::from(block.pieces[seed].count);
        GrowingHalf { rows, row_loss: penalty.of_box(&ranges), ranges }
    }
}

/// Two pieces that lie far apart: from one piece to the farthest from it, from there to the
/// farthest again, so many times or until that leads no farther. None when all are
/// indistinguishable.
pub(crate) fn far_pair(
    penalty: &Penalty,
    rounds: u32,
    block: &Block,
    start: usize,
) -> Option<(usize, usize)> {
    let (mut from, mut to, mut apart) = (start, start, 0.0);
    for _ in 0..rounds.max(1) {
        let (next, distance) = farthest(penalty, block, to);
        if distance <= apart {
            break;
        }
        (from, to, apart) = (to, next, distance);
    }
    // Values that differ may have no loss, such as all of a column with weight 0: they need not be
    // separated.
    (from != to).then_some((from, to))
}

/// How close the search for two rows far apart comes: the share, from 0 to 1, of the largest
/// distance between two tuples that it reaches after each of these numbers of rounds, on average
/// over searches that start from random tuples. 1 where all rows are indistinguishable.
///
/// The largest distance is found by looking at all pairs: O(d n^2) for n distinct tuples.
pub fn far_pair_shares(problem: &Problem, rounds: &[u32], starts: u32, seed: u64) -> Vec<f64> {
    let attributes: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &attributes);
    let block = Block::new(problem, &attributes, problem.pieces_without(&[]));
    let all = 0..block.pieces.len();
    let largest =
        all.into_par_iter().map(|from| farthest(&penalty, &block, from).1).reduce(|| 0.0, f64::max);
    let mut rng = Rng::new(seed);
    let starts: Vec<usize> = (0..starts).map(|_| rng.place(block.pieces.len())).collect();
    let apart = |rounds: u32, start: usize| {
        let (from, to) = far_pair(&penalty, rounds, &block, start).unwrap_or((start, start));
        let from: Vec<CodeRange> =
            block.row(from).iter().map(|&code| CodeRange::one(code)).collect();
        penalty.of_join_row(&from, block.row(to))
    };
    let share = |&rounds: &u32| {
        let reached: Vec<f64> = starts.par_iter().map(|&start| apart(rounds, start)).collect();
        if largest > 0.0 {
            reached.iter().sum::<f64>() / (largest * real(reached.len() as u64))
        } else {
            1.0
        }
    };
    rounds.iter().map(share).collect()
}

/// The first of the pieces that lie farthest from one, and how far.
fn farthest(penalty: &Penalty, block: &Block, from: usize) -> (usize, f64) {
    let here: Vec<CodeRange> = block.row(from).iter().map(|&code| CodeRange::one(code)).collect();
    // Indistinguishable rows are not apart, even where each has a loss by itself.
    let mut best = (from, penalty.of_box(&here));
    for (at, row) in block.cells.chunks_exact(here.len()).enumerate() {
        let distance = penalty.of_join_row(&here, row);
        if distance > best.1 {
            best = (at, distance);
        }
    }
    best
}

/// Transfers the nearest rows from a donor to another block, a piece at a time. `deficit` is called
/// before each step with the block that receives: it returns the number of rows that it still
/// needs, or none to give up. True when it returned 0.
pub(crate) fn transfer(
    penalty: &Penalty,
    donor: &mut Block,
    receiver: &mut Block,
    mut deficit: impl FnMut(&Block) -> Option<u64>,
) -> bool {
    let mut ranges = receiver.ranges();
    let mut losses: Vec<f64> = Vec::new();
    while let Some(need) = deficit(receiver) {
        if need == 0 || donor.pieces.is_empty() {
            return need == 0;
        }
        if losses.is_empty() {
            losses.extend(
                (0..donor.pieces.len()).map(|at| penalty.of_join_row(&ranges, donor.row(at))),
            );
        }
        let lesser = |best: (usize, f64), (at, &loss): (usize, &f64)| {
            if loss < best.1 { (at, loss) } else { best }
        };
        let (nearest, _) = losses.iter().enumerate().fold((0, f64::INFINITY), lesser);
        let piece = donor.pieces[nearest];
        let count = u32::try_from(need).unwrap_or(u32::MAX).min(piece.count);
        let row = donor.row(nearest).to_vec();
        receiver.push(Piece { count, ..piece }, &row);
        if count < piece.count {
            donor.pieces[nearest].count -= count;
        } else {
            donor.pieces.remove(nearest);
            donor.cells.drain(nearest * row.len()..(nearest + 1) * row.len());
            losses.remove(nearest);
        }
        if grow(&mut ranges, &row) {
            losses.clear();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn block(seed: u64, rows: u64) -> (Problem, Penalty) {
        let toml = "k = 1\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let problem = testing::problem(&testing::random_table(seed, rows), toml).unwrap();
        let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
        (problem, penalty)
    }

    #[test]
    fn the_share_of_the_largest_distance_rises_with_the_rounds_up_to_one() {
        let (problem, _) = block(7, 60);
        let shares = far_pair_shares(&problem, &[1, 2, 6], 50, 1);
        assert!(
            shares.is_sorted()
                && shares[0] > 0.5
                && shares[0] < shares[1]
                && shares[2] <= 1.0 + 1e-12,
            "{shares:?}"
        );
        assert_eq!(shares, far_pair_shares(&problem, &[1, 2, 6], 50, 1));
        let (alone, _) = block(7, 1);
        assert_eq!(far_pair_shares(&alone, &[3], 5, 1), [1.0]);
    }

    #[test]
    fn three_rounds_lead_nearly_as_far_apart_as_any_pair_and_more_rounds_no_less_far() {
        let (mut found, mut most) = ([0.0; 3], 0.0);
        for seed in 0..100 {
            let (problem, penalty) = block(seed, 60);
            let block = Block::shuffled(&problem, &[0, 1, 2], problem.pieces_without(&[]), seed);
            let apart = |one: usize, other: usize| {
                let here: Vec<CodeRange> =
                    block.row(one).iter().map(|&code| CodeRange::one(code)).collect();
                penalty.of_join_row(&here, block.row(other))
            };
            let all =
                (0..block.pieces.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            let farthest = all.map(|(one, other)| apart(one, other)).fold(0.0, f64::max);
            let after = [1, 3, 6].map(|rounds| {
                far_pair(&penalty, rounds, &block, 0).map_or(0.0, |(one, other)| apart(one, other))
            });
            assert!(after[0] <= after[1] && after[1] <= after[2] && after[2] <= farthest);
            most += farthest;
            found.iter_mut().zip(after).for_each(|(sum, after)| *sum += after);
        }
        let share = found.map(|sum| sum / most);
        assert!(share[0] < 0.97 && share[1] > 0.97 && share[2] > 0.98, "{share:?}");
    }

    #[test]
    fn halves_have_every_row_once_and_equal_rows_have_no_halves() {
        let (problem, penalty) = block(3, 80);
        let block = Block::shuffled(&problem, &[0, 1, 2], problem.pieces_without(&[]), 1);
        for objective in [Objective::Table, Objective::Row] {
            let (one, other) = halves(&penalty, objective, 3, &block, 0).unwrap();
            let mut both = [one.pieces.clone(), other.pieces.clone()].concat();
            both.sort_unstable();
            assert_eq!(both, problem.pieces_without(&[]), "{objective:?}");
            assert!(!one.pieces.is_empty() && !other.pieces.is_empty());
        }
        let equal = Block::new(&problem, &[0, 1, 2], vec![Piece { tuple: 5, count: 9 }]);
        assert!(halves(&penalty, Objective::Table, 3, &equal, 0).is_none());
    }

    #[test]
    fn the_nearest_rows_are_transferred_first_and_no_more_than_the_deficit() {
        let problem = testing::problem(
            "x\n1\n2\n2\n2\n9\n40\n",
            "k = 1\ncolumns = { x = { role = \"quasi\" } }",
        )
        .unwrap();
        let penalty = Penalty::new(problem.attributes(), &[0]);
        let piece = |tuple: u32, count: u32| Piece { tuple, count };
        let start = || {
            let donor = Block::new(&problem, &[0], vec![piece(3, 1), piece(2, 1), piece(1, 3)]);
            (donor, Block::new(&problem, &[0], vec![piece(0, 1)]))
        };
        let (mut donor, mut receiver) = start();
        assert!(transfer(&penalty, &mut donor, &mut receiver, |receiver| Some(
            3_u64.saturating_sub(receiver.rows())
        )));
        assert_eq!(
            (receiver.pieces, donor.pieces),
            (vec![piece(0, 1), piece(1, 2)], vec![piece(3, 1), piece(2, 1), piece(1, 1)])
        );
        let (mut donor, mut receiver) = start();
        assert!(
            !transfer(&penalty, &mut donor, &mut receiver, |_| Some(1)),
            "the donor runs empty"
        );
        assert!(!transfer(&penalty, &mut donor, &mut receiver, |_| None), "no deficit");
    }
}

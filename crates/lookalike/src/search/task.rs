//! One call of a local algorithm, and the steps that several of them share: rows that change
//! groups, the end of a search that is out of time, cuts in parallel.

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::{Privacy, Tally};
use crate::rng::{Draws, Key};
use crate::search::boxes::split::{self, Block};
use crate::search::budget::Budget;
use crate::search::ranges::{range_of, total_loss};
use crate::search::tuning::Tuning;

/// A search with this seed comes to a step without end.
#[cfg(test)]
pub(crate) const ENDLESS: u64 = 0xe4d1_e550;

/// One call of an algorithm: cut these pieces into equivalence classes along these attributes so
/// that each class satisfies the rules. All pieces together do, so there is always an answer.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) attributes: &'a [usize],
    pub(crate) privacy: &'a Privacy,
    /// Each tuple once.
    pub(crate) pieces: &'a [Piece],
    pub(crate) seed: u64,
    pub(crate) key: Key,
    pub(crate) rounds: u32,
    pub(crate) budget: &'a Budget,
    pub(crate) tuning: &'a Tuning,
}

impl Task<'_> {
    /// Keeps classes with their loss for a caller who cannot wait for the end. A task of one of
    /// several stages has no such caller.
    pub(crate) fn keep(&self, loss: f64, classes: impl FnOnce() -> Partition) {
        let most: f64 = self.problem.attributes().iter().map(|attribute| attribute.weight).sum();
        let suppressed = self.problem.row_count() - rows(self.pieces);
        self.budget.keep(loss + real(suppressed) * most, || {
            let partition = classes();
            let ranges = partition.iter().flat_map(|class| self.problem.ranges(class)).collect();
            (partition, ranges)
        });
    }

    /// The random draws of this task alone.
    pub(crate) fn draws(&self) -> Draws {
        self.key.draws(self.seed)
    }

    /// True when these pieces satisfy the rules as one class.
    pub(crate) fn holds(&self, tally: &mut Tally, pieces: &[Piece]) -> bool {
        if !self.privacy.needs_sensitive() {
            return rows(pieces) >= self.privacy.k();
        }
        tally.clear();
        self.problem.count_into(tally, pieces);
        self.privacy.holds(tally)
    }

    /// The smallest box around pieces, on the task's attributes.
    pub(crate) fn ranges(&self, pieces: &[Piece]) -> Vec<CodeRange> {
        (0..self.attributes.len()).map(|at| self.range(at, pieces)).collect()
    }

    /// The range of pieces on one of the task's attributes.
    pub(crate) fn range(&self, at: usize, pieces: &[Piece]) -> CodeRange {
        let attribute = self.attributes[at];
        range_of(pieces.iter().map(|piece| self.problem.code(attribute, piece.tuple)))
    }

    /// The loss of all rows of these classes, on the task's attributes.
    pub(crate) fn loss(&self, penalty: &Penalty, partition: &Partition) -> f64 {
        let class = |at: usize| {
            let class = partition.class(at);
            (rows(class), penalty.of_box(&self.ranges(class)))
        };
        let classes: Vec<(u64, f64)> = (0..partition.len()).into_par_iter().map(class).collect();
        total_loss(classes)
    }

    /// A group that would need more rows than this merges instead: k rows, or a few more under
    /// rules on shares, where it could take hundreds, to be found out by trying.
    pub(crate) fn longest_transfer(&self) -> u64 {
        self.privacy.k().max(self.tuning.longest_transfer)
    }

    /// Moves the rows that add least loss from a block to an undersized one, until that satisfies
    /// the rules. False when the donor would break a rule then, when more rows than
    /// [`Task::longest_transfer`] would have to move, or when the budget is spent.
    pub(crate) fn transfer(
        &self,
        penalty: &Penalty,
        tally: &mut Tally,
        donor: &mut Block,
        undersized: &mut Block,
    ) -> bool {
        let k = self.privacy.k();
        let had = undersized.rows();
        let both = donor.rows() + had;
        let mut counted = 0;
        tally.clear();
        let is_moved = split::lend(penalty, donor, undersized, |undersized| {
            self.problem.count_into(tally, &undersized.pieces[counted..]);
            counted = undersized.pieces.len();
            let deficit = k.saturating_sub(tally.size());
            if deficit == 0 && self.privacy.holds(tally) {
                return Some(0);
            }
            let wanted = deficit.max(1);
            let is_too_much = tally.size() - had + wanted > self.longest_transfer();
            if self.budget.is_spent() || is_too_much {
                return None;
            }
            (both - tally.size() >= k + wanted).then_some(wanted)
        });
        is_moved && self.holds(tally, &donor.pieces)
    }

    /// Classes out of groups that satisfy the rules and of pieces that a search had no time for:
    /// these are taken in their order until they satisfy the rules, and the rest joins the class
    /// before, and that the one before, until all do.
    pub(crate) fn sweep(&self, mut holding: Vec<Vec<Piece>>, mut left: Vec<Piece>) -> Partition {
        left.sort_unstable();
        let mut tally = self.problem.tally();
        let mut open: Vec<Piece> = Vec::new();
        for piece in left {
            open.push(piece);
            self.problem.count_into(&mut tally, &[piece]);
            if self.privacy.holds(&tally) {
                holding.push(std::mem::take(&mut open));
                tally.clear();
            }
        }
        while !open.is_empty() && !self.holds(&mut tally, &open) {
            open.append(&mut holding.pop().expect("all pieces together satisfy the rules"));
        }
        let mut partition = Partition::default();
        for mut group in holding.into_iter().chain((!open.is_empty()).then_some(open)) {
            partition.push(joined(&mut group));
        }
        partition
    }
}

/// Which part of a small set is cut on first: this decides the order of the classes.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    First,
    Last,
}

/// Cuts a set and its parts until nothing can be cut: large ones level by level, then each small
/// one to its end, in parallel. `cut` returns the parts that may be cut further and adds those
/// that are done; each thread has a `scratch` of its own.
pub(crate) fn cut_to_the_end<S: Send, D: Send, T>(
    whole: S,
    next: Next,
    scratch: impl Fn() -> T + Sync,
    is_large: impl Fn(&S) -> bool,
    cut: impl Fn(S, &mut T, &mut Vec<D>) -> Vec<S> + Sync,
) -> Vec<D> {
    let (mut large, mut small, mut all) = (vec![whole], Vec::new(), Vec::new());
    while !large.is_empty() {
        let cut_once = |scratch: &mut T, set: S| {
            let mut done = Vec::new();
            (cut(set, scratch, &mut done), done)
        };
        let cuts: Vec<(Vec<S>, Vec<D>)> =
            large.into_par_iter().map_init(&scratch, cut_once).collect();
        large = Vec::new();
        for (parts, done) in cuts {
            all.extend(done);
            for part in parts {
                if is_large(&part) { large.push(part) } else { small.push(part) }
            }
        }
    }
    let cut_on = |scratch: &mut T, set: S| {
        let (mut open, mut done) = (vec![set], Vec::new());
        while let Some(set) = open.pop() {
            let parts = cut(set, scratch, &mut done);
            match next {
                Next::First => open.extend(parts.into_iter().rev()),
                Next::Last => open.extend(parts),
            }
        }
        done
    };
    let ends: Vec<Vec<D>> = small.into_par_iter().map_init(&scratch, cut_on).collect();
    all.extend(ends.into_iter().flatten());
    all
}

/// A prime number: multiples of it fall on all places of a list that it does not divide.
const STRIDE: usize = 7919;

/// The attributes, those first on which rows differ most: a sum of penalties can then stop early.
pub(crate) fn discriminating_first(
    problem: &Problem,
    attributes: &[usize],
    pieces: &[Piece],
    tuning: &Tuning,
) -> Vec<usize> {
    let penalty = Penalty::new(problem.attributes(), attributes);
    // Some pairs, far from each other in the order of the pieces and not all equally far.
    let pairs = || {
        let most = tuning.order_pairs;
        (0..pieces.len().min(most)).map(move |at| {
            (pieces[at * (pieces.len() / most).max(1)], pieces[at * STRIDE % pieces.len()])
        })
    };
    let differ = |at: usize| -> f64 {
        let code = |piece: Piece| CodeRange::one(problem.code(attributes[at], piece.tuple));
        pairs().map(|(one, other)| penalty.of(at, code(one).join(code(other)))).sum()
    };
    let mut order: Vec<(f64, usize)> =
        (0..attributes.len()).map(|at| (differ(at), attributes[at])).collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    order.into_iter().map(|(_, attribute)| attribute).collect()
}
